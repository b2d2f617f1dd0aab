import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { tmpdir } from 'node:os'
import { catalogue } from '../../../src/sql/relations/catalogue.js'
import type { TestLedger } from '../../support/log/ledger.js'
import { shopLedger } from '../../support/sql/shop.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.insert('predictions', {
    position: 30,
    recorded_at: '2026-01-01 00:30:00',
    actor: 'ada',
    source: 'rest',
    model: 'm-rent',
    version: 2,
    row: 0,
    input: { sqft: 1 },
    output: { value: 1 },
    readable: true,
  })
  await ledger.insert('prediction_receipts', {
    position: 30,
    recorded_at: '2026-01-01 00:30:00',
    actor: 'ada',
    source: 'rest',
    model: 'm-rent',
    version: 2,
    rows: 1,
    read_at: 29,
  })
  // Its columns are those of its last version, which answers while none is active.
  await ledger.history('models', { stream: 'm-unset', project: 'p-shop', name: 'unset', active: null, from: 28 })
  const untold = { stream: 'm-unset', engine: 'e', target: 'y', status: 'complete', options: {}, from: 28 }
  const reported = (input: string) => ({ inputs: [{ name: input, type: 'number' }], target: { name: 'y', type: 'number' } })
  await ledger.history('model_versions', { ...untold, version: 1, report: reported('before') })
  await ledger.history('model_versions', { ...untold, version: 2, report: reported('now') })
  await ledger.file('versions', 'SELECT 1 AS old', 15, 18)
  await ledger.history('projects', { stream: 'p-late', name: 'late', from: 16, to: 19 })
  const pinned = { stream: 'v-pinned', project: 'p-shop', name: 'pinned', database: 'shop' }
  await ledger.history('views', { ...pinned, query: 'SELECT count(*) AS n FROM log.events AT (VERSION => 5)', from: 17 })
  ledger.head = 40
  await ledger.lock()
})
afterAll(() => ledger.close())

const offered = [
  ...catalogue.information_schema.map((relation) => ['information_schema', relation] as const),
  ...catalogue.log.map((relation) => ['log', relation] as const),
  ...catalogue.project.map((relation) => ['shop', relation] as const),
]

describe('every relation', () => {
  test.each(offered.map(([schema, relation]) => [`${schema}.${relation.name}`, relation] as const))(
    '%s has the columns and types it promises',
    async (name, relation) => {
      const { names, types } = await ledger.select(`SELECT * FROM ${name}`)
      expect(names).toEqual(relation.columns.map((column) => column.name))
      expect(types).toEqual(relation.columns.map((column) => column.type))
      for (const { about } of relation.columns) expect(about).toMatch(/^\S.*\.$/)
    },
  )

  test.each(offered.map(([schema, relation]) => `${schema}.${relation.name}`))('%s can be read at every position', async (name) => {
    for (const position of [2, 3, 9, 17, 26, 40]) await ledger.select(`SELECT count(*) FROM ${name} AT (VERSION => ${position})`)
  })

  test.each(offered.map(([schema, relation]) => `${schema}.${relation.name}`))('%s shows no secret', async (name) => {
    expect((await ledger.select(`SELECT * FROM ${name}`)).text).not.toMatch(/\$secret|f00/)
  })

  test('is listed with its columns and comments', async () => {
    const { data } = await ledger.select(
      'SELECT table_schema, table_name, count(*), count(column_comment) FROM information_schema.columns GROUP BY 1, 2',
    )
    for (const [schema, relation] of offered)
      expect(data).toContainEqual([schema, relation.name, relation.columns.length, relation.columns.length])
  })
})

const recorded: [string, string[]][] = [
  ['skills', ['NAME', 'PROJECT', 'TYPE', 'PARAMS']],
  ['agents', ['NAME', 'PROJECT', 'MODEL_NAME', 'SKILLS', 'PARAMS']],
  ['chatbots', ['NAME', 'PROJECT', 'DATABASE', 'MODEL_NAME', 'PARAMS', 'IS_RUNNING', 'LAST_ERROR', 'WEBHOOK_TOKEN']],
  [
    'models',
    [
      'NAME',
      'ENGINE',
      'PROJECT',
      'ACTIVE',
      'VERSION',
      'STATUS',
      'ACCURACY',
      'PREDICT',
      'UPDATE_STATUS',
      'MINDSDB_VERSION',
      'ERROR',
      'SELECT_DATA_QUERY',
      'TRAINING_OPTIONS',
      'CURRENT_TRAINING_PHASE',
      'TOTAL_TRAINING_PHASES',
      'TRAINING_PHASE_NAME',
      'TAG',
      'CREATED_AT',
      'TRAINING_TIME',
    ],
  ],
  ['views', ['NAME', 'PROJECT', 'QUERY']],
]
test.each(recorded)('%s has the recorded columns in both places', async (name, columns) => {
  expect((await ledger.select(`SELECT * FROM shop.${name}`)).names).toEqual(columns)
  expect((await ledger.select(`SELECT * FROM information_schema.${name}`)).names).toEqual(columns)
})

