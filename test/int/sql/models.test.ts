import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { fakeArtefact } from '../../support/models/fake-model.js'
import { modelFunctions } from '../../../src/sql/engine/scoring/functions.js'
import type { TestLedger } from '../../support/log/ledger.js'
import { shopLedger } from '../../support/sql/shop.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.file('dup', `SELECT 900 AS SQFT, 'good' AS place, 2 AS n UNION ALL SELECT 800, 'great', NULL`)
  await ledger.file('words', `SELECT 'many' AS sqft`)
  await ledger.file('regions', `SELECT * FROM (VALUES ('good', 'A'), ('great', 'B'), ('poor', 'C')) AS v(location, grade)`)
  const inputs = [{ name: 'a', type: 'number' as const, weight: 1 }]
  await ledger.file('big', 'SELECT i AS a, i % 10 AS g FROM range(60000) AS t(i)')
  await ledger.history('models', { stream: 'm-big', project: 'p-shop', name: 'wide', active: 1, from: 28 })
  const artefact = await ledger.blob(fakeArtefact({ target: 'y', inputs }))
  await ledger.history('model_versions', {
    stream: 'm-big',
    version: 1,
    engine: 'e',
    target: 'y',
    status: 'complete',
    artefact,
    options: {},
    from: 28,
  })
  ledger.head = 40
  await ledger.lock()
})
afterAll(() => ledger.close())

const outputs = [
  'rental_price',
  'select_data_query',
  'when_data',
  'rental_price_original',
  'rental_price_confidence',
  'rental_price_explain',
  'rental_price_anomaly',
  'rental_price_min',
  'rental_price_max',
]
const columns = ['sqft', 'location', 'rooms', ...outputs]
const explain = (value: number, truth: number | null, anomaly: boolean | null) =>
  `{"predicted_value": ${value}, "confidence": 0.9, "anomaly": ${anomaly}, "truth": ${truth}, "confidence_lower_bound": ${value - 10}, "confidence_upper_bound": ${value + 10}}`

