import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { settled } from '../../../support/models/rentals.js'
import { send, sql, startTestService, type SqlReply } from '../../../support/service.js'
import { until } from '../../../support/until.js'

let at: Awaited<ReturnType<typeof startTestService>>

const run = async (statement: string): Promise<SqlReply> => {
  const answer = await sql(at.url, statement)
  expect(answer.error_message).toBeUndefined()
  return answer
}
const rowsOf = async (query: string): Promise<unknown[][]> => (await run(query)).data
const failure = async (statement: string): Promise<string> => String((await sql(at.url, statement)).error_message)
/** The answers to rows, or what is wrong with them. */
const predict = async (model: string, rows: unknown[], params: Record<string, unknown> = {}) => {
  const { status, body } = await send(at.url, 'POST', `/api/projects/mindsdb/models/${model}/predict`, { data: rows, params })
  const refusal = body as { detail: string; hint: string }
  return { status, refusal, answers: body as Record<string, unknown>[] }
}

/** Trains a model, and says how it ended. */
const trained = async (name: string, statement: string): Promise<string> => {
  await run(`CREATE MODEL ${name} ${statement}`)
  return settled(at.url, name)
}
/** Why a training failed. */
const reasonOf = async (name: string, statement: string): Promise<string> => {
  expect(await trained(name, statement)).toBe('error')
  return String((await rowsOf(`SELECT error FROM models WHERE name = '${name}'`))[0]?.[0])
}
const reportOf = async (name: string): Promise<Record<string, Record<string, unknown>>> => {
  const [[text] = []] = await rowsOf(
    `SELECT data->>'report' FROM log.events WHERE type = 'ModelTrained' AND stream = (
       SELECT stream FROM log.events WHERE type = 'ModelCreated' AND (data->>'name') = '${name}') ORDER BY position DESC LIMIT 1`,
  )
  return JSON.parse(String(text)) as Record<string, Record<string, unknown>>
}

// Monthly passengers of growing years, and the sales of three shops by day; both grow and have a season.
const passengers = `SELECT CAST(DATE '2010-01-01' + to_months(CAST(i AS INTEGER)) AS DATE) AS month,
  CAST(round((100 + 2 * i) * (1 + 0.2 * sin(i * pi() / 6)) * (1 + 0.01 * sin(i * i))) AS BIGINT) AS passengers, 'x' AS note
  FROM range(120) AS t(i)`
const sales = `SELECT CAST(DATE '2024-01-01' + CAST(i AS INTEGER) AS DATE) AS day, shop, i % 3 = 0 AS open,
  round(factor * (50 + 10 * [0, 1, 2, 1, 0, 3, -4][i % 7 + 1] + sin(i * i)), 2) AS sold
  FROM range(90) AS t(i), (VALUES ('a', 1), ('b', 2), ('c''s', 10)) AS v(shop, factor) WHERE shop <> 'b' OR i < 80`

beforeAll(async () => {
  at = await startTestService()
  await run(`CREATE TABLE files.passengers (${passengers})`)
  await run(`CREATE TABLE files.sales (${sales})`)
  const air = "FROM files (SELECT * FROM passengers WHERE month < DATE '2019-01-01') PREDICT passengers ORDER BY month WINDOW 24 HORIZON 12"
  expect(await trained('air', air)).toBe('complete')
  const shops = 'FROM files (SELECT * FROM sales) PREDICT sold ORDER BY day GROUP BY shop HORIZON 7'
  expect(await trained('shops', `${shops} USING engine = 'forecast', confidence = 0.8`)).toBe('complete')
})
afterAll(() => at.stop())

