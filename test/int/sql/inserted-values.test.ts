import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql as sqlOf, startTestService, type SqlReply } from '../../support/service.js'

let service: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => (service = await startTestService()))
afterAll(() => service.stop())

const run = (query: string): Promise<SqlReply> => sqlOf(service.url, query)
const ok = async (query: string): Promise<SqlReply> => {
  const reply = await run(query)
  if (reply.type === 'error') throw new Error(`${query}: ${reply.error_message}`)
  return reply
}
const rows = async (query: string) => (await ok(query)).data

const narrow = `CREATE OR REPLACE TABLE files.narrow (SELECT 1 AS id, 1.5 AS price, DATE '2024-01-01' AS day, TIME '10:00:00' AS clock,
  true AS flag, CAST(0.5 AS DOUBLE) AS half, TIMESTAMP '2024-01-01 00:00:00' AS moment, [1] AS numbers, {'a': 1} AS pair, CAST([0.5] AS FLOAT[]) AS vector)`

let isAsMade = false

/** Makes the table `narrow` with its one row, unless the test before left it so. */
const makeNarrow = async (): Promise<void> => {
  if (!isAsMade) await ok(narrow)
  isAsMade = false
}

test.each([
  ['price', '2.25', 'would change 2.25'],
  ['price', 'CAST(2.25 AS DOUBLE)', 'would change 2.25'],
  ['price', "'2.25e0'", 'would change 2.25e0'],
  ['id', '912.50', 'would change 912.50'],
  ['id', "'1_000.5'", 'would change 1_000.5'],
  ['flag', '2', 'would change 2'],
  ['day', "TIMESTAMP '2024-05-01 10:30:00'", 'would change 2024-05-01 10:30:00'],
  ['moment', "'2024-05-01 10:30:00+02'", 'Column "moment" is TIMESTAMP, which would change 2024-05-01 10:30:00+02'],
  ['pair', "{'a': 1, 'b': 2}", "would change {'a': 1, 'b': 2}"],
  ['pair', 'row(1.7)', 'which would change'],
  ['id', "CAST('12.5' AS ENUM('12', '12.5'))", 'would change 12.5'],
  ['id', "CAST('9.9' AS JSON)", 'would change 9.9'],
  ['id', "'912.50'", 'Column "id" is INTEGER, which would change 912.50'],
  ['id', "'1.25e1'", 'would change 1.25e1'],
  ['price', "'2.25'", 'Column "price" is DECIMAL(2,1), which would change 2.25'],
  ['day', "'2024-05-01 10:30:00'", 'Column "day" is DATE, which would change 2024-05-01 10:30:00'],
  ['day', "'2024-05-01 or so'", 'would change 2024-05-01 or so'],
  ['day', "TIMESTAMPTZ '2024-05-01 10:30:00+00'", 'would change 2024-05-01 10:30:00'],
  ['clock', "TIMESTAMP '2024-05-01 10:30:00'", 'Column "clock" is TIME, which would change 2024-05-01 10:30:00'],
  ['clock', "'2024-05-01 10:30:00'", 'would change 2024-05-01 10:30:00'],
  ['clock', "'10:30:00+02'", 'would change 10:30:00+02'],
  ['moment', "'2024-05-01 10:30:00.1234567'", 'would change 2024-05-01 10:30:00.1234567'],
  ['flag', '2.5', 'Column "flag" is BOOLEAN, which would change 2.5'],
  ['half', '9007199254740993', 'Column "half" is DOUBLE, which would change 9007199254740993'],
  ['numbers', '[1.7]', 'Column "numbers" is INTEGER[], which would change [1.7]'],
  ['numbers', "'[1.7]'", 'would change [1.7]'],
  ['numbers', "['1.7']", 'would change [1.7]'],
  ['pair', "{'a': 1.7}", 'which would change'],
  ['id', '3000000000', 'out of range'],
])('never changes a value: a %s of %s is refused', async (column, value, reason) => {
  await makeNarrow()
  expect((await run(`INSERT INTO files.narrow (${column}) VALUES (${value})`)).error_message).toContain(reason)
  expect(await rows('SELECT count(*) FROM files.narrow')).toEqual([[1]])
  isAsMade = true
})

test.each([
  ['id', "'12'", '12'],
  ['id', "' 12.0 '", '12'],
  ['id', "'1e3'", '1000'],
  ['id', "CAST('7' AS JSON)", '7'],
  ['id', 'NULL', null],
  ['id', "CAST('12' AS ENUM('12', '12.5'))", '12'],
  ['id', '(SELECT sum(i) FROM range(5) AS r(i))', '10'],
  ['id', '(SELECT NULL)', null],
  ['pair', 'row(2.0)', "{'a': 2}"],
  ['price', "'2.50'", '2.5'],
  ['price', '2', '2.0'],
  ['price', "CAST('2.50' AS JSON)", '2.5'],
  ['price', "CAST('9.9' AS JSON)", '9.9'],
  ['price', 'NULL', null],
  ['day', "'2024-01-02'", '2024-01-02'],
  ['day', "'2024/1/2'", '2024-01-02'],
  ['day', "'2024-01-02T00:00:00'", '2024-01-02'],
  ['day', "TIMESTAMPTZ '2024-01-02 00:00:00+00'", '2024-01-02'],
  ['day', `CAST('"2024-01-02"' AS JSON)`, '2024-01-02'],
  ['clock', "'10:30'", '10:30:00'],
  ['moment', "'9999-12-31'", '9999-12-31 00:00:00'],
  ['moment', "DATE '2024-01-02'", '2024-01-02 00:00:00'],
  ['flag', '1', 'true'],
  ['flag', "'true'", 'true'],
  ['half', '1', '1.0'],
  ['half', '0.1', '0.1'],
  ['half', "'0.1'", '0.1'],
  ['numbers', '[2.0, 3.0]', '[2, 3]'],
  ['numbers', "'[2, 3]'", '[2, 3]'],
  ['numbers', 'NULL', null],
  ['pair', "{'a': 2.0}", "{'a': 2}"],
  ['vector', '[0.123456789012]', '[0.12345679]'],
  ['price', 'CAST(2.25 AS DECIMAL(2,1))', '2.3'],
  ['id', 'round(3.4)', '3'],
  ['moment', "'2024-01-03T10:30:00Z'", '2024-01-03 10:30:00'],
  ['pair', 'NULL', null],
])('takes a value that stays the same: a %s of %s', async (column, value, kept) => {
  await makeNarrow()
  await ok(`INSERT INTO files.narrow (${column}) VALUES (${value})`)
  expect(await rows(`SELECT CAST(${column} AS VARCHAR) FROM files.narrow LIMIT 1 OFFSET 1`)).toEqual([[kept]])
})
