import { describe, expect, test } from '@jest/globals'
import { ask, dialectService, expectAnswer, type Case } from '../../../support/dialect.js'
import { uploadRentals } from '../../../support/models/rentals.js'

const at = dialectService(async (url) => {
  await uploadRentals(url)
  for (const statement of [
    'CREATE PROJECT Shop',
    "CREATE SKILL shop.`My Skill` USING type = 'sql'",
    'CREATE VIEW shop.skill_names AS (SELECT name, count(*) FROM skills GROUP BY name)',
  ])
    await expectAnswer(url, [statement, 'ok'])
})

const itemNames: Case[] = [
  ["SELECT 1, 1.5, NULL, TRUE, false, 'it''s', \"dq\", -1", "1, 1.5, NULL, True, False, it's, dq, -1"],
  ['SELECT count(*), avg(sqft), COUNT(*), count(sqft), max(sqft) AS m FROM files.rentals', 'count_0, avg_0, count_1, count_2, m'],
  ['SELECT location, count(*) AS n, avg(rental_price) FROM files.rentals GROUP BY location', 'location, n, avg_0'],
  ['SELECT row_number() OVER (), lower(location), lower(location) FROM files.rentals LIMIT 1', 'row_number_0, lower_0, lower_1'],
  ['SELECT `sqft` AS `Square Feet`, 1 AS a, 2 AS a FROM files.rentals LIMIT 1', 'Square Feet, a, a', [[300, 1, 2]]],
  ['SELECT sqft+1, sqft::VARCHAR, rentals.sqft FROM files.rentals LIMIT 1', '(sqft + 1), CAST(sqft AS VARCHAR), sqft'],
  ['SELECT (SELECT count(*) FROM shop.skills)', '(SELECT count_star() FROM shop.skills)', [[1]]],
  ['SELECT count_0 + 1 AS n FROM (SELECT count(*) FROM files.rentals)', 'n', [[241]]],
  ['SELECT t.COUNT_0 FROM (SELECT count(*) FROM files.rentals) AS t', 'count_0', [[240]]],
  ['WITH a AS (SELECT count(*), max(sqft) FROM files.rentals) SELECT max_0, count_0 FROM a', 'max_0, count_0', [[1973, 240]]],
  ['SELECT count_0 FROM shop.skill_names', 'count_0', [[1]]],
  ['SELECT "(sqft + 1)" FROM (SELECT sqft + 1 FROM files.rentals) ORDER BY 1 LIMIT 1', '(sqft + 1)', [[301]]],
  ['SELECT nAmE FROM shop.skills', 'NAME', [['My Skill']]],
]
describe('items without an alias', () => test.each(itemNames)('%s', (...one) => expectAnswer(at.url, one)))

const folded: Case[] = [
  ["SELECT name FROM SHOP.Skills WHERE name = 'MY SKILL'", 'NAME', [['My Skill']]],
  ["SELECT name FROM shop.skills WHERE name IN ('x', 'my SKILL')", 'NAME', [['My Skill']]],
  ["SELECT name FROM shop.skills WHERE name LIKE 'my%'", 'NAME', [['My Skill']]],
  ["SELECT name FROM shop.skills_history WHERE name = 'MY SKILL'", 'NAME', [['My Skill']]],
  ["SELECT name FROM information_schema.skills WHERE project = 'SHOP'", 'NAME', [['My Skill']]],
  ["SELECT name FROM shop.skill_names WHERE name = 'my skill'", 'NAME', [['My Skill']]],
  ["SELECT s.name FROM shop.skills AS s JOIN (SELECT 'MY skill' AS n) AS t ON s.name = t.n", 'NAME', [['My Skill']]],
  ['SELECT `name` FROM `shop`.`skills`', 'NAME', [['My Skill']]],
  ['UPDATE SKILL shop.`MY SKILL` SET a = 1', 'ok'],
]
describe('names are compared without case', () => test.each(folded)('%s', (...one) => expectAnswer(at.url, one)))