test('series of a FLOAT are found under their decimals, in joined rows and in rows to come', async () => {
  const sizes = `SELECT CAST(DATE '2024-01-01' + CAST(i AS INTEGER) AS DATE) AS day, CAST(size AS FLOAT) AS size, 10 * size + i % 7 AS sold
    FROM range(60) AS t(i), (VALUES (0.1), (12.7)) AS v(size)`
  await run(`CREATE TABLE files.sizes (${sizes})`)
  const learned = "FROM files (SELECT * FROM sizes WHERE day < DATE '2024-02-27')"
  expect(await trained('by_size', `${learned} PREDICT sold ORDER BY day GROUP BY size HORIZON 3`)).toBe('complete')
  for (const later of ["t.day >= '2024-02-27'", 't.day > LATEST'])
    expect(
      await rowsOf(`SELECT t.size, count(m.sold) FROM files.sizes AS t JOIN by_size AS m WHERE ${later} GROUP BY 1 ORDER BY 1`),
    ).toEqual([
      [0.1, 3],
      [12.7, 3],
    ])
})

test('whole numbers that would be rounded tell no series apart, and order none', async () => {
  const accounts = `SELECT i AS step, i + 10000000000000000 AS late, account, i * 2.5 AS y
    FROM range(30) AS t(i), (VALUES (100000000000000001), (100000000000000002)) AS v(account)`
  const reason = (of: string, as = 'account') =>
    reasonOf(
      `rounded_${as}`,
      `FROM files (SELECT step, late, ${of} AS account, y FROM (${accounts})) PREDICT y ORDER BY ${as === 'late' ? 'late' : 'step'} GROUP BY account HORIZON 3`,
    )
  expect(await reason('account')).toContain('"account" has whole numbers beyond 9007199254740991')
  expect(await reason('CAST(account AS VARCHAR)', 'late')).toContain('"late" has whole numbers beyond 9007199254740991')
  const kept = `FROM files (SELECT step, CAST(account AS VARCHAR) AS account, y FROM (${accounts})) PREDICT y ORDER BY step GROUP BY account HORIZON 3`
  expect(await trained('by_account', kept)).toBe('complete')
})

