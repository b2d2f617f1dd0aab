import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestLedger } from '../../support/log/ledger.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await TestLedger.create()
  await ledger.events(3)
})
afterAll(() => ledger.close())

const cases: [what: string, expression: string, json: string][] = [
  ['NULL', 'NULL', 'null'],
  ['BOOLEAN', 'true', 'true'],
  ['TINYINT', '(-128)::TINYINT', '-128'],
  ['SMALLINT', '(-32768)::SMALLINT', '-32768'],
  ['INTEGER', '2147483647', '2147483647'],
  ['UTINYINT', '255::UTINYINT', '255'],
  ['USMALLINT', '65535::USMALLINT', '65535'],
  ['UINTEGER', '4294967295::UINTEGER', '4294967295'],
  ['BIGINT', '9223372036854775807', '9223372036854775807'],
  ['BIGINT, least', '-9223372036854775808', '-9223372036854775808'],
  ['BIGINT, 2^53', '9007199254740993', '9007199254740993'],
  ['BIGINT, small negative', '(-5)::BIGINT', '-5'],
  ['UBIGINT', '18446744073709551615::UBIGINT', '18446744073709551615'],
  ['HUGEINT', '170141183460469231731687303715884105727', '170141183460469231731687303715884105727'],
  ['UHUGEINT', '340282366920938463463374607431768211455::UHUGEINT', '340282366920938463463374607431768211455'],
  ['FLOAT', '0.1::FLOAT', '0.1'],
  ['FLOAT, large', '16777216::FLOAT', '16777216'],
  ['DOUBLE', '0.1::DOUBLE', '0.1'],
  ['DOUBLE, whole', '3801.0::DOUBLE', '3801'],
  ['DOUBLE, small', '1e-9::DOUBLE', '1e-9'],
  ['NaN', `'NaN'::DOUBLE`, 'null'],
  ['Infinity', '1e400', 'null'],
  ['-Infinity of FLOAT', `'-Infinity'::FLOAT`, 'null'],
  ['DECIMAL 16', '1.10::DECIMAL(4,2)', '1.10'],
  ['DECIMAL 32', '-12345.678::DECIMAL(9,3)', '-12345.678'],
  ['DECIMAL 64', '0.05::DECIMAL(18,2)', '0.05'],
  ['DECIMAL 128', '12345678901234567890123456789.012345678::DECIMAL(38,9)', '12345678901234567890123456789.012345678'],
  ['VARCHAR', `'it''s "x"' || chr(10) || '😀'`, String.raw`"it's \"x\"\n😀"`],
  ['VARCHAR, long', `repeat('ab', 10)`, `"${'ab'.repeat(10)}"`],
  ['BLOB', `'\\xAB\\x00'::BLOB`, '"ab00"'],
  ['BIT', `'0101'::BIT`, '"0101"'],
  ['DATE', `DATE '2024-01-02'`, '"2024-01-02"'],
  ['DATE, leap', `DATE '2000-02-29'`, '"2000-02-29"'],
  ['DATE, early', `DATE '0044-03-15'`, '"0044-03-15"'],
  ['DATE, infinite', `'infinity'::DATE`, '"infinity"'],
  ['TIMESTAMP', `TIMESTAMP '2024-01-02 03:04:05.678'`, '"2024-01-02 03:04:05.678000"'],
  ['TIMESTAMP before 1970', `TIMESTAMP '1969-12-31 23:59:59.999999'`, '"1969-12-31 23:59:59.999999"'],
  ['TIMESTAMP, far', `TIMESTAMP '9999-12-31 23:59:59.000001'`, '"9999-12-31 23:59:59.000001"'],
  ['TIMESTAMP_S', `'2024-01-02 03:04:05'::TIMESTAMP_S`, '"2024-01-02 03:04:05.000000"'],
  ['TIMESTAMP_MS', `'2024-01-02 03:04:05.678'::TIMESTAMP_MS`, '"2024-01-02 03:04:05.678000"'],
  ['TIMESTAMP_NS', `'2024-01-02 03:04:05.123456789'::TIMESTAMP_NS`, '"2024-01-02 03:04:05.123456789"'],
  ['TIMESTAMPTZ', `'2024-01-02 03:04:05+02'::TIMESTAMPTZ`, '"2024-01-02 01:04:05.000000+00:00"'],
  ['TIME', `TIME '03:04:05.5'`, '"03:04:05.5"'],
  ['INTERVAL', `INTERVAL '1 day 2 hours'`, '"1 day 02:00:00"'],
  ['UUID', `'00000000-0000-0000-0000-00000000002a'::UUID`, '"00000000-0000-0000-0000-00000000002a"'],
  ['ENUM', `'b'::ENUM('a', 'b')`, '"b"'],
  ['JSON', `'{"a": 1}'::JSON`, String.raw`"{\"a\": 1}"`],
  ['LIST', '[1, NULL, 3]', '[1,null,3]'],
  ['LIST of DOUBLE', `[1.5::DOUBLE, 'NaN'::DOUBLE]`, '[1.5,null]'],
  ['LIST of LIST', `[['a'], []]`, '[["a"],[]]'],
  ['ARRAY', 'array_value(1, 2)', '[1,2]'],
  ['STRUCT', `{'a': 1, 'b c': [DATE '2024-01-02'], 'd': 9007199254740993}`, '{"a":1,"b c":["2024-01-02"],"d":9007199254740993}'],
  ['MAP', `MAP {'k': 1.50, 'l': NULL}`, '{"k":1.50,"l":null}'],
  ['MAP with numbers', 'MAP {1: true}', '{"1":true}'],
  ['UNION', 'union_value(n := 7)', '7'],
]

