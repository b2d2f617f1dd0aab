import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestLedger } from '../../support/log/ledger.js'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await TestLedger.create()
  await ledger.events(3)
})
afterAll(() => ledger.close())

const cases: [what: string, expression: string, json: string][] = [
  ['HUGEINT, least', `'-170141183460469231731687303715884105728'::HUGEINT`, '-170141183460469231731687303715884105728'],
  ['BIGNUM', `'-1234567890123456789012345678901234567890123'::BIGNUM`, '-1234567890123456789012345678901234567890123'],
  ['BIGINT, the last below 2^53', '(-9007199254740991)::BIGINT', '-9007199254740991'],
  ['DECIMAL, small and negative', '(-0.05)::DECIMAL(3,2)', '-0.05'],
  ['DECIMAL 64, large', '(-9999999999999999.99)::DECIMAL(18,2)', '-9999999999999999.99'],
  ['DECIMAL 128, small', '(-0.000000001)::DECIMAL(38,9)', '-0.000000001'],
  ['DECIMAL without places', '99::DECIMAL(5,0)', '99'],
  ['DOUBLE, minus zero', `'-0'::DOUBLE`, '-0'],
  ['DOUBLE, least', '5e-324::DOUBLE', '5e-324'],
  ['DOUBLE, greatest', '1.7976931348623157e308', '1.7976931348623157e+308'],
  ['DOUBLE, two places', '(-1234.56)::DOUBLE', '-1234.56'],
  ['DOUBLE, sixteen digits', '0.1::DOUBLE + 0.2::DOUBLE', '0.30000000000000004'],
  ['DATE before the year 1', `'0044-03-15 (BC)'::DATE`, '"0044-03-15 (BC)"'],
  ['DATE, least', `'5877642-06-25 (BC)'::DATE`, '"5877642-06-25 (BC)"'],
  ['DATE, greatest', `'5881580-07-10'::DATE`, '"5881580-07-10"'],
  ['DATE, minus infinite', `'-infinity'::DATE`, '"-infinity"'],
  ['TIMESTAMP, greatest', `'294247-01-10 04:00:54.775806'::TIMESTAMP`, '"294247-01-10 04:00:54.775806"'],
  ['TIMESTAMP before the year 1', `'0044-03-15 (BC) 01:02:03'::TIMESTAMP`, '"0044-03-15 (BC) 01:02:03.000000"'],
  ['TIMESTAMP, minus infinite', `'-infinity'::TIMESTAMP`, '"-infinity"'],
  ['TIMESTAMP_S, infinite', `'infinity'::TIMESTAMP_S`, '"infinity"'],
  ['TIMESTAMP_MS, minus infinite', `'-infinity'::TIMESTAMP_MS`, '"-infinity"'],
  ['TIMESTAMP_NS, infinite', `'infinity'::TIMESTAMP_NS`, '"infinity"'],
  ['TIMESTAMPTZ, infinite', `'infinity'::TIMESTAMPTZ`, '"infinity"'],
  ['TIMESTAMP_MS before 1970', `'1969-12-31 23:59:59.999'::TIMESTAMP_MS`, '"1969-12-31 23:59:59.999000"'],
  ['TIMESTAMP_NS before 1970', `'1969-12-31 23:59:59.999999999'::TIMESTAMP_NS`, '"1969-12-31 23:59:59.999999999"'],
  ['TIME, end of the day', `TIME '24:00:00'`, '"24:00:00"'],
  ['TIME_NS', `'03:04:05.123456789'::TIME_NS`, '"03:04:05.123456789"'],
  ['TIMETZ', `'03:04:05.5+02:30'::TIMETZ`, '"03:04:05.5+02:30"'],
  ['INTERVAL, mixed', `INTERVAL '1 year 2 months -3 days 04:05:06.7'`, '"1 year 2 months -3 days 04:05:06.7"'],
  ['VARCHAR, empty', `''`, '""'],
  ['VARCHAR of twelve bytes', `'twelve bytes'`, '"twelve bytes"'],
  ['VARCHAR of fifteen bytes', `'thirteen byte' || chr(9) || chr(1)`, String.raw`"thirteen byte\t\u0001"`],
  ['VARCHAR with a backslash', `'a' || chr(92) || 'b'`, String.raw`"a\\b"`],
  ['BLOB, empty', `''::BLOB`, '""'],
  ['BLOB, long', `'abcdefghijklmnop'::BLOB`, '"6162636465666768696a6b6c6d6e6f70"'],
  ['BIT of one', `'1'::BIT`, '"1"'],
  ['VARIANT', `{'a': 1}::VARIANT`, `"{'a': 1}"`],
  ['LIST, empty', '[]', '[]'],
  ['LIST of NULL and of NULLs', '[[], NULL, [NULL]]', '[[],null,[null]]'],
  ['LIST of long texts', `['a long text of more than twelve bytes', NULL, 'x']`, '["a long text of more than twelve bytes",null,"x"]'],
  ['LIST of LIST of STRUCT', `[[{'a': [1.5]}], NULL]`, '[[{"a":[1.5]}],null]'],
  ['ARRAY of ARRAY', 'array_value(array_value(1, 2), array_value(3, 4))', '[[1,2],[3,4]]'],
  ['STRUCT of nothing but NULL', `{'a': NULL, 'b': {'c': NULL}}`, '{"a":null,"b":{"c":null}}'],
  ['STRUCT with numbers that are none', `{'a': 'NaN'::DOUBLE, 'b': ['Infinity'::FLOAT]}`, '{"a":null,"b":[null]}'],
  ['STRUCT without names', `row(1, 'x', NULL)`, '[1,"x",null]'],
  ['STRUCT, quoted name', `struct_pack("say ""hi""" := 1)`, String.raw`{"say \"hi\"":1}`],
  ['MAP, empty', 'MAP {}', '{}'],
  ['MAP with dates', `MAP {DATE '2024-01-02': ['a']}`, '{"2024-01-02":["a"]}'],
  ['MAP with lists', `MAP {['a']: 1}`, String.raw`{"[\"a\"]":1}`],
  ['MAP of numbers that are none', `MAP {'k': 'NaN'::DOUBLE}`, '{"k":null}'],
  ['UNION of a text', `union_value(t := 'x')`, '"x"'],
  ['UNION of a list', 'union_value(l := [1, 2])', '[1,2]'],
  ['JSON in a LIST', `['{"a": 1}'::JSON]`, String.raw`["{\"a\": 1}"]`],
]