describe('a model of one series', () => {
  test('forecasts the year after the last one, near to what came', async () => {
    const rows = await rowsOf(
      `SELECT t.month, t.passengers, m.passengers, m.passengers_min, m.passengers_max
       FROM files.passengers AS t JOIN air AS m WHERE t.month >= '2019-01-01' ORDER BY t.month LIMIT 12`,
    )
    expect(rows).toHaveLength(12)
    const missed = rows.reduce((sum, [, truth, said]) => sum + Math.abs(Number(said) - Number(truth)) / Number(truth), 0) / 12
    expect(missed).toBeLessThan(0.03)
    for (const [, , said, min, max] of rows) {
      expect(Number(min)).toBeLessThan(Number(said))
      expect(Number(max)).toBeGreaterThan(Number(said))
    }
  })

  test('LATEST gives the rows after its last date, beside a table and alone', async () => {
    const joined = await run(
      'SELECT m.month, m.passengers FROM files.passengers AS t JOIN air AS m WHERE t.month > LATEST ORDER BY t.month',
    )
    expect(joined.data.map(([month]) => month)).toEqual(
      Array.from({ length: 12 }, (_, i) => expect.stringMatching(`^2019-${String(i + 1).padStart(2, '0')}-01`)),
    )
    const alone = await run('SELECT month, passengers FROM air WHERE month > LATEST ORDER BY month')
    expect(alone.data).toEqual(joined.data)
    expect(alone.data.map(([, said]) => said)).toEqual(
      (
        await predict(
          'air',
          alone.data.map(([month]) => ({ month: String(month).slice(0, 10) })),
        )
      ).answers.map((row) => row['passengers']),
    )
    expect(await rowsOf('SELECT count(*) AS n FROM air WHERE LATEST < month AND passengers > 0')).toEqual([[12]])
  })

  test('the columns of the table that are not known yet are NULL, and of their types', async () => {
    const { data, column_names } = await run(
      'SELECT t.*, m.passengers AS said, m.passengers_original AS truth FROM files.passengers AS t JOIN air AS m WHERE t.month > LATEST LIMIT 1',
    )
    expect(column_names).toEqual(['month', 'passengers', 'note', 'said', 'truth'])
    expect(data[0]?.slice(1, 3)).toEqual([null, null])
    expect(
      await rowsOf(
        'SELECT typeof(t.note) AS a, typeof(t.passengers) AS b FROM files.passengers AS t JOIN air AS m WHERE t.month > LATEST LIMIT 1',
      ),
    ).toEqual([['VARCHAR', 'BIGINT']])
  })

  test('an ON maps a date of another name', async () => {
    const rows = await rowsOf(
      'SELECT t.ds, m.passengers FROM (SELECT month AS ds FROM files.passengers) AS t JOIN air AS m ON t.ds = m.month WHERE t.ds > LATEST',
    )
    expect(rows).toHaveLength(12)
    expect(rows.every(([, said]) => typeof said === 'number')).toBe(true)
  })

  test('rows of a table that have no forecast are NULL, and say why', async () => {
    const rows = await rowsOf(
      `SELECT t.d, m.passengers, m.passengers_confidence, m.passengers_min, m.passengers_anomaly, m.passengers_explain->>'reason' AS why
       FROM (VALUES (DATE '2018-12-01'), ('2019-01-01'), ('2019-01-02'), ('2031-01-01'), (NULL)) AS t(d) JOIN air AS m ON t.d = m.month ORDER BY 1`,
    )
    expect(rows.map(([, said, confidence, min, , why]) => [said === null, confidence === null, min === null, why])).toEqual([
      [true, true, true, 'the date is not after the last one of the series'],
      [false, false, false, null],
      [true, true, true, 'the date is not one of the series'],
      [true, true, true, 'the date is past the horizon'],
      [true, true, true, 'the date is missing'],
    ])
  })

  test('its report says how it was forecast and how well', async () => {
    const report = await reportOf('air')
    expect(report['series']).toMatchObject({
      order_by: 'month',
      frequency: 'month',
      horizon: 12,
      seasons: { 12: 1 },
      series: 1,
      gaps: 0,
      first: '2010-01-01',
      last: ['2018-12-01', '2018-12-01'],
    })
    expect(Object.keys(report['metrics'] ?? {})).toEqual(['r2', 'rmse', 'mae', 'mase', 'mape'])
    expect(report['metrics']?.['mape']).toBeLessThan(0.05)
    expect(report['excluded']).toEqual([{ name: 'note', type: 'text', reason: 'a series is forecast from its own past alone' }])
    const { data, column_names } = await run('DESCRIBE air.series')
    expect(Object.fromEntries(column_names.map((name, i) => [name, data[0]?.[i]]))).toMatchObject({ frequency: 'month', horizon: 12 })
  })

  test('its plan tells of times that it was judged from, and of no preset', async () => {
    const plan = new Map((await rowsOf('DESCRIBE air.plan')).map(([name, value]) => [String(name), value]))
    expect([plan.get('preset'), Number(plan.get('origins')) > 0]).toEqual([null, true])
  })
})