describe('rows given in WHERE', () => {
  test('give one row with the recorded columns, and what has to be recorded', async () => {
    const { names, data, served, end } = await ledger.select(`SELECT * FROM shop.rent WHERE sqft = 900 AND location = 'good'`)
    expect(names).toEqual(columns)
    expect(data).toEqual([[900, 'good', null, 1000, null, null, null, 0.9, explain(1000, null, null), null, 990, 1010]])
    expect(served).toEqual([
      {
        model: 'm-rent',
        version: 2,
        rows: [{ input: { sqft: 900, location: 'good' }, output: { value: 1000, confidence: 0.9, min: 990, max: 1010 } }],
      },
    ])
    expect(end?.scored).toEqual([])
  })

  const rows: [string, unknown[][]][] = [
    [`SELECT rental_price FROM shop.rent.1 WHERE sqft = 900`, [[3600]]],
    ['SELECT rental_price FROM `shop`.`rent`.`1` WHERE sqft = 900', [[3600]]],
    [`SELECT rental_price FROM rent.1 WHERE sqft = 900`, [[3600]]],
    [`SELECT rental_price FROM RENT WHERE SQFT = 900`, [[900]]],
    [`SELECT rental_price FROM rent WHERE location = "good" AND sqft = 1`, [[101]]],
    [`SELECT rental_price FROM rent WHERE '900' = sqft`, [[900]]],
    [`SELECT rental_price FROM rent WHERE sqft = -900.5`, [[-900.5]]],
    [`SELECT rental_price FROM rent AS m WHERE m.sqft = 3 * 300`, [[900]]],
    [
      `SELECT sqft, rental_price FROM rent WHERE sqft IN (1, 2) AND location = 'poor' ORDER BY rental_price DESC`,
      [
        [2, 2],
        [1, 1],
      ],
    ],
    [
      `SELECT sqft, location, rental_price FROM rent WHERE sqft = 1 OR (sqft = 2 AND location = 'great') ORDER BY 1`,
      [
        [1, null, 1],
        [2, 'great', 202],
      ],
    ],
    [`SELECT rental_price FROM rent WHERE (sqft = 1 OR sqft = 2) AND rental_price > 1`, [[2]]],
    [`SELECT rental_price + 1 AS p FROM rent WHERE sqft = 1`, [[2]]],
    [
      `SELECT sqft, location, rental_price FROM rent WHERE (sqft, location) IN ((1, 'good'), (2, 'great')) ORDER BY 1`,
      [
        [1, 'good', 101],
        [2, 'great', 202],
      ],
    ],
    [`SELECT rental_price FROM rent WHERE (sqft, location) = (3, 'good') AND rental_price > 100`, [[103]]],
    [`SELECT sqft, rental_price FROM rent WHERE sqft = (SELECT max(sqft) FROM files.rentals)`, [[359, 359]]],
    [`WITH w AS (SELECT 5 AS n) SELECT rental_price FROM rent WHERE sqft = (SELECT n FROM w) + 1 AND location = (SELECT 'good')`, [[106]]],
    [`SELECT rental_price FROM rent WHERE sqft = 1 AND rooms = (SELECT rooms FROM files.rentals WHERE false)`, [[1]]],
    [`SELECT rental_price FROM rent WHERE sqft = (SELECT m.rental_price FROM rent AS m WHERE m.sqft = 4)`, [[4]]],
    [`SELECT rental_price FROM rent WHERE sqft IN ((SELECT 1), 2) ORDER BY 1`, [[1], [2]]],
    [`SELECT max(rental_price) AS m FROM rent WHERE sqft IN (1, 5, 3)`, [[5]]],
    [`SELECT * EXCLUDE (rental_price_explain, rooms, location) FROM rent WHERE sqft = 1`, [[1, 1, null, null, null, 0.9, null, -9, 11]]],
    [`SELECT rental_price FROM rent WHERE sqft = 1 LIMIT 1 USING partition_size = 10`, [[1]]],
    [`SELECT rental_price FROM rent AT (VERSION => 22) WHERE sqft = 900`, [[3600]]],
    [`SELECT rental_price FROM rent AT (TIMESTAMP => '2026-01-01 00:24:30') WHERE sqft = 900`, [[3600]]],
    ['SELECT m.rental_price FROM (SELECT 900 AS sqft) AS t JOIN rent AT (VERSION => 22) AS m', [[3600]]],
    ['SELECT m.rental_price FROM (SELECT 900 AS sqft) AS t JOIN rent AS m AT (VERSION => 22) WHERE m.rental_price > 0', [[3600]]],
    [
      'SELECT a.rental_price, b.rental_price FROM (SELECT 900 AS sqft) AS t JOIN rent AS a AT (VERSION => 22) JOIN rent AS b',
      [[3600, 900]],
    ],
    [`SELECT (SELECT rental_price FROM rent WHERE sqft = 7) AS p`, [[7]]],
    [`SELECT tier, tier_confidence, tier_min FROM tier WHERE sqft = -1`, [['low', 0.75, null]]],
    [`SELECT json_extract(tier_explain, '$."probability_class_hi''gh"')::DOUBLE AS p FROM tier WHERE sqft = 1`, [[0.75]]],
  ]
  test.each(rows)('%s', async (sql, data) => expect((await ledger.select(sql)).data).toEqual(data))

  test('what a query in WHERE gives is what is recorded', async () => {
    const { served } = await ledger.select('SELECT rental_price FROM rent WHERE sqft = (SELECT min(sqft) FROM files.rentals)')
    expect(served?.[0]?.rows.map(({ input }) => input)).toEqual([{ sqft: 300 }])
  })

  const refused: [string, RegExp][] = [
    ['SELECT * FROM shop.rent', /WHERE clause required/],
    ['SELECT * FROM shop.rent WHERE sqft > 5', /WHERE gives no input of the model shop\.rent: inputs are given with =, IN and IS NULL/],
    ['SELECT * FROM shop.rent WHERE nope = 5', /has no column nope/],
    ['SELECT * FROM shop.rent WHERE sqft = 5 AND sqft = 6', /given twice/],
    ['SELECT * FROM shop.rent WHERE (sqft, sqft) = (5, 6)', /given twice/],
    ['SELECT * FROM shop.rent WHERE (sqft, nope) IN ((5, 6))', /has no column nope/],
    ['SELECT * FROM shop.rent WHERE sqft = 5 AND rooms > 2', /Input rooms of model shop\.rent is compared, and nothing gives it a value/],
    ['SELECT * FROM shop.rent WHERE sqft = 5 OR rental_price > 2', /OR joins conditions on inputs of shop\.rent with others/],
    ['SELECT * FROM shop.rent WHERE sqft = (SELECT nope FROM files.rentals)', /nope/],
    ['SELECT * FROM shop.rent.7 WHERE sqft = 5', /Model not found: shop\.rent\.7/],
    ['SELECT * FROM shop.bad WHERE x = 5', /not ready.*error.*no rows/],
    ['SELECT * FROM shop.rent AT (VERSION => 10) WHERE sqft = 5', /not found/],
    [`SELECT * FROM rent WHERE sqft = 'many'`, /many/],
    ['SELECT nope FROM rent WHERE sqft = 5', /nope/],
    ['SELECT * FROM rent, tier WHERE sqft = 5', /without a table/],
  ]
  test.each(refused)('%s is refused', async (sql, detail) => {
    await expect(ledger.select(sql)).rejects.toMatchObject({ detail: expect.stringMatching(detail) })
  })
})

