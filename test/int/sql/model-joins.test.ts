import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { DuckDBConnection } from '@duckdb/node-api'
import { fakeArtefact } from '../../support/models/fake-model.js'
import type { TestLedger } from '../../support/log/ledger.js'
import { shopLedger } from '../../support/sql/shop.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.file('dup', `SELECT 900 AS SQFT, 'good' AS place UNION ALL SELECT 800, 'great'`)
  await ledger.file('regions', `SELECT * FROM (VALUES ('good', 'A'), ('great', 'B'), ('poor', 'C')) AS v(location, grade)`)
  await ledger.file('prices', `SELECT 400 AS price, 'x' AS mark`)
  await ledger.file('big', 'SELECT i AS a, i % 10 AS g FROM range(30000) AS t(i)')
  const wide = await ledger.blob(fakeArtefact({ target: 'y', inputs: [{ name: 'a', type: 'number', weight: 1 }] }))
  const version = { version: 1, engine: 'e', target: 'y', options: {}, from: 28 }
  await ledger.history('models', { stream: 'm-wide', project: 'p-shop', name: 'wide', active: 1, from: 28 })
  await ledger.history('model_versions', { ...version, stream: 'm-wide', status: 'complete', artefact: wide })
  for (const status of ['generating', 'training']) {
    await ledger.history('models', { stream: `m-${status}`, project: 'p-shop', name: status, active: null, from: 28 })
    await ledger.history('model_versions', { ...version, stream: `m-${status}`, status })
  }
  await ledger.history('models', { stream: 'm-gone', project: 'p-shop', name: 'gone', active: 1, from: 28, to: 30 })
  const view = { project: 'p-shop', database: 'shop', from: 11 }
  await ledger.history('views', {
    ...view,
    stream: 'v-scored',
    name: 'scored',
    query: 'SELECT t.*, m.rental_price AS p FROM files.rentals AS t JOIN rent AS m',
  })
  await ledger.history('views', {
    ...view,
    stream: 'v-twice',
    name: 'twice',
    query: 'SELECT s.*, w.tier FROM scored AS s JOIN tier AS w',
  })
  await ledger.history('views', {
    ...view,
    stream: 'v-pivoted',
    name: 'pivoted',
    query: "PIVOT (SELECT location FROM files.rentals) ON location IN (SELECT unnest(['A', 'poor'])) USING count(*)",
  })
  ledger.head = 40
  await ledger.lock()
})
afterAll(() => ledger.close())

const rowsOf = async (sql: string) => (await ledger.select(sql)).data
const refusal = async (sql: string) => {
  const error = await ledger.select(sql).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return `${String(Reflect.get(Object(error), 'detail'))} ${String(Reflect.get(Object(Reflect.get(Object(error), 'extras')), 'hint'))}`.replaceAll(
    '\n',
    ' ',
  )
}
const scoredBy = async (sql: string) =>
  Object.fromEntries(((await ledger.select(sql)).end?.scored ?? []).map(({ model, rows }) => [model, rows]))

describe('a statement is read at the first reading', () => {
  /** The texts that DuckDB's parser is given for a statement, and those of them that it refuses. */
  const readings = async (sql: string) => {
    const given: string[] = []
    const refused: string[] = []
    const prepare = Object.getOwnPropertyDescriptor(DuckDBConnection.prototype, 'prepare')?.value as DuckDBConnection['prepare']
    const spy = jest.spyOn(DuckDBConnection.prototype, 'prepare').mockImplementation(async function (this: DuckDBConnection, own) {
      const prepared = await prepare.call(this, own)
      if (!own.includes('json_serialize_sql(')) return prepared
      const [bind, run] = [prepared.bind.bind(prepared), prepared.run.bind(prepared)]
      prepared.bind = (values, types) => {
        given.push(String(Object.values(values)[0]))
        bind(values, types)
      }
      prepared.run = async () => {
        const answer = await run()
        // Rows are read once.
        const rows = await answer.getRows()
        answer.getRows = () => Promise.resolve(rows)
        if (/"error":\s*true/.test(String(rows[0]?.[0]))) refused.push(given.at(-1) ?? '')
        return answer
      }
      return prepared
    })
    await ledger.select(sql).finally(() => spy.mockRestore())
    return { given, refused }
  }

  test.each([
    'SELECT m.rental_price FROM files.rentals AS t JOIN rent AS m',
    'SELECT m.rental_price FROM files.rentals AS t JOIN rent AS m USING confidence = 0.5',
    'SELECT p FROM scored LIMIT 1, 2',
    `PIVOT (SELECT location FROM files.rentals) ON location USING count(*)`,
    'SELECT sqft FROM files.rentals WHERE sqft > 300',
  ])('%s', async (sql) => {
    const { given, refused } = await readings(sql)
    expect(refused).toEqual([])
    expect(given.length).toBeGreaterThan(0)
  })

  test('one whose words only look like a form of ours is read as it was sent', async () => {
    const counted = (from: string) => rowsOf(`SELECT count(*) FROM files.rentals AS t JOIN ${from} ON t.sqft < d.sqft`)
    const inner = 'files.dup AS d JOIN files.regions AS r ON d.place = r.location'
    expect(await counted(inner)).toEqual(await counted(`(${inner})`))
    expect((await ledger.select('SELECT sqft AS join FROM files.rentals LIMIT 1')).names).toEqual(['join'])
  })
})