test('the history of versions does not say which was active: an activation makes no row of a version', async () => {
  const { names } = await ledger.select('SELECT * FROM models_history')
  expect(names).not.toContain('ACTIVE')
  expect((await ledger.select(`SELECT active_version, valid_from FROM model_activations_history WHERE name = 'rent'`)).data).toEqual([
    [1, 20],
    [2, 25],
  ])
})

describe('answers', () => {
  const cases: [string, unknown[][]][] = [
    ['SELECT * FROM shop.skills', [['Sales_Skill', 'shop', 'sql', '{"database":"e"}']]],
    [`SELECT name FROM SKILLS WHERE NAME = 'SALES_skill'`, [['Sales_Skill']]],
    [`SELECT name FROM information_schema.skills WHERE project IN ('SHOP')`, [['Sales_Skill']]],
    ['SELECT name FROM information_schema.skills ORDER BY name', [['other'], ['Sales_Skill']]],
    ['SELECT Name, S.type FROM Shop.Skills AS s', [['Sales_Skill', 'sql']]],
    ['SELECT shop.skills.name FROM shop.skills WHERE shop.skills.type = "sql"', [['Sales_Skill']]],
    ['SELECT skills FROM agents', [[['Sales_Skill']]]],
    ['SELECT model_name, database FROM chatbots', [['gpt-4o', 'slack_db']]],
    [`SELECT version, active FROM models WHERE name = 'rent' AND active = '1'`, [[2, true]]],
    [
      `SELECT name, type FROM information_schema.databases ORDER BY 2, 1`,
      [
        ['files', 'data'],
        ['slack_db', 'data'],
        ['mindsdb', 'project'],
        ['shop', 'project'],
        ['information_schema', 'system'],
        ['log', 'system'],
      ],
    ],
    [`SELECT connection_data FROM information_schema.databases WHERE name = 'slack_db'`, [['{"token":"******","team":"x"}']]],
    [
      `SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'shop' AND table_type <> 'SYSTEM VIEW' ORDER BY 2, 1 LIMIT 4`,
      [
        ['helper', 'AGENT'],
        ['models', 'BASE TABLE'],
        ['bad', 'MODEL'],
        ['rent', 'MODEL'],
      ],
    ],
    [
      `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'RENTALS'`,
      [
        ['sqft', 'bigint'],
        ['location', 'varchar'],
        ['rooms', 'bigint'],
        ['rental_price', 'bigint'],
      ],
    ],
    [
      `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'unset' ORDER BY ordinal_position LIMIT 2`,
      [
        ['now', 'double'],
        ['y', 'double'],
      ],
    ],
    [`SELECT count(*) FROM information_schema.columns WHERE table_name = 'bad'`, [[0]]],
    [
      'SELECT name, valid_from, valid_to FROM skills_history',
      [
        ['sales_skill', 4, 10],
        ['Sales_Skill', 10, null],
      ],
    ],
    ['SELECT name, valid_to FROM skills_history AT (VERSION => 9)', [['sales_skill', null]]],
    // The id is that of the model, not of its version.
    [
      `SELECT version, id FROM models_history WHERE name = 'rent' ORDER BY 1`,
      [
        [1, 20],
        [2, 20],
      ],
    ],
    ['SELECT count(*) FROM good_ones', [[20]]],
    ['SELECT * FROM v2', [[20]]],
    ['SELECT g.sqft FROM good_ones AS g JOIN v2 ON true LIMIT 1', [[300]]],
    ['SELECT project, model, version, input FROM log.predictions', [['shop', 'rent', 2, '{"sqft":1}']]],
    ['SELECT max(position) FROM log.events', [[40]]],
    ['WITH skills AS (SELECT 7 AS n) SELECT * FROM skills', [[7]]],
    ['WITH skills AS (SELECT count(*) AS n FROM skills) SELECT n FROM skills', [[1]]],
    ['WITH a AS (WITH skills AS (SELECT 1 AS n) SELECT * FROM skills) SELECT a.n, (SELECT count(*) FROM skills) AS m FROM a', [[1, 1]]],
  ]
  test.each(cases)('%s', async (sql, data) => expect((await ledger.select(sql)).data).toEqual(data))
})