describe('a model joined to a table', () => {
  test('shows the table and the model under *', async () => {
    const { names, data, end } = await ledger.select('SELECT * FROM files.rentals AS t JOIN shop.rent AS m LIMIT 1')
    expect(names).toEqual(['sqft', 'location', 'rooms', 'rental_price', ...columns])
    expect(data).toEqual([[300, 'good', 0, 1600, 300, 'good', 0, 400, null, null, 1600, 0.9, explain(400, 1600, true), true, 390, 410]])
    expect(end?.scored).toEqual([{ model: 'm-rent', version: 2, rows: 1 }])
  })

  const same = [
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t JOIN shop.rent AS m',
    'SELECT t.sqft, m.rental_price FROM shop.rent AS m JOIN files.rentals AS t',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t JOIN shop.rent AS m ON t.sqft = m.sqft',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t JOIN shop.rent AS m ON TRUE',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t, shop.rent AS m',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t CROSS JOIN shop.rent AS m',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t LEFT JOIN shop.rent AS m',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t JOIN shop.rent AS m USING (sqft)',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t JOIN shop.rent.2 AS m',
    'SELECT rentals.sqft, rent.rental_price FROM files.rentals JOIN shop.rent',
    'SELECT sqft, m.rental_price FROM (SELECT * FROM files.rentals) AS t JOIN rent m',
    'WITH t AS (SELECT * FROM files.rentals) SELECT t.sqft, m.rental_price FROM t JOIN rent m',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t JOIN files.regions AS r USING (location) JOIN rent AS m',
    'SELECT t.sqft, m.rental_price FROM files.rentals AS t JOIN rent AS m JOIN files.regions AS r ON r.location = t.location',
    'SELECT * FROM (SELECT t.sqft, m.rental_price FROM files.rentals AS t JOIN rent AS m)',
  ]
  test.each(same)('%s', async (sql) => {
    const { names, data, end } = await ledger.select(`${sql} ORDER BY sqft`.replace('ORDER BY sqft', 'ORDER BY 1'))
    expect(names).toEqual(['sqft', 'rental_price'])
    expect(data).toHaveLength(60)
    expect(data.slice(0, 3)).toEqual([
      [300, 400],
      [301, 502],
      [302, 304],
    ])
    expect(end?.scored).toEqual([{ model: 'm-rent', version: 2, rows: 60 }])
  })

  const rows: [string, unknown[][]][] = [
    [`SELECT m.rental_price FROM files.rentals t JOIN rent m WHERE t.sqft = 300`, [[400]]],
    [
      `SELECT m.location, m.rental_price FROM files.dup d JOIN rent m ON d.place = m.location ORDER BY 2`,
      [
        ['good', 1000],
        ['great', 1000],
      ],
    ],
    [`SELECT m.rental_price FROM files.dup d JOIN rent m ON m.location = d.place AND d.n = m.rooms WHERE d.n = 2`, [[1002]]],
    [`SELECT m.rental_price FROM files.dup d JOIN rent m WHERE m.location = 'great' ORDER BY 1`, [[1000], [1100]]],
    [`SELECT count(*) AS n FROM files.rentals t JOIN rent m WHERE m.rental_price > 500`, [[20]]],
    [`SELECT count(*) AS n FROM files.rentals t JOIN rent m ON m.rental_price > 500`, [[20]]],
    [
      `SELECT t.location, round(avg(m.rental_price)) AS p FROM files.rentals t JOIN rent m GROUP BY t.location HAVING avg(m.rental_price) > 400 ORDER BY 1`,
      [
        ['good', 430],
        ['great', 531],
      ],
    ],
    [`SELECT t.sqft FROM files.rentals t JOIN rent m ORDER BY m.rental_price DESC, t.sqft LIMIT 2`, [[358], [355]]],
    [`SELECT t.sqft, row_number() OVER (ORDER BY m.rental_price DESC) AS r FROM files.rentals t JOIN rent m QUALIFY r = 1`, [[358, 1]]],
    [`SELECT a.rental_price, b.rental_price FROM files.rentals t JOIN rent.1 a JOIN rent.2 b WHERE t.sqft = 300`, [[1300, 400]]],
    [
      `SELECT m.rental_price, r.grade FROM files.rentals t JOIN rent m JOIN files.regions r ON r.location = t.location WHERE r.grade = 'B' AND t.sqft < 305 ORDER BY 1`,
      [
        [502, 'B'],
        [504, 'B'],
      ],
    ],
    [`SELECT m.tier, count(*) AS n FROM files.rentals t JOIN tier m GROUP BY 1`, [["hi'gh", 60]]],
    [
      `SELECT t.sqft FROM files.rentals t WHERE t.sqft < 303 AND (SELECT max(m.rental_price) FROM files.rentals u JOIN rent m WHERE u.sqft = t.sqft) > 450`,
      [[301]],
    ],
    [`SELECT m.rental_price FROM good_ones t JOIN rent m LIMIT 1`, [[400]]],
    [`SELECT count(DISTINCT m.rental_price_anomaly) AS n FROM files.rentals t JOIN rent m`, [[1]]],
  ]
  test.each(rows)('%s', async (sql, data) => expect((await ledger.select(sql)).data).toEqual(data))

  const refused: [string, RegExp][] = [
    ['SELECT m.nope FROM files.rentals t JOIN rent m', /no column nope/],
    ['SELECT * FROM files.regions r JOIN tier m', /has one of its inputs \(sqft\)/],
    ['SELECT * FROM files.rentals t FULL JOIN rent m ON true', /FULL JOIN|OUTER JOIN/],
    ['SELECT * FROM files.rentals t JOIN rent t', /called t/],
    ['SELECT m.rental_price FROM files.words t JOIN rent m', /many/],
  ]
  test.each(refused)('%s is refused', async (sql, detail) => {
    await expect(ledger.select(sql)).rejects.toMatchObject({ detail: expect.stringMatching(detail) })
  })

  test('scores only what is asked for', async () => {
    expect((await ledger.select('SELECT t.sqft FROM files.rentals t JOIN rent m')).end?.scored).toEqual([])
    expect((await ledger.select('SELECT m.rental_price FROM files.rentals t JOIN rent m WHERE t.sqft < 310')).end?.scored).toEqual([
      { model: 'm-rent', version: 2, rows: 10 },
    ])
    expect(
      (await ledger.select('SELECT m.rental_price FROM files.rentals t JOIN rent m WHERE m.rental_price > 0 AND t.sqft < 310')).end?.scored,
    ).toEqual([{ model: 'm-rent', version: 2, rows: 10 }])
  })
})