describe('stars over a model', () => {
  const outputs = ['rental_price', 'select_data_query', 'when_data', 'rental_price_original', 'rental_price_confidence']
  const all = [
    'sqft',
    'location',
    'rooms',
    ...outputs,
    'rental_price_explain',
    'rental_price_anomaly',
    'rental_price_min',
    'rental_price_max',
  ]
  const table = ['sqft', 'location', 'rooms', 'rental_price']
  test.each([
    ['*', [...table, ...all]],
    ['t.*, m.*', [...table, ...all]],
    ['m.*, t.*', [...all, ...table]],
    ['m.* EXCLUDE (rental_price_explain, m.sqft)', all.filter((name) => !['rental_price_explain', 'sqft'].includes(name))],
    ['* EXCLUDE (t.sqft, location)', [...table, ...all].filter((name, i) => i !== 0 && name !== 'location')],
    ['m.* RENAME (rental_price AS predicted)', all.map((name) => (name === 'rental_price' ? 'predicted' : name))],
    ['t.* RENAME (sqft AS size), m.rental_price', ['size', 'location', 'rooms', 'rental_price', 'rental_price']],
    ["COLUMNS('_(min|max)$')", ['rental_price_min', 'rental_price_max']],
    ["COLUMNS('rental_price_(m..)$') AS '\\1'", ['min', 'max']],
    ["COLUMNS(c -> c LIKE '%_min')", ['rental_price_min']],
    ["m.* LIKE 'rental_price_m%'", ['rental_price_min', 'rental_price_max']],
    ["max(COLUMNS('^rental_price$'))", ['rental_price', 'rental_price']],
    ['COLUMNS(m.*)', all],
  ])('%s', async (items, names) => {
    expect((await ledger.select(`SELECT ${items} FROM files.rentals AS t JOIN rent AS m LIMIT 1`)).names).toEqual(names)
  })

  test('what REPLACE says is shown', async () => {
    const [row] = await rowsOf(
      'SELECT m.* EXCLUDE (rental_price_explain) REPLACE (m.rental_price + 0.5 AS rental_price) FROM files.rentals t JOIN rent m LIMIT 1',
    )
    expect(row).toEqual([300, 'good', 0, 400.5, null, null, 1600, 0.9, true, 390, 410])
  })

  test.each([
    ['* EXCLUDE (rental_pric)', /rental_pric is not among.*rental_price/],
    ["COLUMNS('zzz')", /No column.*fits.*rental_price_max/],
  ])('%s is refused', async (items, why) => {
    expect(await refusal(`SELECT ${items} FROM files.rentals t JOIN rent m`)).toMatch(why)
  })
})