describe('the past', () => {
  const cases: [string, unknown[][]][] = [
    ['SELECT name, type FROM shop.skills AT (VERSION => 5)', [['sales_skill', 'text2sql']]],
    [`SELECT name FROM shop.skills AT (TIMESTAMP => '2026-01-01 00:09:59')`, [['sales_skill']]],
    [`SELECT name FROM shop.skills AT (TIMESTAMP => TIMESTAMP '2026-01-01 00:10:00')`, [['Sales_Skill']]],
    [`SELECT name FROM shop.skills AT (TIMESTAMP => '2026-01-01'::DATE + INTERVAL 9 MINUTES)`, [['sales_skill']]],
    ['SELECT a.name, b.name FROM skills AS a AT (VERSION => 5) JOIN skills AS b ON true', [['sales_skill', 'Sales_Skill']]],
    ['SELECT skills FROM agents AT (VERSION => 6)', [[['sales_skill']]]],
    ['SELECT * FROM files.versions AT (VERSION => 16)', [[1]]],
    ['SELECT count(*) FROM v2 AT (VERSION => 12)', [[1]]],
    ['SELECT count(*) FROM late.skills AT (VERSION => 17)', [[0]]],
    ['SELECT max(position) FROM log.events AT (VERSION => 12)', [[12]]],
    [`SELECT max(position) FROM log.events AT (TIMESTAMP => '2026-01-01 01:05:00+01:00')`, [[5]]],
    [
      `SELECT max(position) FROM log.events AT (TIMESTAMP => '2026-01-01 00:05:00 America/New_York'::TIMESTAMPTZ - INTERVAL 5 HOURS)`,
      [[5]],
    ],
    [`SELECT max(position) FROM log.events AT (TIMESTAMP => TIMESTAMPTZ '2025-12-31 22:05:59-02')`, [[5]]],
    [`SELECT max(position) FROM log.events AT (TIMESTAMP => DATE '2026-01-02')`, [[40]]],
    ['SELECT max(position) FROM log.events AT (TIMESTAMP => now())', [[40]]],
    ['SELECT max(position) FROM log.events AT (TIMESTAMP => now() - INTERVAL 1 HOUR)', [[40]]],
    [`SELECT max(position) FROM log.events AT (VERSION => 6 * 2)`, [[12]]],
    [`SELECT max(position) FROM log.events AT (VERSION => '12')`, [[12]]],
    [`SELECT max(position) FROM log.events AT (VERSION => 12.0)`, [[12]]],
    ['SELECT a.name, b.name FROM skills AT (VERSION => 5) AS a JOIN skills b ON true', [['sales_skill', 'Sales_Skill']]],
    ['SELECT count(*) FROM information_schema.tables AT (VERSION => 5) WHERE table_type = "VIEW"', [[0]]],
    ['SELECT n FROM shop.pinned AT (VERSION => 18)', [[5]]],
    ['SELECT count(*) FROM pinned', [[1]]],
  ]
  test.each(cases)('%s', async (sql, data) => expect((await ledger.select(sql)).data).toEqual(data))

  test('parameters inside AT', async () => {
    const params = { n: 5, t: '2026-01-01 00:05:30', 1: 5 }
    for (const at of ['VERSION => :n', 'VERSION => ?', 'TIMESTAMP => :t', `TIMESTAMP => $t::TIMESTAMP + INTERVAL 10 SECONDS`])
      expect((await ledger.select(`SELECT name FROM skills AT (${at})`, { params })).data).toEqual([['sales_skill']])
    await expect(ledger.select('SELECT name FROM skills AT (VERSION => :n)', { params: { n: null } })).rejects.toMatchObject({
      detail: expect.stringMatching(/AT needs a value/),
    })
  })

  const refused: [string, RegExp][] = [
    ['SELECT * FROM skills AT (VERSION => 41)', /beyond the head/],
    ['SELECT * FROM skills AT (VERSION => 0)', /before the start/],
    [`SELECT * FROM skills AT (TIMESTAMP => '2025-12-31')`, /before the start/],
    [`SELECT * FROM skills AT (TIMESTAMP => '2999-01-01')`, /in the future/],
    [`SELECT * FROM skills AT (VERSION => 'x')`, /x/],
    [`SELECT * FROM skills AT (NOW => 1)`, /NOW/i],
    ['WITH a AS (SELECT 1) SELECT * FROM a AT (VERSION => 5)', /which WITH defines/],
    ['SELECT * FROM late.skills', /no project or database late/],
    [
      'SELECT * FROM good_ones AT (VERSION => 5)',
      /'good_ones' not found.*at position 5; it is there since position 11 \(2026-01-01 00:11:00 UTC\)/,
    ],
    [
      'SELECT * FROM late.skills AT (VERSION => 15)',
      /no project or database late at position 15; it was there from position 16 .* until position 19/,
    ],
    ['SELECT * FROM late.skills AT (VERSION => 19)', /it was there until position 19 \(2026-01-01 00:19:00 UTC\)/],
    ['SELECT * FROM files.versions AT (VERSION => 9)', /it was there from position 15 .* until position 18/],
    ['SELECT * FROM rent AT (VERSION => 3) WHERE sqft = 1', /'rent' not found.*it is there since position 20/],
    ['SELECT * FROM rent.2 AT (VERSION => 22) WHERE sqft = 1', /rent.2 at position 22: it is there since position 25/],
    ['SELECT * FROM skills AT (VERSION => -1)', /AT \(VERSION => -1\) is before the start/],
    ['SELECT * FROM skills AT (VERSION => 1.5)', /AT \(VERSION => 1.5\) is no position: it must be a whole number/],
    ['SELECT * FROM skills AT (VERSION => true)', /AT \(VERSION => true\) is no position: it is a BOOLEAN/],
    ['SELECT * FROM skills AT (VERSION => 1e30)', /is no position/],
    ['SELECT * FROM skills AT (VERSION => NULL)', /AT needs a value/],
    ['SELECT * FROM skills AT (TIMESTAMP => 5)', /AT \(TIMESTAMP => 5\) is no time/],
    [`SELECT * FROM skills AT (TIMESTAMP => 'soon')`, /AT \(TIMESTAMP => soon\) is no time/],
    [`SELECT * FROM skills AT (TIMESTAMP => 'infinity'::TIMESTAMP)`, /is no time/],
    ['SELECT * FROM skills AT (VERSION => (SELECT 1))', /takes a constant/],
    ['SELECT * FROM skills AT (VERSION => name)', /takes a constant/],
    ['SELECT * FROM range(5) AT (VERSION => 5)', /AT needs the name of a table.*line 1, column 24/],
    ['SELECT * FROM (SELECT * FROM skills) AS s AT (VERSION => 5)', /AT needs the name of a table/],
    ['SELECT * FROM (SELECT * FROM skills) AT (VERSION => 5) AS s', /AT needs the name of a table/],
  ]
  test.each(refused)('%s is refused', async (sql, detail) => {
    await expect(ledger.select(sql)).rejects.toMatchObject({ detail: expect.stringMatching(detail) })
  })

  test('a request can ask for it as a whole, and an inner AT wins', async () => {
    expect((await ledger.select('SELECT name FROM skills', { asOf: 5 })).data).toEqual([['sales_skill']])
    expect((await ledger.select('SELECT name FROM skills', { asOf: '2026-01-01 00:05:30' })).data).toEqual([['sales_skill']])
    expect((await ledger.select('SELECT name FROM skills AT (VERSION => 20)', { asOf: 5 })).data).toEqual([['Sales_Skill']])
    await expect(ledger.select('SELECT 1', { asOf: 99 })).rejects.toMatchObject({ code: 'bad_statement' })
  })

  test('a query sees no more than the position it was sent with', async () => {
    expect((await ledger.select('SELECT name FROM skills', { upTo: 6 })).data).toEqual([['sales_skill']])
    expect((await ledger.select('SELECT max(position) FROM log.events', { upTo: 6 })).data).toEqual([[6]])
  })
})