test.each(cases)('%s', async (_what, expression, json) => {
  const { text } = await ledger.select(`SELECT ${expression.replaceAll('\\', '\\\\')} AS v`)
  expect(text).toBe(`[${json}]`)
  expect(() => JSON.parse(text) as unknown).not.toThrow()
})

// DuckDB has no CASE of arrays of arrays.
test.each(cases.filter(([what]) => what !== 'ARRAY of ARRAY'))('%s beside a NULL, after other rows', async (_what, expression, json) => {
  const sql = `SELECT CASE WHEN i = 2999 THEN ${expression.replaceAll('\\', '\\\\')} END AS v FROM range(3000) AS t(i)`
  const { text } = await ledger.select(sql)
  expect(text.slice(-json.length - 9)).toBe(`[null],[${json}]`)
})

test('names that stand twice are kept twice', async () => {
  expect(await ledger.select('SELECT 1 AS a, 2 AS a, 3 AS "A"')).toMatchObject({ names: ['a', 'a', 'A'], data: [[1, 2, 3]] })
})

test('nested values are told apart row by row, over several chunks', async () => {
  const { data } = await ledger.select(`SELECT i, CASE WHEN i % 3 > 0 THEN [i, NULL] END, {'n': CASE WHEN i % 2 = 0 THEN i END},
    MAP {'key of row ' || i: i}, CASE WHEN i % 5 > 0 THEN 'a text that is not short, ' || i END FROM range(5000) AS t(i)`)
  const expected = Array.from({ length: 5000 }, (_, i) => [
    i,
    i % 3 > 0 ? [i, null] : null,
    { n: i % 2 === 0 ? i : null },
    { [`key of row ${i}`]: i },
    i % 5 > 0 ? `a text that is not short, ${i}` : null,
  ])
  expect(data).toEqual(expected)
})

test('texts of all lengths, wherever they are stored, are read whole', async () => {
  await ledger.file(
    'texts',
    `SELECT i, CASE WHEN i % 11 > 0 THEN repeat(chr(97 + (i % 26)::INTEGER), (i * 7919 % 40)::INTEGER) || i END AS s FROM range(9000) AS t(i)`,
  )
  const expected = (i: number) => (i % 11 > 0 ? String.fromCharCode(97 + (i % 26)).repeat((i * 7919) % 40) + String(i) : null)
  for (const sql of [
    'FROM files.texts',
    'FROM files.texts WHERE i % 3 = 1',
    'FROM files.texts ORDER BY i DESC',
    'FROM files.texts ORDER BY s',
  ]) {
    const { data } = await ledger.select(`SELECT i, s ${sql}`)
    for (const [i, s] of data) expect(s).toBe(expected(Number(i)))
  }
})

test('every double is the number that JavaScript reads, in as few digits', async () => {
  const sql = `SELECT CASE WHEN i % 8 < 7 THEN round((random() - 0.5) * 10 ** (i % 30 - 12), (i % 8)::INTEGER)
    ELSE (random() - 0.5) * 10 ** (i % 30 - 12) END AS x FROM range(20000) AS t(i)`
  const texts = (await ledger.select(sql)).text.split('],[').map((text) => text.replaceAll(/[[\]]/g, ''))
  expect(texts).toHaveLength(20_000)
  for (const text of texts) expect(text).toBe(text === '-0' ? text : String(Number(text)))
})

test('CSV has the same values without marks, and quotes where RFC 4180 wants them', async () => {
  const plain = ['1', '0.10', `'a'`, 'NULL', `'NaN'::DOUBLE`, 'true', `DATE '2024-01-02'`, `TIMESTAMP '2024-01-02 03:04:05'`]
  const texts = [`'a,b'`, `'say "hi"'`, `'two' || chr(10) || 'lines'`, `''`, `'ab'::BLOB`, `[1, NULL]`, `{'k': 'a'}`, `INTERVAL '1 day'`]
  const lines =
    '1,0.10,a,,,true,2024-01-02,2024-01-02 03:04:05.000000,' +
    '"a,b","say ""hi""","two\nlines","",6162,"[1,null]","{""k"":""a""}",1 day\r\n'
  expect(await ledger.csv(`SELECT ${[...plain, ...texts].join(', ')}`)).toBe(lines)
})

test('a column carries the name of its type', async () => {
  const sql = `SELECT '{}'::JSON AS a, now() AS b, 'a'::ENUM('a') AS c, NULL AS d, count(*) AS e, [row(1, 2)] AS f`
  expect((await ledger.select(sql)).types).toEqual([
    'JSON',
    'TIMESTAMP WITH TIME ZONE',
    "ENUM('a')",
    'INTEGER',
    'BIGINT',
    'STRUCT("" INTEGER, "" INTEGER)[]',
  ])
})