test('queries that meet a model for the first time at once all see it', async () => {
  const sqls = Array.from(
    { length: 12 },
    (_, i) =>
      `SELECT m.rental_price FROM (SELECT ${i} AS sqft${i % 2 ? '' : ", 'poor' AS location"}) AS t JOIN rent${i % 3 ? '' : '.1'} AS m`,
  )
  const answers = await Promise.all(sqls.map((sql) => ledger.select(sql)))
  expect(answers.map(({ data }) => data[0]?.[0])).toEqual(sqls.map((_, i) => (i % 3 ? i : i * 4)))
})

describe('what was scored is told before the first row', () => {
  const columnsOf = async (sql: string) => {
    for await (const frame of ledger.frames(sql)) return 'columns' in frame ? frame : undefined
    return undefined
  }
  test.each([
    ['inside the query', 'SELECT m.rental_price FROM files.rentals t JOIN rent m WHERE t.sqft < 310', 'm-rent'],
    ['before it', 'SELECT m.y FROM files.big t JOIN wide m', 'm-big'],
    ['before it, over several tables', 'SELECT m.y FROM files.big t JOIN files.regions r ON true JOIN wide m ON m.a = t.a', 'm-big'],
  ])('%s', async (_where, sql, model) => {
    const told = await columnsOf(sql)
    expect(told?.scored).toMatchObject([{ model }])
    expect(told?.scored).toEqual((await ledger.select(sql)).end?.scored)
  })

  test('but not where there was no model', async () => {
    expect((await columnsOf('SELECT 1'))?.scored).toBeUndefined()
  })
})