describe('names', () => {
  const cases: [string, string[]][] = [
    [`SELECT 1, 1.5, NULL, TRUE, 'it''s', "dq"`, ['1', '1.5', 'NULL', 'True', "it's", 'dq']],
    ['SELECT count(*), avg(sqft), count(*), max(sqft) AS m FROM files.rentals', ['count_0', 'avg_0', 'count_1', 'm']],
    [
      'SELECT sqft + 1, upper(location), `sqft` AS `Square Feet`, 1 AS a, 2 AS a FROM files.rentals',
      ['(sqft + 1)', 'upper_0', 'Square Feet', 'a', 'a'],
    ],
    ['SELECT database(), version(), @@version_comment', ['database', 'version', '(Mindledger)']],
    ['SELECT * FROM (SELECT count(*), sqft // 100 FROM files.rentals GROUP BY 2)', ['count_0', '(sqft // 100)']],
    [
      'SELECT (SELECT max(sqft) FROM files.rentals), sqft::INT, [1, 2], row_number() OVER () FROM files.rentals',
      ['(SELECT max(sqft) FROM files.rentals)', 'CAST(sqft AS INTEGER)', 'main.list_value(1, 2)', 'row_number_0'],
    ],
    ['SELECT name, version FROM shop.models', ['NAME', 'VERSION']],
    ['SELECT a IS DISTINCT FROM 1, b FROM (SELECT 1 AS a, 2 AS b)', ['(a IS DISTINCT FROM 1)', 'b']],
  ]
  test.each(cases)('%s', async (sql, names) => expect((await ledger.select(sql)).names).toEqual(names))
})