test.each(cases)('%s', async (_what, expression, json) => {
  const { text } = await ledger.select(`SELECT ${expression.replaceAll('\\', '\\\\')} AS v`)
  expect(text).toBe(`[${json}]`)
  expect(() => JSON.parse(text) as unknown).not.toThrow()
})

test.each(cases.filter(([, expression]) => !['NULL', 'array_value(1, 2)'].includes(expression)))(
  '%s beside a NULL',
  async (_what, expression, json) => {
    const { text } = await ledger.select(
      `SELECT CASE WHEN i = 1 THEN ${expression.replaceAll('\\', '\\\\')} END AS v FROM range(2) AS t(i)`,
    )
    expect(text).toBe(`[null],[${json}]`)
  },
)

test('rows come in chunks, without a raw newline', async () => {
  const texts: string[] = []
  for await (const frame of ledger.frames(`SELECT i, 'a' || chr(10) || 'b' AS s FROM range(5000) AS t(i)`))
    if ('rows' in frame) texts.push(frame.rows.toString())
  expect(texts.length).toBeGreaterThan(2)
  expect(texts.join('')).not.toContain('\n')
  expect(JSON.parse(`[${texts.join(',')}]`)).toHaveLength(5000)
})

test('an empty result has its columns', async () => {
  expect(await ledger.select('SELECT 1 AS a WHERE false')).toMatchObject({ names: ['a'], data: [], end: { rows: 0 } })
})

test('columns carry their types', async () => {
  expect((await ledger.select(`SELECT 1 AS a, 1.5 AS b, [DATE '2024-01-01'] AS c, {'x': 1} AS d`)).types).toEqual([
    'INTEGER',
    'DECIMAL(2,1)',
    'DATE[]',
    'STRUCT("x" INTEGER)',
  ])
})

test('a caller that goes away stops the query', async () => {
  const gone = new AbortController()
  const frames = ledger.frames('SELECT i FROM range(100000000) AS t(i)', {}, gone.signal)
  await frames.next()
  await frames.next()
  gone.abort()
  await expect(
    (async () => {
      for await (const frame of frames) if ('end' in frame) throw new Error('it ended')
    })(),
  ).rejects.toMatchObject({ code: 'query_limit' })
  expect((await ledger.select('SELECT 1')).data).toEqual([[1]])
})

test('an error after the first rows is told, never a short answer', async () => {
  const sql = `SELECT CAST(CASE WHEN i = 500000 THEN 'boo' ELSE '1' END AS INTEGER) AS v FROM range(1000000) AS t(i)`
  await expect(ledger.select(sql)).rejects.toMatchObject({ code: 'query_failed', detail: expect.stringContaining("'boo'") })
})

test('a query that takes too long is stopped', async () => {
  await expect(ledger.select('SELECT count(*) FROM range(100000000000) AS t(i) WHERE i % 7 = 8', { timeoutMs: 200 })).rejects.toMatchObject(
    { code: 'query_limit' },
  )
  expect((await ledger.select('SELECT 1')).data).toEqual([[1]])
})

test.each([
  [{}, 'sqlTimeoutMs'],
  [{ purpose: 'training' }, 'trainingReadTimeoutMs'],
  [{ purpose: 'skill' }, 'agentQueryTimeoutMs'],
] as const)('a query whose time is over names the limit that ended it, and says what to do: %j', async (more, limit) => {
  const slow = ledger.select('SELECT count(*) FROM range(100000000000) AS t(i) WHERE i % 7 = 8', { timeoutMs: 200, ...more })
  await expect(slow).rejects.toMatchObject({
    code: 'query_limit',
    detail: `The query took longer than 200 ms (${limit})`,
    extras: { limit, hint: expect.stringMatching(/^Narrow it .* SELECT \* FROM db/) as unknown },
  })
})

test('the time that its reader takes does not count as time of a query', async () => {
  let rows = 0
  for await (const frame of ledger.frames('SELECT i FROM range(10000) AS t(i)', { timeoutMs: 10_000 })) {
    if ('rows' in frame && rows++ === 0) await new Promise((resolve) => setTimeout(resolve, 10_500))
    if ('end' in frame) expect(frame.end.rows).toBe(10_000)
  }
  expect(rows).toBeGreaterThan(1)
})

test('leaving in the middle leaves no transaction open', async () => {
  const sql = 'SELECT position FROM log.events'
  await ledger.events(300_000)
  // The second time it runs from memory.
  for (const end of ['first', 'middle', 'middle']) {
    for await (const frame of ledger.frames(sql)) if ('rows' in frame && end === 'middle') break
    await ledger.run(`UPDATE ledger.events SET actor = '${end}' WHERE position < 10`)
    await ledger.run('CHECKPOINT')
  }
})