describe('over REST', () => {
  test('a date gives a forecast with bounds, of a level that may be asked for', async () => {
    const [one, other] = [
      await predict('air', [{ month: '2019-03-01', passengers: 1 }]),
      await predict('air', [{ MONTH: '2019-03-01' }], { confidence: 0.5 }),
    ]
    expect(one.answers[0]).toMatchObject({
      month: '2019-03-01',
      passengers_confidence: 0.9,
      passengers_anomaly: true,
      passengers_original: 1,
    })
    expect(other.answers[0]?.['passengers']).toBe(one.answers[0]?.['passengers'])
    expect(other.answers[0]?.['passengers_max']).toBeLessThan(Number(one.answers[0]?.['passengers_max']))
  })

  const refused: [string, unknown, string, RegExp][] = [
    ['a date of the past', { month: '2018-12-01' }, 'air', /Row 0, column "month": "2018-12-01": the date is not after the last one/],
    ['a date past the horizon', { month: '2020-01-01' }, 'air', /past the horizon/],
    ['a date between two', { month: '2019-01-15' }, 'air', /not one of the series/],
    ['no date', {}, 'air', /the date is missing/],
    ['no date at all', { month: 'soon' }, 'air', /"soon" is not usable as date/],
    ['another column', { moth: '2019-01-01' }, 'air', /no column "moth"/],
    ['a series that is not there', { day: '2024-03-31', shop: 'd' }, 'shops', /no series has shop = "d"/],
    ['no series', { day: '2024-03-31' }, 'shops', /no series has shop = null/],
  ]
  test.each(refused)('%s is refused', async (_, row, model, detail) => {
    const { status, refusal } = await predict(model, [row])
    expect(status).toBe(400)
    expect(refusal.detail).toMatch(detail)
  })

  test('the refusal says which dates there are', async () => {
    const { refusal } = await predict('air', [{ month: '2020-01-01' }])
    expect(refusal.hint).toBe('The series has one row a month, the last at 2018-12-01; forecasts are from 2019-01-01 to 2019-12-01.')
    expect(await failure("SELECT passengers FROM air WHERE month = '2020-01-01'")).toMatch(/past the horizon/)
    expect(await rowsOf("SELECT passengers FROM air WHERE month = '2019-12-01'")).toHaveLength(1)
  })
})

describe('a model of several series', () => {
  test('LATEST gives the rows after the last date of each', async () => {
    const rows = await rowsOf(
      'SELECT t.shop, min(t.day)::VARCHAR AS a, max(t.day)::VARCHAR AS b, count(m.sold) AS n, avg(m.sold) AS mean FROM files.sales AS t JOIN shops AS m WHERE t.day > LATEST GROUP BY t.shop ORDER BY 1',
    )
    expect(rows.map((row) => row.slice(0, 4))).toEqual([
      ['a', '2024-03-31', '2024-04-06', 7],
      ['b', '2024-03-21', '2024-03-27', 7],
      ["c's", '2024-03-31', '2024-04-06', 7],
    ])
    const [a, b, c] = rows.map((row) => Number(row[4]))
    expect(b! / a!).toBeCloseTo(2, 1)
    expect(c! / a!).toBeCloseTo(10, 0)
  })

  const asked: [string, unknown][] = [
    ["SELECT count(*) AS n FROM files.sales AS t JOIN shops AS m WHERE t.day > LATEST AND t.shop = 'c''s'", 7],
    ["SELECT count(*) AS n FROM files.sales AS t JOIN shops AS m WHERE t.day > LATEST AND t.shop IN ('a', 'b')", 14],
    ["SELECT count(*) AS n FROM files.sales AS t JOIN shops AS m WHERE t.day > LATEST AND m.shop = 'b'", 7],
    ["SELECT count(*) AS n FROM files.sales AS t JOIN shops AS m WHERE m.day > LATEST AND t.day < '2024-03-23'", 2],
    ["SELECT count(*) AS n FROM (SELECT * FROM files.sales WHERE shop < 'b') AS t JOIN shops AS m WHERE t.day > LATEST", 7],
    ['SELECT count(*) AS n FROM (SELECT * FROM files.sales WHERE false) AS t JOIN shops AS m WHERE t.day > LATEST', 0],
    ["SELECT count(*) AS n FROM shops WHERE day > LATEST AND shop = 'a'", 7],
    ['SELECT count(m.sold) AS n FROM shops AS m WHERE m.day > LATEST', 21],
    [
      "SELECT count(*) AS n FROM files.sales AS t JOIN (VALUES ('a', 'north')) AS r(shop, region) ON r.shop = t.shop JOIN shops AS m WHERE t.day > LATEST",
      7,
    ],
    ['SELECT count(*) AS n FROM (SELECT m.sold FROM files.sales AS t JOIN shops AS m WHERE t.day > LATEST) AS s WHERE s.sold IS NULL', 0],
    ['WITH w AS (SELECT * FROM files.sales) SELECT count(*) AS n FROM w AS t JOIN shops AS m WHERE t.day > LATEST', 21],
  ]
  test.each(asked)('%s', async (query, count) => expect(await rowsOf(query)).toEqual([[count]]))

  test('a view may hold it', async () => {
    await run('CREATE VIEW next_week AS (SELECT t.day, t.shop, m.sold FROM files.sales AS t JOIN shops AS m WHERE t.day > LATEST)')
    expect(await rowsOf('SELECT count(*) AS n, count(sold) AS k FROM next_week')).toEqual([[21, 21]])
  })

  test('a row of an unknown series is NULL in a table', async () => {
    const rows = await rowsOf(
      "SELECT m.sold, m.sold_explain->>'reason' AS why FROM (SELECT DATE '2024-03-31' AS day, 'zz' AS shop) AS t JOIN shops AS m",
    )
    expect(rows).toEqual([[null, 'there is no such series']])
  })

  test('its own level of intervals is the one that was said', async () => {
    const { answers } = await predict('shops', [{ day: '2024-03-31', shop: 'a' }])
    expect(answers[0]?.['sold_confidence']).toBe(0.8)
  })

  const refused: [string, RegExp][] = [
    ['SELECT m.sold FROM files.sales AS t JOIN shops AS m WHERE t.day > LATEST AND t.open', /Rows behind LATEST have no open yet/],
    [
      'SELECT m.sold FROM files.sales AS t JOIN shops AS m WHERE t.shop > LATEST',
      /t\.shop is not what orders the series of model mindsdb\.shops: that is day.*\n.*\n.*\nWrite t\.day > LATEST\./,
    ],
    [
      'SELECT m.sold FROM (SELECT day AS at, shop FROM files.sales) AS t JOIN shops AS m WHERE t.day > LATEST',
      /No column gives day, which orders .*\n.*\n.*\nMap one with ON t\.your_column = m\.day, and write t\.your_column > LATEST\./,
    ],
    ['SELECT m.sold FROM (SELECT day FROM files.sales) AS t JOIN shops AS m WHERE t.day > LATEST', /Nothing of t gives shop/],
    ['SELECT m.sold FROM files.sales AS t JOIN shops AS m WHERE t.day >= LATEST', /LATEST is the last date that a model of series knows/],
    ['SELECT day FROM files.sales WHERE day > LATEST', /WHERE t\.date > LATEST/],
  ]
  test.each(refused)('%s is refused', async (query, message) => expect(await failure(query)).toMatch(message))
})