describe('many rows are scored before the query', () => {
  const rows: [string, unknown[][]][] = [
    ['SELECT count(*) AS n, sum(m.y) AS s FROM files.big t JOIN wide m', [[60000, 1799970000]]],
    [
      'SELECT t.g, max(m.y) AS y FROM files.big t JOIN wide m WHERE t.g < 2 GROUP BY 1 ORDER BY 1',
      [
        [0, 59990],
        [1, 59991],
      ],
    ],
    [
      'SELECT t.a, m.y FROM files.big t JOIN wide m ORDER BY m.y DESC LIMIT 2',
      [
        [59999, 59999],
        [59998, 59998],
      ],
    ],
    ['SELECT count(*) AS n FROM files.big t JOIN wide m WHERE m.y <> t.a', [[0]]],
    ['WITH b AS (SELECT * FROM files.big) SELECT count(*) AS n FROM b t JOIN wide m WHERE m.y >= 0', [[60000]]],
    ['SELECT count(*) AS n FROM (SELECT m.y FROM files.big t JOIN wide m) WHERE y >= 0', [[60000]]],
    ['SELECT count(*) AS n, sum(m.y) AS s FROM files.big t JOIN files.big u USING (a) JOIN wide m', [[60000, 1799970000]]],
  ]
  test.each(rows)('%s', async (sql, data) => {
    const answer = await ledger.select(sql)
    expect(answer.data).toEqual(data)
    expect(answer.end?.scored[0]?.rows).toBeGreaterThan(10_000)
  })

  test('and joins of several tables show their own columns under *', async () => {
    const { names, data } = await ledger.select(
      'SELECT * EXCLUDE (y_explain) FROM files.big t JOIN files.big u USING (a) JOIN wide m ORDER BY a DESC',
    )
    expect(names).toEqual([
      'a',
      'g',
      'g',
      'a',
      'y',
      'select_data_query',
      'when_data',
      'y_original',
      'y_confidence',
      'y_anomaly',
      'y_min',
      'y_max',
    ])
    expect(data[0]).toEqual([59999, 9, 9, 59999, 59999, null, null, null, 0.9, null, 59989, 60009])
  })

  test('but not when a LIMIT needs few', async () => {
    expect((await ledger.select('SELECT m.y FROM files.big t JOIN wide m LIMIT 10')).end?.scored[0]?.rows).toBeLessThan(10_000)
  })

  test('all rows come out, once', async () => {
    const { data } = await ledger.select('SELECT t.a, m.y FROM files.big t JOIN wide m')
    expect(data).toHaveLength(60_000)
    expect(data.every(([a, y]) => a === y)).toBe(true)
  })
})

test('models with the same kinds of inputs share a function, also in one query, and each answers for itself', async () => {
  for (const n of [1, 2, 3, 4]) {
    const inputs = [{ name: 'p', type: 'number' as const, weight: n }]
    const artefact = await ledger.blob(fakeArtefact({ target: 'z', inputs }))
    const stream = `m-shape-${n}`
    await ledger.history('models', { stream, project: 'p-shop', name: `shape${n}`, active: 1, from: 41 })
    const version = { version: 1, engine: 'e', target: 'z', status: 'complete', artefact, options: {} }
    await ledger.history('model_versions', { stream, ...version, from: 41 })
  }
  const functions = modelFunctions(ledger.instance)
  const ask = async (...models: number[]) => {
    const joins = models.map((n) => `JOIN shape${n} AS m${n}`).join(' ')
    return (await ledger.select(`SELECT ${models.map((n) => `m${n}.z`).join(', ')} FROM (SELECT 10 AS p) AS t ${joins}`, { upTo: 41 })).data
  }
  expect(await ask(1)).toEqual([[10]])
  const before = functions.size
  expect(await ask(2, 3, 4)).toEqual([[20, 30, 40]])
  expect(await ask(4)).toEqual([[40]])
  expect(functions.size).toBe(before)
})