const quoted: Case[] = [
  ['SELECT "sqft" FROM files.rentals WHERE location = "good" AND `sqft` < 310', 'sqft', [[300]]],
  [
    String.raw`SELECT 'it\'s' AS a, 'it''s' AS b, "say \"x\"" AS c, 'back\\slash' AS d, '\d' AS e`,
    'a, b, c, d, e',
    [["it's", "it's", 'say "x"', 'back\\slash', '\\d']],
  ],
  ['SELECT 1 /* a; comment */ AS a -- and more\n;', 'a', [[1]]],
  ["CREATE SKILL shop.quoted USING Type = \"sql\", `A.b` = 1, `Key` = TRUE, n = NULL, l = [1, 'x'], o = {'Inner': false}, w = word", 'ok'],
  ["SELECT params FROM shop.skills WHERE name = 'quoted'", 'PARAMS', [['{"a.b":1,"key":true,"l":[1,"x"],"o":{"Inner":false},"w":"word"}']]],
  ['SELECT 1; SELECT 2', /only one statement is taken/],
  ['', /it is empty/],
]
describe('quotes, escapes and comments', () => test.each(quoted)('%s', (...one) => expectAnswer(at.url, one)))

const limited: Case[] = [
  ['SELECT sqft FROM files.rentals ORDER BY sqft LIMIT 1, 2', 'sqft', [[307], [314]]],
  ['SELECT a FROM (SELECT sqft AS a FROM files.rentals ORDER BY 1 LIMIT 0,3) ORDER BY a LIMIT 2,5', 'a', [[314]]],
  ['CREATE VIEW shop.page (SELECT sqft FROM files.rentals ORDER BY sqft LIMIT 1, 1)', 'ok'],
  ['SELECT sqft FROM shop.page', 'sqft', [[307]]],
]
describe('LIMIT offset, count', () => test.each(limited)('%s', (...one) => expectAnswer(at.url, one)))

const bound: [params: unknown, ...Case][] = [
  [{ loc: 'good', n: 2 }, 'SELECT sqft FROM files.rentals WHERE location = :loc LIMIT :n', 'sqft', [[300], [321]]],
  [['good', 2], 'SELECT sqft FROM files.rentals WHERE location = ? LIMIT ?', 'sqft', [[300], [321]]],
  [[1, 2], 'SELECT sqft FROM files.rentals ORDER BY sqft LIMIT ?, ?', 'sqft', [[307], [314]]],
  [{ t: 'sql', l: ['a'] }, 'CREATE SKILL shop.named USING type = :t, tables = :l', 'ok'],
  [['sql', { k: 1 }], 'CREATE SKILL shop.placed USING type = ?, data = ?', 'ok'],
  [['PLACED'], 'SHOW SKILLS FROM shop WHERE name = ?', 'NAME, PROJECT, TYPE, PARAMS', [['placed', 'Shop', 'sql', '{"data":{"k":1}}']]],
  [['plac%'], 'SHOW SKILLS FROM shop LIKE ?', 'NAME, PROJECT, TYPE, PARAMS', [['placed', 'Shop', 'sql', '{"data":{"k":1}}']]],
  [{ x: "'; DROP \\" }, 'CREATE VIEW shop.kept AS (SELECT :x AS x)', 'ok'],
  [undefined, 'SELECT x FROM shop.kept', 'x', [["'; DROP \\"]]],
  [{ p: -5, n: 1 }, 'CREATE VIEW shop.near AS (SELECT 100-:p\n AS b, -:p AS c, (:p) AS d LIMIT:n)', 'ok'],
  [undefined, 'SELECT * FROM shop.near', 'b, c, d', [[105, 5, -5]]],
  [undefined, 'SELECT :x', /Parameter is not set: x/],
  [{}, 'CREATE VIEW shop.unset AS (SELECT :x)', /Parameter is not set: x/],
  [['a'], 'CREATE SKILL shop.unset USING type = ?, b = ?', /Parameter is not set: 2/],
]
describe('parameters', () => test.each(bound)('%j in %s', (params, ...one) => expectAnswer(at.url, one, { params })))

describe('context.db', () => {
  test.each([
    ['Shop', 'SELECT name FROM skill_names WHERE name = "my skill"', 'NAME'],
    ['SHOP', "SHOW SKILLS LIKE 'my%'", 'NAME, PROJECT, TYPE, PARAMS'],
    ['files', 'SELECT sqft FROM RENTALS LIMIT 1', 'sqft'],
    ['log', 'SELECT position FROM events LIMIT 1', 'position'],
    ['information_schema', 'SELECT name FROM databases LIMIT 1', 'NAME'],
  ])('is where names are looked up: %s, %s', (db, ...one) => expectAnswer(at.url, one, { db }))

  test('a database that is not there is named', async () => {
    for (const statement of ['SELECT * FROM x', 'SHOW TABLES', 'SHOW MODELS'])
      expect(await ask(at.url, statement, { db: 'nope' })).toMatchObject({ type: 'error', error_message: expect.stringContaining('nope') })
    expect(await ask(at.url, 'SELECT 1', { db: 'nope' })).toMatchObject({ type: 'table' })
  })
})
