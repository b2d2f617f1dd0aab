import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startMysql, type MysqlServer } from '../../support/connections/mysql-half.js'
import { password } from '../../support/connections/postgres.js'
import { sql, startTestService } from '../../support/service.js'

/**
 * The server of these tests compares `word` without case, and `padded` without the blanks at its end, as collations of MySQL do. Every
 * query must have the rows that DuckDB finds in a copy of the table.
 */
let server: MysqlServer
let service: Awaited<ReturnType<typeof startTestService>>

const words = ["'a'", "'A'", "'a '", "'ä'", "'Ä'", "''", "' '", 'NULL', "'b%'", "'a_b'", "'a|b'", String.raw`'a\b'`, "'AB'", "'ab'"]

const ask = async (query: string): Promise<unknown[][]> => {
  const answer = await sql(service.url, query)
  if (answer.type === 'error') throw new Error(answer.error_message)
  return answer.data
}

beforeAll(async () => {
  server = await startMysql()
  server.tables.run(`
    CREATE TABLE words (id INTEGER NOT NULL, word TEXT COLLATE NOCASE, padded TEXT COLLATE RTRIM);
    INSERT INTO words VALUES ${words.map((word, i) => `(${i + 1}, ${word}, ${words[(i + 4) % words.length] ?? 'NULL'})`).join()};
    INSERT INTO information_schema.tables VALUES ('shop', 'words', 'BASE TABLE');
    INSERT INTO information_schema.columns VALUES
      ('shop', 'words', 1, 'id', 'int', 'int', 10, 0, NULL, NULL, 'NO'),
      ('shop', 'words', 2, 'word', 'varchar', 'varchar(20)', NULL, NULL, 'utf8mb4', 'utf8mb4_general_ci', 'YES'),
      ('shop', 'words', 3, 'padded', 'char', 'char(20)', NULL, NULL, 'utf8mb4', 'utf8mb4_general_ci', 'YES');`)
  service = await startTestService()
  const parameters = { host: '127.0.0.1', port: server.port, user: 'me', password, database: 'shop', ssl: false }
  await ask(`CREATE DATABASE my WITH ENGINE = 'mysql', PARAMETERS = ${JSON.stringify(parameters)}`)
  await ask('CREATE TABLE files.words (SELECT * FROM my.words)')
})
afterAll(async () => {
  await service.stop()
  server.stop()
})

const conditions = (column: string): readonly (readonly [condition: string, isSent: boolean])[] => [
  ...['a', column === 'padded' ? 'a ' : 'ä'].flatMap((value) =>
    (['=', '<>', '<', '<=', '>', '>='] as const).map(
      (operator) => [`${column} ${operator} '${value}'`, /^(?:=|<>)$/.test(operator)] as const,
    ),
  ),
  [`${column} IN ('a', 'AB', '')`, true],
  [`${column} NOT IN ('a', 'ab')`, true],
  [`NOT (${column} = 'A')`, true],
  [`${column} = 'a' OR ${column} = 'AB'`, true],
  [`${column} BETWEEN 'A' AND 'b'`, false],
  [`${column} NOT BETWEEN 'A' AND 'b'`, false],
  [`${column} LIKE 'a%'`, true],
  [`${column} LIKE '%B'`, true],
  [`${column} LIKE 'a'`, true],
  [`${column} LIKE '% '`, true],
  [`${column} LIKE 'b%'`, true],
  [String.raw`${column} LIKE 'a\%'`, true],
  [`${column} NOT LIKE 'A%'`, true],
  [`${column} LIKE 'a_'`, false],
  [`${column} LIKE 'a|%'`, false],
  [`${column} ILIKE 'a%'`, false],
  [`${column} IS NULL`, true],
  [`${column} IS NOT NULL`, true],
]

/** The rows of a query over the table or its copy. Some numbers come as texts. */
const rowsOf = async (from: string, query: string): Promise<unknown[][]> => {
  const rows = await ask(query.replaceAll('(words)', from))
  return rows.map((row) => row.map((cell) => (typeof cell === 'string' && /^\d+$/.test(cell) ? Number(cell) : cell)))
}

describe.each(['word', 'padded'])('texts whose collation is not that of DuckDB: %s', (column) => {
  test.each(conditions(column))('%s has the rows of DuckDB, and is sent: %s', async (condition, isSent) => {
    const all = `SELECT id FROM (words) AS w WHERE ${condition} ORDER BY id`
    const ids = await rowsOf('files.words', all)
    server.asked.length = 0
    expect(await rowsOf('my.words', all)).toEqual(ids)
    expect(await rowsOf('my.words', `${all} LIMIT 2`)).toEqual(ids.slice(0, 2))
    const scans = server.asked.filter((statement) => statement.includes('FROM `words`') && !statement.endsWith(' LIMIT 0'))
    expect([scans.length > 1, scans.every((scan) => scan.includes(' WHERE ')), scans.at(-1)?.endsWith('ORDER BY `id` LIMIT 2')]).toEqual([
      ...[true, isSent, isSent],
    ])
  })

  test.each([
    'SELECT (c), count(*) FROM (words) GROUP BY (c) ORDER BY 1, 2',
    'SELECT DISTINCT (c) FROM (words) ORDER BY 1',
    'SELECT count(DISTINCT (c)), count((c)) FROM (words)',
    'SELECT min((c)), max((c)) FROM (words)',
    'SELECT id, (c) FROM (words) ORDER BY (c), id LIMIT 4',
    'SELECT id, (c) FROM (words) ORDER BY (c) DESC, id LIMIT 4',
    'SELECT count(*) FROM (words) AS v JOIN (words) AS w ON v.(c) = w.(c)',
    "SELECT count(*) FROM (words) AS v JOIN (words) AS w ON v.id = w.id WHERE w.(c) = 'A'",
    "SELECT max(id) FROM (words) WHERE (c) <> 'a' AND lower((c)) = 'a'",
  ])('%s has the rows of DuckDB', async (query) => {
    const own = query.replaceAll('(c)', column)
    expect(await rowsOf('my.words', own)).toEqual(await rowsOf('files.words', own))
  })
})