describe('parameters', () => {
  test('are values, never text of the statement', async () => {
    const params = { a: `'; DROP TABLE x; --`, n: 2, list: ['1', 'x'], none: null, yes: true }
    expect((await ledger.select('SELECT :a AS a, :n + 1 AS n, :list[1] AS l, :none AS z, $yes AS y', { params })).data).toEqual([
      [`'; DROP TABLE x; --`, 3, '1', null, true],
    ])
    expect((await ledger.select('SELECT ? AS a, ? AS b', { params: { 1: 'x', 2: 5 } })).data).toEqual([['x', 5]])
  })
})

describe('errors', () => {
  const cases: [string, string, RegExp, RegExp | undefined][] = [
    ['SELECT nope FROM files.rentals', 'bad_statement', /"nope" not found.*line 1, column 8/, /rental_price/],
    ['SELECT\n  sqft,\n  nope + 1\nFROM files.rentals', 'bad_statement', /line 3, column 3/, undefined],
    ['SELECT * FROM shop.skils', 'not_found', /Table 'skils' not found in database: shop/, /shop\.skills/],
    ['SELECT * FROM shp.skills', 'not_found', /no project or database shp/, /shop\.skills/],
    ['SELECT * FROM rentals', 'not_found', /Table 'rentals' not found/, undefined],
    ['SELECT * FROM slack_db.messages', 'refused_statement', /slack_db is a connection/, /file/],
    ['SELECT sume(sqft) FROM files.rentals', 'bad_statement', /no function sume/, /sum/],
    ['SELECT sum(location) FROM files.rentals', 'bad_statement', /sum\(VARCHAR\)/, undefined],
    [`SELECT CAST('abc' AS INTEGER)`, 'query_failed', /'abc'.*column 13/, undefined],
    ['SELECT sqft FROM files.rentals GROUP BY location', 'bad_statement', /must appear in the GROUP BY/, undefined],
    ['SELEC 1', 'bad_statement', /cannot be parsed.*line 1, column 1/, undefined],
    ['SELECT 1 FROM', 'bad_statement', /cannot be parsed/, undefined],
    ['SELECT * FROM loop_a', 'query_failed', /contains itself/, undefined],
    ['SELECT location * 2 FROM good_ones', 'bad_statement', /\*/, undefined],
  ]
  test.each(cases)('%s', async (sql, code, detail, hint) => {
    const refused = ledger.select(sql)
    await expect(refused).rejects.toMatchObject({ code, detail: expect.stringMatching(new RegExp(detail, 's')) })
    if (hint) await expect(refused).rejects.toMatchObject({ extras: { hint: expect.stringMatching(hint) } })
    await expect(refused).rejects.not.toMatchObject({ detail: expect.stringMatching(/ledger|LINE \d/) })
    await expect(refused).rejects.not.toMatchObject({ detail: expect.stringContaining(tmpdir()) })
  })
})

test('a training learns which data in its rows may be erased: contents, also behind views, and records of the log', async () => {
  const erasableIn = async (sql: string) => {
    for await (const frame of ledger.frames(sql, { purpose: 'training' })) if ('columns' in frame) return frame.erasable
    return undefined
  }
  const content = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(await erasableIn('SELECT 1 AS one')).toEqual({ contents: [], records: false })
  expect(await erasableIn('SELECT * FROM v2')).toEqual({ contents: [content], records: false })
  expect(await erasableIn('SELECT r.sqft, p.input FROM files.rentals AS r, (SELECT input FROM log.predictions) AS p')).toEqual({
    contents: [content],
    records: true,
  })
})
