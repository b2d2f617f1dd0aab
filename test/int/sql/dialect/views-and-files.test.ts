import { describe, test } from '@jest/globals'
import { dialectService, expectAnswer, type Case } from '../../../support/dialect.js'
import { uploadRentals } from '../../../support/models/rentals.js'

const at = dialectService(async (url) => {
  await uploadRentals(url)
  await expectAnswer(url, ['CREATE PROJECT shop', 'ok'])
})

const columns = 'Field, Type, Null, Key, Default, Extra'

const views: Case[] = [
  ["CREATE VIEW `shop`.`Good` AS (SELECT * FROM files.rentals WHERE location = 'good')", 'ok'],
  ['CREATE VIEW shop.good AS (SELECT 1)', /View with name good already exists/],
  ['CREATE VIEW IF NOT EXISTS shop.good AS (SELECT 1)', 'ok'],
  ['CREATE OR REPLACE VIEW shop.good (SELECT sqft, location AS place FROM files.rentals WHERE location = "good")', 'ok'],
  ['SELECT * FROM shop.GOOD LIMIT 1', 'sqft, place', [[300, 'good']]],
  ['CREATE VIEW shop.small FROM files (SELECT sqft, count(*) FROM rentals GROUP BY sqft)', 'ok'],
  ['SELECT count_0 FROM shop.small WHERE sqft = 300', 'count_0', [[1]]],
  ['ALTER VIEW shop.small FROM files AS (SELECT avg(sqft), sqft > 0 FROM rentals GROUP BY ALL)', 'ok'],
  ['SELECT avg_0, "(sqft > 0)" FROM shop.small', 'avg_0, (sqft > 0)', [[1136.5, true]]],
  ['ALTER VIEW shop.nope AS (SELECT 1)', /View with name nope does not exist/],
  ['CREATE VIEW shop.bad AS (SELECT nope FROM files.rentals)', /nope/],
  ['CREATE VIEW shop.bad AS (DROP PROJECT shop)', /./],
  ['CREATE VIEW shop.own AS (SELECT name FROM views)', 'ok'],
  ['ALTER VIEW shop.own AS (SELECT name FROM shop.OWN)', /View shop\.own contains itself \(line 1, column 42\)/],
  ['CREATE OR REPLACE VIEW shop.own AS (SELECT 1 AS x WHERE EXISTS (FROM shop.own))', /View shop\.own contains itself/],
  ['CREATE VIEW shop.beyond AS (SELECT * FROM shop.own)', 'ok'],
  ['CREATE OR REPLACE VIEW shop.own AS (SELECT * FROM shop.beyond)', /View shop\.own contains itself/],
  ['DROP VIEW shop.beyond', 'ok'],
  [
    'SHOW VIEWS FROM shop',
    'NAME, PROJECT, QUERY',
    [
      ['Good', 'shop', 'SELECT sqft, location AS place FROM files.rentals WHERE location = "good"'],
      ['small', 'shop', 'SELECT * FROM files (SELECT avg(sqft), sqft > 0 FROM rentals GROUP BY ALL)'],
      ['own', 'shop', 'SELECT name FROM views'],
    ],
  ],
  ['SHOW VIEWS', 'NAME, PROJECT, QUERY', []],
  ['DESCRIBE VIEW shop.own', 'NAME, PROJECT, QUERY', [['own', 'shop', 'SELECT name FROM views']]],
  [
    'SHOW CREATE VIEW shop.own',
    'View, Create View, character_set_client, collation_connection',
    [['own', 'CREATE VIEW shop.own AS (SELECT name FROM views)', 'utf8', 'utf8_general_ci']],
  ],
  [
    'SHOW COLUMNS FROM shop.good',
    columns,
    [
      ['sqft', 'bigint', 'YES', null, null, null],
      ['place', 'varchar', 'YES', null, null, null],
    ],
  ],
  ['DESCRIBE shop.own', columns, [['NAME', 'varchar', 'YES', null, null, null]]],
  ["ALTER DATABASE shop NAME = 'depot'", 'ok'],
  ['SELECT count(*) FROM depot.own', 'count_0', [[3]]],
  ['CREATE PROJECT crm', 'ok'],
  ['CREATE VIEW depot.theirs FROM crm (SELECT name FROM views)', 'ok'],
  ['SELECT count(*) FROM depot.theirs', 'count_0', [[0]]],
  ["ALTER DATABASE crm NAME = 'crm2'", 'ok'],
  ['SELECT count(*) FROM depot.theirs', /there is no project or database crm/],
  ['DROP VIEW depot.theirs', 'ok'],
  ['DROP VIEW depot.GOOD', 'ok'],
  ['DROP VIEW depot.good', /View with name good does not exist/],
  ['DROP VIEW IF EXISTS depot.good, depot.own, nope.x', 'ok'],
  ['DROP MODEL `depot`.`small`', 'ok'],
  ['SHOW VIEWS FROM depot', 'NAME, PROJECT, QUERY', []],
]
describe('views', () => test.each(views)('%s', (...one) => expectAnswer(at.url, one)))