describe('its next versions', () => {
  test('RETRAIN keeps what orders and groups, and takes other rows or another horizon', async () => {
    await run('CREATE MODEL again FROM files (SELECT * FROM sales) PREDICT sold ORDER BY day GROUP BY shop HORIZON 3')
    expect(await settled(at.url, 'again')).toBe('complete')
    await run('RETRAIN again USING confidence = 0.5')
    expect(await settled(at.url, 'again.2')).toBe('complete')
    expect((await reportOf('again'))['series']).toMatchObject({ order_by: 'day', group_by: ['shop'], horizon: 3 })
    await run('RETRAIN again HORIZON 5')
    expect(await settled(at.url, 'again.3')).toBe('complete')
    expect((await reportOf('again'))['series']).toMatchObject({ order_by: 'day', group_by: ['shop'], horizon: 5 })
    expect(await rowsOf('SELECT count(*) AS n FROM again WHERE day > LATEST')).toEqual([[15]])
    // Another engine needs none of the columns that made the series.
    await run("RETRAIN again FROM files (SELECT open, sold FROM sales) USING engine = 'linear'")
    expect(await settled(at.url, 'again.4')).toBe('complete')
  })

  test('FINETUNE goes on with the rows that came since', async () => {
    await run(
      "CREATE MODEL grown FROM files (SELECT * FROM sales WHERE day < '2024-03-01') PREDICT sold ORDER BY day GROUP BY shop HORIZON 3",
    )
    expect(await settled(at.url, 'grown')).toBe('complete')
    await run("FINETUNE grown FROM files (SELECT * FROM sales WHERE day >= '2024-03-01')")
    expect(await settled(at.url, 'grown.2')).toBe('complete')
    expect((await reportOf('grown'))['series']).toMatchObject({ last: ['2024-03-20', '2024-03-30'] })
  })

  test('the same rows give the same bytes, whatever their order and the seed', async () => {
    const artefacts = await Promise.all(
      ['day, shop', 'sold DESC'].map(async (order, i) => {
        const name = `same_${i}`
        await trained(
          name,
          `FROM files (SELECT * FROM sales ORDER BY ${order}) PREDICT sold ORDER BY day GROUP BY shop HORIZON 4 USING seed = ${i}`,
        )
        return (await rowsOf(`SELECT data->>'artefact' FROM log.events WHERE type = 'ModelTrained' ORDER BY position DESC LIMIT 1`))[0]?.[0]
      }),
    )
    expect(artefacts[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(artefacts[1]).toBe(artefacts[0])
  })
})

describe('what is said of the data', () => {
  test('gaps, rows without a value and series that are too short are warned of', async () => {
    const query = `SELECT day, shop, CASE WHEN i = 40 THEN NULL ELSE sold END AS sold FROM (
      SELECT *, row_number() OVER (PARTITION BY shop ORDER BY day) AS i FROM sales) AS s WHERE i NOT IN (20, 21) AND (shop <> 'b' OR i < 9)`
    expect(await trained('gaps', `FROM files (${query}) PREDICT sold ORDER BY day GROUP BY shop HORIZON 7`)).toBe('complete')
    const report = await reportOf('gaps')
    expect(report['warnings']).toEqual([
      { kind: 'missing_target', detail: '2 rows have no value of "sold" and were left out' },
      { kind: 'short_series', detail: '1 of 3 series have too few rows and are not forecast' },
      { kind: 'gaps', detail: expect.stringMatching(/^6 times between/) },
    ])
    expect(report['series']).toMatchObject({ series: 2, gaps: 6 })
  })

  test('two months of nothing in a growing series leave metrics and intervals', async () => {
    const query = `SELECT CAST(DATE '2018-01-01' + to_months(CAST(i AS INTEGER)) AS DATE) AS month,
      CASE WHEN i IN (63, 64) THEN 0 ELSE round(20 * exp(0.03 * i) * (1 + 0.05 * sin(i * i))) END AS sold FROM range(80) AS t(i)`
    expect(await trained('closed', `FROM files (${query}) PREDICT sold ORDER BY month HORIZON 12`)).toBe('complete')
    expect((await reportOf('closed'))['metrics']).toEqual({
      r2: expect.any(Number),
      rmse: expect.any(Number),
      mae: expect.any(Number),
      mase: expect.any(Number),
    })
    const bounds = 'count(*) FILTER (sold_min < sold AND sold < sold_max) AS n, avg(sold) AS mean'
    const [[bounded, mean] = []] = await rowsOf(`SELECT ${bounds} FROM closed WHERE month > LATEST`)
    expect(bounded).toBe(12)
    expect(mean).toBeGreaterThan(100)
  })

  const failing: [string, string, RegExp][] = [
    [
      'irregular',
      "(SELECT day + CAST(CASE WHEN day > '2024-02-01' THEN i % 5 ELSE 0 END AS INTEGER) AS day, sold FROM (SELECT *, day::DATE - DATE '2020-01-01' AS i FROM sales WHERE shop = 'a') AS s WHERE i % 9 = 0) PREDICT sold ORDER BY day HORIZON 3",
      /"day" is not regular: the usual step is/,
    ],
    ['doubled', '(SELECT day, sold FROM sales) PREDICT sold ORDER BY day HORIZON 3', /There are two rows for 2024-01-01 in "day"/],
    [
      'short',
      '(SELECT * FROM passengers LIMIT 9) PREDICT passengers ORDER BY month HORIZON 3',
      /Only 9 rows have a value of "passengers", at least 10 are needed/,
    ],
    [
      'narrow',
      '(SELECT * FROM passengers LIMIT 50) PREDICT passengers ORDER BY month WINDOW 60 HORIZON 3',
      /Only 50 rows .* WINDOW asks for 60/,
    ],
    [
      'texts',
      '(SELECT month::VARCHAR AS month, passengers FROM passengers) PREDICT passengers ORDER BY month HORIZON 3',
      /"month" is text: rows are ordered by a date.*CAST\(month AS DATE\)/s,
    ],
    ['words', '(SELECT month, note FROM passengers) PREDICT note ORDER BY month HORIZON 3', /"note" is text: a series has numbers/],
    [
      'many',
      '(SELECT i AS g, 1 AS y, 1 AS t FROM range(10001) AS r(i)) PREDICT y ORDER BY t GROUP BY g HORIZON 3',
      /10001 series, at most 10000/,
    ],
    [
      'large',
      '(SELECT i % 1100 AS g, i // 1100 AS t, i AS y FROM range(13200) AS r(i)) PREDICT y ORDER BY t GROUP BY g HORIZON 1000',
      /1100 series with a horizon of 1000 are 1100000 forecasts/,
    ],
  ]
  test.each(failing)('%s', async (name, statement, reason) => expect(await reasonOf(name, `FROM files ${statement}`)).toMatch(reason))

  const refused: [string, RegExp][] = [
    ['PREDICT passengers ORDER BY month', /"horizon" is missing, expected a whole number of rows ahead, 1 to 1000/],
    ['PREDICT passengers ORDER BY year HORIZON 3', /order_by names "year", and the training data has no such column/],
    ['PREDICT passengers ORDER BY month HORIZON 1001', /"horizon" is 1001, expected/],
    ['PREDICT passengers HORIZON 3', /HORIZON is of series, and there is no ORDER BY/],
    ["PREDICT passengers GROUP BY month USING engine = 'linear'", /GROUP BY is of series, and there is no ORDER BY/],
    ['PREDICT passengers ORDER BY month, note HORIZON 3', /ordered by one column/],
    ['PREDICT passengers ORDER BY month DESC HORIZON 3', /from the past on/],
    ["PREDICT passengers ORDER BY month HORIZON 3 USING engine = 'boosted_trees'", /not an option of the engine boosted_trees/],
    ['PREDICT passengers ORDER BY month HORIZON 3 USING horizon = 4', /horizon is said twice/],
    [
      'PREDICT passengers ORDER BY month HORIZON 3 USING seasons = 4',
      /"seasons" is not an option of the engine forecast.*Did you mean season\?/s,
    ],
    ["PREDICT passengers USING engine = 'forecast', horizon = 3", /"order_by" is missing/],
  ]
  test.each(refused)('%s is refused', async (clauses, message) => {
    expect(await failure(`CREATE MODEL nothing FROM files (SELECT * FROM passengers) ${clauses}`)).toMatch(message)
    expect(await rowsOf("SELECT count(*) AS n FROM models WHERE name = 'nothing'")).toEqual([[0]])
  })
})

test('times of the day, and keys of every kind, NULL among them', async () => {
  await run(`CREATE TABLE files.meters (
    SELECT TIMESTAMP '2024-03-01 00:00:00' + to_hours(CAST(i AS INTEGER)) AS moment, inside, floor, name, DATE '2024-01-01' AS since,
      10 + 5 * sin(i * pi() / 12) + n AS heat
    FROM range(200) AS t(i), (VALUES (true, 1, 'x', 0), (false, 2, NULL, 100), (NULL, 2, 'x', 200)) AS v(inside, floor, name, n))`)
  const statement = 'FROM files (SELECT * FROM meters) PREDICT heat ORDER BY moment GROUP BY inside, floor, name, since HORIZON 24'
  expect(await trained('meters', statement)).toBe('complete')
  expect((await reportOf('meters'))['series']).toMatchObject({ frequency: 'hour', series: 3, seasons: { 24: 3 } })
  const columns = (of: string) =>
    `inside, floor, name, since::VARCHAR AS since, min(${of}moment)::VARCHAR AS first, round(avg(heat)) AS heat`
  const alone = await rowsOf(`SELECT ${columns('')} FROM meters WHERE moment > LATEST GROUP BY ALL ORDER BY heat`)
  expect(alone).toEqual([
    [true, 1, 'x', '2024-01-01', '2024-03-09 08:00:00', 10],
    [false, 2, null, '2024-01-01', '2024-03-09 08:00:00', 110],
    [null, 2, 'x', '2024-01-01', '2024-03-09 08:00:00', 210],
  ])
  const joined = `SELECT t.inside, t.floor, t.name, t.since::VARCHAR AS since, min(t.moment)::VARCHAR AS first, round(avg(m.heat)) AS heat
    FROM files.meters AS t JOIN meters AS m WHERE t.moment > LATEST GROUP BY ALL ORDER BY 6`
  expect(await rowsOf(joined)).toEqual(alone)
  const named = (keys: string) => `SELECT t.floor, round(avg(m.heat)) AS heat
    FROM (SELECT moment, floor, name FROM files.meters) AS t JOIN meters AS m WHERE t.moment > LATEST AND ${keys} GROUP BY ALL`
  for (const inside of ['true', "'true'"])
    for (const since of ["DATE '2024-01-01'", "'2024-01-01'", "TIMESTAMP '2024-01-01 00:00:00'"])
      expect(await rowsOf(named(`m.inside = ${inside} AND m.since = ${since}`))).toEqual([[1, 10]])
  for (const keys of ["m.inside = 'perhaps' AND m.since = DATE '2024-01-01'", "m.inside = true AND m.since = 'soon'"])
    expect(await failure(named(keys))).toMatch(/perhaps|soon/)
  const row = { moment: '2024-03-09T08:00:00Z', inside: false, floor: '2', name: null, since: '2024-01-01' }
  expect((await predict('meters', [row])).answers[0]?.['heat']).toBeCloseTo(110 + 5 * Math.sin((200 * Math.PI) / 12), 1)
})

test('many series are forecast at once', async () => {
  const query = 'SELECT i // 40 AS g, i % 40 AS t, (i // 40) + 3 * (i % 4) + 0.5 * sin(i * i) AS y FROM range(12000) AS r(i)'
  expect(await trained('hundreds', `FROM files (${query}) PREDICT y ORDER BY t GROUP BY g HORIZON 4 USING season = 4`)).toBe('complete')
  const [[n, missed] = []] = await rowsOf(
    'SELECT count(*) AS n, avg(abs(y - (g + 3 * (t % 4)))) AS missed FROM (SELECT g, t, y FROM hundreds WHERE t > LATEST) AS s',
  )
  expect(n).toBe(1200)
  expect(Number(missed)).toBeLessThan(0.6)
  expect((await reportOf('hundreds'))['series']).toMatchObject({ series: 300, frequency: 'step', seasons: { 4: 300 } })
})

test('rows that are scored beforehand are NULL where there is no forecast, too', async () => {
  const query = `SELECT count(*) AS n, count(m.passengers) AS known, count(m.passengers_max) AS bounded
    FROM (SELECT CAST(DATE '2019-01-01' + CAST(i AS INTEGER) AS DATE) AS month FROM range(30000) AS t(i)) AS t JOIN air AS m`
  expect(await rowsOf(query)).toEqual([[30_000, 12, 12]])
})

test('each series that is named ends in a job as well', async () => {
  await run('CREATE JOB weekly (CREATE TABLE files.next_year (SELECT month, passengers FROM air WHERE month > LATEST)) EVERY 1 week')
  await until(async () => (await sql(at.url, 'SELECT count(*) AS n FROM files.next_year')).type === 'table')
  expect(await rowsOf('SELECT count(*) AS n FROM files.next_year')).toEqual([[12]])
})