describe('every kind of join', () => {
  const rows: [string, unknown[][]][] = [
    ['SELECT m.rental_price FROM files.rentals t NATURAL JOIN rent m WHERE t.sqft = 300', [[400]]],
    ['SELECT m.rental_price FROM files.dup t LEFT JOIN rent m ON t.place = m.location AND m.sqft = t.sqft ORDER BY 1', [[1000], [1000]]],
    ['SELECT m.rental_price FROM rent m RIGHT JOIN files.rentals t ON t.sqft = m.sqft WHERE t.sqft = 300', [[400]]],
    ['SELECT m.rental_price FROM rent m, files.rentals t WHERE t.sqft = 300', [[400]]],
    // The row that a LEFT JOIN fills up with NULLs is a row, and is scored.
    [
      'SELECT r.grade, m.rental_price FROM files.regions r LEFT JOIN files.rentals t ON r.location = t.location AND t.sqft = 300 JOIN rent m ORDER BY 1',
      [
        ['A', 400],
        ['B', 200],
        ['C', 0],
      ],
    ],
    [
      'SELECT m.rental_price FROM files.regions r JOIN (files.rentals t JOIN rent m) ON r.location = t.location WHERE t.sqft = 301',
      [[502]],
    ],
    // Inputs from two tables.
    [
      `SELECT m.rental_price FROM (SELECT sqft AS k, sqft FROM files.rentals) a JOIN (SELECT sqft AS k, location FROM files.rentals) b ON a.k = b.k JOIN rent m
       WHERE a.k = 301`,
      [[501]],
    ],
    // An output in the condition of a join.
    ['SELECT t.sqft, p.mark FROM files.rentals t JOIN rent m JOIN files.prices p ON p.price = m.rental_price', [[300, 'x']]],
    [
      'SELECT t.sqft, p.mark FROM files.rentals t JOIN rent m LEFT JOIN files.prices p ON p.price = m.rental_price AND m.rooms = 0 ORDER BY 1 LIMIT 2',
      [
        [300, 'x'],
        [301, null],
      ],
    ],
    ['SELECT m.y, p.mark FROM files.big t JOIN wide m JOIN files.prices p ON p.price = m.y', [[400, 'x']]],
    // Views over models, and a model over a view over a model.
    ['SELECT p, tier FROM twice WHERE sqft = 300', [[400, "hi'gh"]]],
    ['SELECT p FROM scored AT (VERSION => 23) WHERE sqft = 300', [[1300]]],
    ['SELECT s.p, w.rental_price_max FROM scored s JOIN rent AS w WHERE s.p = 560', [[560, 570]]],
    ['SELECT a.rental_price - b.rental_price AS d FROM files.rentals t JOIN rent.1 a JOIN shop.rent.2 b WHERE t.sqft = 300', [[900]]],
    ['SELECT m.rental_price FROM range(300, 302) r(sqft) JOIN rent m', [[300], [301]]],
    [
      'WITH RECURSIVE r AS (SELECT 300 AS sqft UNION ALL SELECT sqft + 1 FROM r WHERE sqft < 301) SELECT m.rental_price FROM r JOIN rent m ORDER BY 1',
      [[300], [301]],
    ],
    [
      "PIVOT (SELECT t.location, m.rental_price AS p FROM files.rentals t JOIN rent m) ON location IN ('good', 'poor') USING avg(p)",
      [[429.5, 332.1]].map((row) => row.map(() => expect.any(Number) as unknown as number)),
    ],
  ]
  test.each(rows)('%s', async (sql, data) => expect(await rowsOf(sql)).toEqual(data))

  test.each([
    ['FROM files.rentals t RIGHT JOIN rent m', /RIGHT JOIN.*t JOIN model AS m/],
    ['FROM files.rentals t FULL JOIN rent m ON t.sqft = m.sqft', /FULL JOIN/],
    ['FROM files.rentals t SEMI JOIN rent m', /SEMI JOIN/],
    ['FROM files.rentals t ANTI JOIN rent m', /ANTI JOIN/],
    ['FROM files.rentals t POSITIONAL JOIN rent m', /POSITIONAL JOIN/],
    ['FROM files.rentals t ASOF JOIN rent m ON t.sqft >= m.sqft', /ASOF JOIN/],
    ['FROM files.rentals t LEFT JOIN rent m ON m.rental_price > 500', /more than where its inputs come from.*WHERE/],
    ['FROM files.regions r LEFT JOIN (files.rentals t JOIN rent m) ON r.location = t.location', /LEFT JOIN.*subquery/],
    ['FROM files.rentals t JOIN rent m USING (nope)', /USING names nope.*sqft, location, rooms/],
    ['FROM files.rentals t JOIN rent m USING (rental_price)', /USING names rental_price/],
    ['FROM files.rentals t JOIN rent m ON t.sqf = m.sqft', /Table t has no column sqf.*t\.sqft/s],
    ['FROM files.rentals t JOIN rent m ON t.sqft = m.sqf', /no column sqf.*m\.sqft/s],
    ['FROM files.rentals t JOIN rent m JOIN tier w ON w.sqft = m.rental_price', /made of another model's m\.rental_price.*subquery/],
    ['FROM files.rentals t JOIN generating m', /generating is not ready: its status is generating.*Wait/],
    ['FROM files.rentals t JOIN training m', /status is training/],
    ['FROM files.rentals t JOIN bad m', /status is error \(no rows\).*RETRAIN/],
    ['FROM files.rentals t JOIN gone m', /'gone' not found/],
    ['FROM files.rentals t JOIN rent.7 m', /not found: shop\.rent\.7.*versions are 1, 2/],
    ['FROM files.rentals t JOIN mindsdb.rent m', /'rent' not found in database: mindsdb/],
  ])('%s is refused', async (from, why) => expect(await refusal(`SELECT count(*) ${from}`)).toMatch(why))
})

describe('subqueries', () => {
  const rows: [string, unknown[][]][] = [
    [
      'SELECT count(*) FROM files.rentals t WHERE EXISTS (SELECT 1 FROM rent m WHERE m.sqft = t.sqft AND m.location = t.location AND m.rental_price > 500)',
      [[20]],
    ],
    [
      `SELECT t.sqft, (SELECT m.rental_price FROM rent m WHERE m.sqft = t.sqft AND m.location = 'good') AS p FROM files.rentals t ORDER BY 1 LIMIT 2`,
      [
        [300, 400],
        [301, 401],
      ],
    ],
    [
      `SELECT (SELECT sum(m.rental_price) FROM rent m WHERE m.sqft = t.sqft AND m.location IN ('good', 'great')) AS p FROM files.rentals t WHERE t.sqft = 300`,
      [[900]],
    ],
    [
      'SELECT t.sqft, x.rental_price FROM files.rentals t, LATERAL (SELECT * FROM rent m WHERE m.sqft = t.sqft) x WHERE t.sqft = 300',
      [[300, 300]],
    ],
    [
      'SELECT t.sqft FROM files.rentals t WHERE t.sqft IN (SELECT u.sqft FROM files.rentals u JOIN rent m WHERE m.rental_price > 555) ORDER BY 1',
      [[355], [358]],
    ],
    [
      'SELECT m.rental_price FROM files.rentals t JOIN rent m WHERE t.sqft = 300 UNION ALL SELECT m.rental_price FROM files.rentals t JOIN rent.1 m WHERE t.sqft = 300',
      [[400], [1300]],
    ],
    ['SELECT sum((SELECT m.y FROM wide m WHERE m.a = t.g)) AS s FROM files.big t', [[135000]]],
  ]
  test.each(rows)('%s', async (sql, data) => expect(await rowsOf(sql)).toEqual(data))

  test('that would ask a model for too many rows say to JOIN it', async () => {
    expect(await refusal('SELECT sum((SELECT m.y FROM wide m WHERE m.a = t.a)) AS s FROM files.big t')).toMatch(
      /more than 20000 rows.*JOIN/,
    )
  })
})

describe('rows given in WHERE', () => {
  const rows: [string, unknown[][]][] = [
    ['SELECT rental_price FROM rent WHERE sqft IS NULL', [[0]]],
    [
      `SELECT location, rental_price FROM rent WHERE sqft = 1 AND (location = 'good' OR location IS NULL) ORDER BY 2`,
      [
        [null, 1],
        ['good', 101],
      ],
    ],
    [
      `SELECT sqft, rooms, rental_price FROM rent WHERE sqft IN (1, 2) AND rooms IN (0, 1) ORDER BY 1, 2`,
      [
        [1, 0, 1],
        [1, 1, 2],
        [2, 0, 2],
        [2, 1, 3],
      ],
    ],
    [`SELECT rental_price FROM rent WHERE sqft = CAST('300' AS INTEGER) + 1`, [[301]]],
    ['SELECT rental_price FROM rent WHERE sqft IN (1, 2) AND rental_price > 1 AND sqft < 5', [[2]]],
    ['SELECT rental_price FROM rent WHERE sqft = 1 UNION ALL SELECT rental_price FROM rent.1 WHERE sqft = 1', [[1], [4]]],
  ]
  test.each(rows)('%s', async (sql, data) => expect(await rowsOf(sql)).toEqual(data))

  test('parameters are constants', async () => {
    const { data } = await ledger.select('SELECT rental_price FROM rent WHERE sqft IN (:a, :b)', { params: { a: 7, b: -8.5 } })
    expect(data).toEqual([[7], [-8.5]])
  })

  test.each([
    ['SELECT * FROM rent', /WHERE clause required.*WHERE sqft = … AND location = ….*JOIN shop\.rent.*FROM \(SELECT …\)/],
    ['SELECT * FROM rent WHERE sqft BETWEEN 1 AND 2', /WHERE gives no input of the model shop\.rent: .*WHERE sqft = …/],
    ['SELECT * FROM rent WHERE sqft IN (SELECT 1)', /WHERE gives no input.*subquery/],
    ['SELECT * FROM rent AS a JOIN rent.1 AS b', /without a table that gives their inputs.*JOIN shop\.rent JOIN shop\.rent/],
    ['SELECT * FROM rent WHERE sqfft = 1', /no column sqfft.*Did you mean sqft/s],
    ['SELECT * FROM rent WHERE sqft = 1 OR rental_price > 1', /OR joins conditions on inputs.*inside/],
    ['SELECT * FROM rent WHERE (sqft = 1 AND rental_price > 1) OR sqft = 2', /OR joins conditions on inputs/],
    ['SELECT * FROM rent WHERE sqft = t.sqft', /"t" not found/],
  ])('%s is refused', async (sql, why) => expect(await refusal(sql)).toMatch(why))

  test('more rows than are predicted this way are refused before they are made', async () => {
    const numbers = Array.from({ length: 5_000 }, (_, n) => n).join(', ')
    expect(await refusal(`SELECT * FROM rent WHERE sqft IN (${numbers}) AND rooms IN (${numbers})`)).toMatch(
      /WHERE gives 25000000 rows; at most/,
    )
  })
})

describe('PIVOT', () => {
  const scored = '(SELECT t.location, m.rental_price AS p FROM files.rentals t JOIN rent m)'
  const listed = `PIVOT ${scored} ON location IN ('poor', 'good') USING max(p)`

  test.each<[string, string]>([
    [
      'a query gives the values over a model',
      `PIVOT ${scored} ON location IN (SELECT unnest(['poor', 'good', NULL, 'poor'])) USING max(p)`,
    ],
    ['in the other form', `FROM ${scored} PIVOT (max(p) FOR location IN (SELECT unnest(['poor', 'good'])))`],
    [
      'which sees CTEs and parameters',
      `WITH w AS (SELECT unnest(['poor', :good]) AS x) PIVOT ${scored} ON location IN (SELECT x FROM w) USING max(p)`,
    ],
    [
      'a model is behind it',
      `PIVOT ${scored} ON location IN (SELECT location FROM files.rentals AS r JOIN rent AS m WHERE location <> 'great' GROUP BY 1 ORDER BY max(m.rental_price)) USING max(p)`,
    ],
  ])('%s', async (_, sql) => {
    const { names, data } = await ledger.select(sql, { params: { good: 'good' } })
    expect({ names, data }).toEqual({ names: ['poor', 'good'], data: await rowsOf(listed) })
  })

  test('in a view', async () =>
    expect(await rowsOf('SELECT * FROM pivoted')).toEqual(
      await rowsOf(`PIVOT (SELECT location FROM files.rentals) ON location IN ('A', 'poor') USING count(*)`),
    ))

  test.each([
    [
      'PIVOT rent ON rooms USING count(*)',
      /PIVOT \(SELECT t\.sqft, m\.rental_price FROM files\.your_table AS t JOIN shop\.rent AS m\) ON sqft IN \(…\) USING max\(rental_price\)/,
    ],
    [`PIVOT ${scored} ON location USING max(p)`, /PIVOT over a model needs its values.*IN \(SELECT DISTINCT/],
    ['PIVOT files.rentals ON rooms IN (SELECT 1, 2) USING count(*)', /gives 2 columns.*Select the one/],
    ['PIVOT files.rentals ON rooms IN (SELECT nope FROM files.rentals) USING count(*)', /nope.* \(line 1, column 41\)/],
    ['PIVOT files.rentals ON rooms IN (SELECT ?) USING count(*)', /no \? in it/],
    ['PIVOT files.rentals ON rooms IN (SELECT 1 FROM ledger.events) USING count(*)', /there is no project or database ledger/],
    ['PIVOT files.rentals ON rooms IN ledger_pivot_values_1 USING count(*)', /with the name of a type/],
    ['PIVOT files.rentals ON rooms IN (SELECT FROM) USING count(*)', /cannot be parsed|not/],
  ])('%s is refused', async (sql, why) => expect(await refusal(sql)).toMatch(why))
})

describe('WHERE over inputs and outputs of a joined model', () => {
  const from = 'FROM (SELECT 300 + i AS sqft FROM range(3) AS r(i)) AS t JOIN rent AS m WHERE'
  test.each<[string, unknown[][]]>([
    ['m.sqft = 300 OR m.rental_price > 301', [[300], [302]]],
    ['(m.sqft, m.rental_price) IN ((300, 300), (301, 7))', [[300]]],
    ['m.rooms = 4 AND (m.sqft = 300 OR m.rental_price = 305)', [[304], [305]]],
    ['m.rooms = (SELECT max(rooms) FROM files.rentals) AND m.sqft = 301', [[304]]],
    ['m.rooms IS NULL AND m.rental_price = 302', [[302]]],
    ['m.sqft = (SELECT max(sqft) - 57 FROM files.rentals)', [[302]]],
  ])('%s', async (where, data) => expect(await rowsOf(`SELECT m.rental_price ${from} ${where} ORDER BY 1`)).toEqual(data))

  test.each([
    [
      'm.rooms = 4 OR m.rental_price > 301',
      /Input rooms of model shop\.rent is compared, and nothing gives it a value.*m\.rooms = … .*AS v\(rooms\)/,
    ],
    ['m.rooms IN (1, 2)', /Input rooms .* nothing gives it a value/],
    ['(m.rooms, m.sqft) = (1, 300)', /Input rooms .* nothing gives it a value/],
    ['m.rooms BETWEEN 1 AND 2', /Input rooms .* nothing gives it a value/],
  ])('%s is refused, since it could never be true', async (where, why) =>
    expect(await refusal(`SELECT m.rental_price ${from} ${where}`)).toMatch(why),
  )
})

describe('USING behind a query', () => {
  const rows: [string, unknown[][]][] = [
    ['SELECT rental_price_confidence AS c FROM rent WHERE sqft = 1 USING confidence = 0.5', [[0.5]]],
    ['SELECT m.rental_price_confidence AS c FROM files.rentals t JOIN rent m LIMIT 1 USING confidence = 0.5', [[0.5]]],
    [
      'SELECT m.rental_price_confidence AS c FROM files.rentals t JOIN rent m LIMIT 1 USING partition_size = 100, confidence = 0.5',
      [[0.5]],
    ],
    ['SELECT m.rental_price_confidence AS c FROM files.rentals t JOIN rent m LIMIT 1', [[0.9]]],
    ['SELECT m.y_confidence AS c FROM files.big t JOIN wide m WHERE m.y >= 0 ORDER BY m.y DESC LIMIT 1 USING confidence = 0.5', [[0.5]]],
    ['SELECT tier_confidence AS c FROM tier WHERE sqft = 1 USING confidence = 0.5', [[0.75]]],
  ]
  test.each(rows)('%s', async (sql, data) => expect(await rowsOf(sql)).toEqual(data))

  test('is told with what is recorded', async () => {
    const { served } = await ledger.select('SELECT rental_price FROM rent WHERE sqft = 1 USING confidence = 0.5')
    expect(served?.[0]?.rows[0]?.output).toMatchObject({ confidence: 0.5 })
  })

  test.each([
    ['confidnce = 0.5', /no option confidnce.*Did you mean confidence/s],
    ['engine_mode = 1', /no option engine_mode.*confidence = 0.95/s],
    ['confidence = 2', /confidence|level/],
    ["confidence = 'high'", /confidence|level/],
  ])('%s is refused', async (options, why) => {
    expect(await refusal(`SELECT rental_price FROM rent WHERE sqft = 1 USING ${options}`)).toMatch(why)
  })
})

describe('a row is scored at most once, and only if it is needed', () => {
  const small = 'FROM files.rentals t JOIN rent m'
  const large = 'FROM files.big t JOIN wide m'
  test.each([
    [`SELECT t.sqft ${small}`, {}],
    [`SELECT m.sqft, m.rental_price_original ${small}`, {}],
    [`SELECT m.rental_price ${small} WHERE t.sqft < 310`, { 'm-rent': 10 }],
    [`SELECT m.rental_price ${small} WHERE m.rental_price > 400`, { 'm-rent': 60 }],
    [`SELECT m.rental_price ${small} WHERE m.rental_price > 400 AND m.rental_price < 500 AND t.sqft < 340`, { 'm-rent': 40 }],
    [`SELECT m.rental_price, m.rental_price_max, m.rental_price_explain ${small} WHERE m.rental_price_min > 400`, { 'm-rent': 60 }],
    [
      `SELECT m.rental_price AS p, count(*) ${small} GROUP BY m.rental_price HAVING m.rental_price > 400 ORDER BY m.rental_price`,
      { 'm-rent': 60 },
    ],
    [`SELECT DISTINCT m.rental_price ${small} ORDER BY m.rental_price LIMIT 3`, { 'm-rent': 60 }],
    [`SELECT t.sqft ${small} QUALIFY row_number() OVER (ORDER BY m.rental_price DESC) = 1`, { 'm-rent': 60 }],
    [
      `WITH p AS (SELECT t.sqft, m.rental_price AS y ${small}) SELECT count(*) FROM p a JOIN p b USING (sqft) WHERE a.y = b.y`,
      { 'm-rent': 60 },
    ],
    [`SELECT a.rental_price, b.rental_price FROM files.rentals t JOIN rent a JOIN rent b`, { 'm-rent': 60 }],
    // Several rows of another table for each one.
    [
      'SELECT m.rental_price, r.grade FROM files.rentals t JOIN files.regions r ON TRUE JOIN rent m ON m.location = t.location',
      { 'm-rent': 60 },
    ],
    // A join that leaves few rows.
    ['SELECT m.rental_price FROM files.rentals t JOIN files.prices p ON t.sqft + 100 = p.price JOIN rent m', { 'm-rent': 1 }],
    [`SELECT m.y ${large} LIMIT 10`, { 'm-wide': 10 }],
    [`SELECT m.y ${large} ORDER BY t.a DESC LIMIT 10`, { 'm-wide': 10 }],
    [`SELECT * ${large} ORDER BY g, a LIMIT 10`, { 'm-wide': 10 }],
    [`SELECT m.y ${large} WHERE t.a > 100 ORDER BY t.a LIMIT 10`, { 'm-wide': 10 }],
    // Here the order is that of the outputs: all are needed.
    [`SELECT m.y AS a ${large} ORDER BY a LIMIT 10`, { 'm-wide': 30_000 }],
    [`SELECT m.y ${large} ORDER BY m.y LIMIT 10`, { 'm-wide': 30_000 }],
    [`SELECT t.a ${large} ORDER BY t.a LIMIT 10`, {}],
    // Many rows, scored before the query.
    [`SELECT m.y, m.y_min ${large} WHERE m.y > 5 AND m.y_max > 7`, { 'm-wide': 30_000 }],
    [`SELECT count(*) FROM (SELECT m.y ${large} WHERE t.a < 25000 AND m.y >= 0)`, { 'm-wide': 25_000 }],
    [`WITH p AS (SELECT t.a, m.y ${large}) SELECT count(*) FROM p x JOIN p z USING (a) WHERE x.y = z.y`, { 'm-wide': 30_000 }],
    [`SELECT count(m.y) FROM files.big t JOIN files.regions r ON TRUE JOIN wide m WHERE t.a < 25000 AND m.y >= 0`, { 'm-wide': 25_000 }],
    ['SELECT count(m.y) FROM files.big t JOIN wide m JOIN files.prices p ON p.price = m.y', { 'm-wide': 30_000 }],
    // Rows that WHERE gives are recorded one by one; those of a table beside them are counted.
    [`SELECT rental_price FROM rent WHERE sqft = 1 UNION ALL SELECT m.rental_price ${small}`, { 'm-rent': 60 }],
    // Rows with the same inputs are one to the model.
    ['SELECT count(m.y) FROM (SELECT g AS a FROM files.big) t JOIN wide m', { 'm-wide': 10 }],
  ])('%s', async (sql, scored) => expect(await scoredBy(sql)).toEqual(scored))

  test.each([
    ['GROUP BY ALL', 'GROUP BY ALL'],
    ['names of columns', 'GROUP BY t.location, one'],
  ])('a LIMIT is one of groups, if they are made by %s', async (_, grouped) => {
    expect(await rowsOf(`SELECT t.location, m.rental_price > 0 AS one ${small} ${grouped} ORDER BY t.location LIMIT 3`)).toEqual([
      ['good', true],
      ['great', true],
      ['poor', true],
    ])
  })

  test.each([
    ['WHERE wide.y < 2 ORDER BY t.a', [[0], [1]]],
    ['ORDER BY wide.y DESC LIMIT 2', [[29_999], [29_998]]],
    ['WHERE wide.wide < 0 ORDER BY t.a', /no column wide/],
  ])('a model comes before a column of its name: %s', async (rest, expected) => {
    const sql = `SELECT wide.y FROM (SELECT a, {'y': -1, 'wide': -1} AS wide FROM files.big) AS t JOIN wide ${rest}`
    if (expected instanceof RegExp) expect(await refusal(sql)).toMatch(expected)
    else expect(await rowsOf(sql)).toEqual(expected)
  })

  test('the rows that ORDER BY and LIMIT pick are the ones that are shown', async () => {
    expect(await rowsOf(`SELECT t.a, m.y ${large} ORDER BY t.g, t.a DESC LIMIT 3`)).toEqual([
      [29990, 29990],
      [29980, 29980],
      [29970, 29970],
    ])
    expect(await rowsOf(`SELECT max(m.y) AS z ${large} ORDER BY z LIMIT 3`)).toEqual([[29999]])
    expect(await rowsOf(`SELECT -m.y AS a ${large} ORDER BY a LIMIT 1`)).toEqual([[-29999]])
  })

  test('a sample is taken before WHERE, as without a model', async () => {
    const [[found] = []] = await rowsOf(`SELECT count(m.y) ${large} WHERE t.g = 1 USING SAMPLE reservoir(1000 ROWS)`)
    expect(found).toBeLessThan(200)
  })

  // Each table has a column with the name of the item, and rows in another order by it.
  test.each<[string, unknown[][]]>([
    ['SELECT m.y FROM (SELECT a, -a AS y FROM files.big) t JOIN wide m ORDER BY y DESC LIMIT 1', [[29999]]],
    ['SELECT m.a FROM (SELECT a AS b, -a AS a FROM files.big) t JOIN wide m ON t.b = m.a ORDER BY a DESC LIMIT 1', [[29999]]],
    ['SELECT * REPLACE (-g AS g) FROM files.big JOIN wide AS m ORDER BY g, a LIMIT 1', [[9, -9]]],
    ['SELECT t.* RENAME (a AS g, g AS a) FROM files.big AS t JOIN wide AS m ORDER BY g DESC LIMIT 1', [[29999, 9]]],
    ['SELECT n.y FROM files.big t JOIN wide m ON t.g = m.a JOIN wide n ON t.a = n.a ORDER BY y DESC LIMIT 1', [[29999]]],
    ['SELECT m.y FROM files.big t JOIN wide m ORDER BY y + 1 DESC LIMIT 1', [[29999]]],
  ])('ORDER BY means the answer: %s', async (sql, rows) => {
    expect((await rowsOf(sql)).map((row) => row.slice(0, 2))).toEqual(rows)
  })
})

describe('an input that tables share by USING or NATURAL', () => {
  const [a, b, c] = [1, 2, 3].map((n) => `(VALUES (${n}, ${n}), (4, ${n})) AS t${n}(a, v${n})`)
  test.each([
    [`${a} JOIN ${b} USING (a)`, [4]],
    [`${a} LEFT JOIN ${b} USING (a)`, [1, 4]],
    [`${a} RIGHT JOIN ${b} USING (a)`, [2, 4]],
    [`${a} NATURAL RIGHT JOIN ${b}`, [2, 4]],
    [`${a} FULL JOIN ${b} USING (a)`, [1, 2, 4]],
    [`${a} NATURAL FULL JOIN ${b}`, [1, 2, 4]],
    [`${a} FULL JOIN ${b} USING (A) FULL JOIN ${c} USING (a)`, [1, 2, 3, 4]],
  ])('has the value of the row: %s', async (from, values) => {
    expect(await rowsOf(`SELECT m.a, m.y FROM ${from} JOIN wide AS m ORDER BY 1`)).toEqual(values.map((value) => [value, value]))
  })
})

describe('values of inputs', () => {
  const price = async (items: string) => (await rowsOf(`SELECT m.rental_price FROM (SELECT ${items}) t JOIN rent m`))[0]?.[0]
  test.each([
    ["'300' AS sqft, 'good' AS location", 400],
    ['300 AS sqft, 3 AS location', 300],
    ["300 AS sqft, 'never seen' AS location", 300],
    ['NULL::INTEGER AS sqft, NULL AS location', 0],
    ['TRUE AS sqft', 1],
    ['300.5::DECIMAL(9, 2) AS sqft', 300.5],
    ["'good' AS location", 100],
  ])('%s', async (items, value) => expect(await price(items)).toBe(value))

  test.each([
    ["'many' AS sqft", /sqft.*many/],
    ["DATE '2024-01-02' AS sqft", /sqft.*2024-01-02/],
    ['[1] AS sqft', /sqft.*\[1\]/],
  ])('%s is refused with its column and its value', async (items, why) => {
    expect(await refusal(`SELECT m.rental_price FROM (SELECT ${items}) t JOIN rent m`)).toMatch(why)
  })
})