const files: Case[] = [
  [
    'SELECT * FROM files.RENTALS WHERE sqft = 300 AND location = "good" LIMIT 3',
    'sqft, location, rooms, rental_price',
    [[300, 'good', 0, 1200]],
  ],
  ['SELECT * FROM files (SELECT sqft FROM rentals ORDER BY sqft LIMIT 2)', 'sqft', [[300], [307]]],
  ['SELECT t.n FROM `files`\n(SELECT count(*) FROM rentals) AS t(n)', 'n', [[240]]],
  [
    'SELECT a.sqft, b.sqft FROM files (SELECT min(sqft) AS sqft FROM rentals) AS a JOIN files (SELECT max(sqft) AS sqft FROM rentals) AS b ON true',
    'sqft, sqft',
    [[300, 1973]],
  ],
  ['WITH rentals AS (SELECT 1 AS x) SELECT * FROM files (SELECT sqft FROM rentals LIMIT 1)', 'sqft', [[300]]],
  ["SELECT * FROM depot (SELECT name FROM skills WHERE name = 'none')", 'NAME', []],
  ["SELECT * FROM information_schema (SELECT TYPE FROM databases WHERE name = 'depot')", 'TYPE', [['project']]],
  ['SELECT * FROM log (SELECT min(position) AS first FROM events)', 'first', [[1]]],
  ['SELECT * FROM nope (SELECT 1)', /Database nope does not exist/],
  ['SHOW TABLES FROM files', 'Tables_in_files', [['rentals']]],
  ['SHOW FULL TABLES FROM files', 'Tables_in_files, Table_type', [['rentals', 'BASE TABLE']]],
  ["SHOW COLUMNS FROM rentals FROM files LIKE 'SQ%'", columns, [['sqft', 'bigint', 'YES', null, null, null]]],
  ["SHOW FIELDS FROM files.rentals WHERE Field = 'rooms'", columns, [['rooms', 'bigint', 'YES', null, null, null]]],
  ['SHOW FULL COLUMNS FROM files.rentals LIKE "rooms"', 'Field, Type, Collation, Null, Key, Default, Extra, Privileges, Comment'],
  ["SHOW COLUMNS FROM files.rentals LIKE 'none'", columns, []],
  ['SHOW COLUMNS FROM files.nope', /Table 'nope' not found in database: files/],
  ['DESCRIBE files.rentals', columns],
  [
    'SHOW CREATE TABLE files.rentals',
    'Table, Create Table',
    [['rentals', 'CREATE TABLE rentals (sqft bigint, location varchar, rooms bigint, rental_price bigint)']],
  ],
  ['SHOW CREATE TABLE files.nope', /Table 'nope' not found/],
  ['create or replace table files.least (SELECT * FROM files (SELECT min(sqft) AS sqft FROM rentals))', 'ok'],
  ['SELECT * FROM files.least', 'sqft', [[300]]],
  ['DROP TABLE files.least', 'ok'],
  ["SELECT * FROM files.rentals WHERE location = 'good' AND sqft > last", /LAST is not available.*CREATE JOB/s],
  ['DROP TABLE files.nope', /nope/],
  ['DROP TABLE IF EXISTS files.nope', 'ok'],
  ['DROP TABLE `files`.`rentals`', 'ok'],
  ['SHOW TABLES FROM files', 'Tables_in_files', []],
]
describe('files', () => test.each(files)('%s', (...one) => expectAnswer(at.url, one)))
