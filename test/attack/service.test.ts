import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathsUnder } from '../support/directories.js'
import { formOf, uploadRentals } from '../support/models/rentals.js'
import { send, sql, startTestService, temporaryDirectory } from '../support/service.js'
import { refusedIn } from './statements/all.js'

const target = temporaryDirectory()
let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await uploadRentals(at.url)
  await send(at.url, 'POST', '/api/projects', { project: { name: 'shop' } })
  // SQL writes files of its own until it has started.
  await sql(at.url, 'SELECT 1')
})
afterAll(async () => {
  await at.stop()
  target.remove()
})

/** What clients say to any database: it changes nothing here, and is answered. */
const settings = /^(SELECT @@|SET @|BEGIN$)/i

/** What an upload leaves for a moment is its own. */
const listed = () =>
  pathsUnder(at.directory)
    .filter((name) => !name.startsWith('tmp/uploads/'))
    .sort()

for (const { name, statements } of refusedIn(target.path)) {
  test(`${name}: the service refuses each, appends nothing, writes nothing, and answers the next`, async () => {
    const [before, files] = [(await at.service.head()).position, listed()]
    for (const { sql: statement } of statements) {
      const said = await sql(at.url, statement)
      const answered = said.type !== 'error' && !settings.test(statement)
      expect({ statement: statement.slice(0, 200), answered, said: answered ? said : undefined }).toMatchObject({ answered: false })
      expect(said.error_message?.replaceAll(statement, '') ?? '').not.toContain(at.directory)
    }
    expect(await sql(at.url, 'SELECT count(*) AS n FROM files.rentals')).toMatchObject({ data: [[240]] })
    expect((await at.service.head()).position).toBe(before)
    expect(listed()).toEqual(files)
    expect(readdirSync(target.path)).toEqual([])
  })
}

test('what would overwrite the content of a file leaves its bytes as they are', async () => {
  const { content } = (await send(at.url, 'GET', '/api/files/rentals')).body as { content: string }
  const blob = join(at.directory, 'blobs', content)
  const shown = async () => (await sql(at.url, 'SELECT * FROM files.rentals ORDER BY sqft')).data
  const [bytes, rows] = [readFileSync(blob), await shown()]
  expect(rows).toHaveLength(240)
  const escaped = (statement: string) =>
    `PIVOT (SELECT "1 AS a) AS q) AS t; ROLLBACK; ${statement}; SELECT v FROM (SELECT v FROM (SELECT a AS v, z".* FROM (SELECT 1 AS a) AS z) ON a USING count(*)`
  for (const statement of [
    `COPY (SELECT 666 AS pwned) TO '${blob}' (FORMAT parquet)`,
    `COPY (SELECT 666 AS pwned) TO '${blob}' (FORMAT csv)`,
    `ATTACH '${blob}' AS pwned`,
  ])
    for (const sent of [statement, escaped(statement)])
      expect({ sent, said: await sql(at.url, sent) }).toMatchObject({ sent, said: { type: 'error' } })
  expect(readFileSync(blob).equals(bytes)).toBe(true)
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(content)
  expect(await shown()).toEqual(rows)
})

describe('what only looks like an attack is answered', () => {
  const answers: [statement: string, rows: unknown[][]][] = [
    [`SELECT '/etc/passwd' AS a, 'read_text(''x'')' AS b, ';' AS c`, [['/etc/passwd', "read_text('x')", ';']]],
    ['SELECT 1 AS a /* ; DROP TABLE ledger.events */ -- ; SELECT 2', [[1]]],
    ['SELECT 1 AS a -- x\rFROM ledger.events', [[1]]],
    [`SELECT count(*) AS n FROM files.rentals WHERE location = '' OR 1=1; --'`, [[240]]],
    ['SELECT "a;b" FROM (SELECT 1 AS "a;b")', [[1]]],
    ['SELECT `select` FROM (SELECT 2 AS `select`)', [[2]]],
    ['WITH skills AS (SELECT 7 AS events) SELECT events FROM skills', [[7]]],
    [`SELECT count(*) AS n FROM files.rentals WHERE sqft IN (${'300, '.repeat(5_000)}307)`, [[2]]],
    [`SELECT count(*) AS n FROM (SELECT 1${' UNION ALL SELECT 1'.repeat(300)})`, [[301]]],
    [`SELECT length('${'x'.repeat(500_000)}') AS n`, [[500_000]]],
    [`SELECT 1 /* ${'/*'.repeat(20_000)}${'*/'.repeat(20_000)} */ AS a`, [[1]]],
  ]
  test.each(answers.map(([statement, rows]) => [statement.slice(0, 80), statement, rows] as const))('%s', async (_, statement, rows) => {
    expect(await sql(at.url, statement)).toMatchObject({ type: 'table', data: rows })
  })
})

describe('names are names, whatever they look like', () => {
  const names = [
    `a"b`,
    `it's`,
    'x; DROP TABLE events',
    'a`b',
    '--',
    '/* x */',
    `"; SELECT 1; --`,
    'ledger.events',
    'é🦆',
    'select',
    '$$',
    '${x}',
    '%s',
    '\\',
  ]

  test.each(names)('a file named %s', async (name) => {
    const put = await send(at.url, 'PUT', `/api/files/${encodeURIComponent(name)}`, formOf(`a"b,c;d,e\`f\n1,2,3\n`, 'x.csv'))
    if (put.status !== 200) {
      expect(put.status).toBe(400)
      return
    }
    const quoted = '`' + name.replaceAll('`', '``') + '`'
    const answer = await sql(at.url, `SELECT * FROM files.${quoted}`)
    expect(answer).toMatchObject({ type: 'table', data: [[1, 2, 3]] })
    const columns = answer.column_names.map((column) => '`' + column.replaceAll('`', '``') + '`')
    expect(await sql(at.url, `SELECT ${columns.join(', ')} FROM files.${quoted} AS ${quoted} WHERE ${columns[0]} = 1`)).toMatchObject({
      data: [[1, 2, 3]],
    })
    expect(await sql(at.url, `PIVOT files.${quoted} ON ${columns[1]} USING count(*)`)).toMatchObject({ type: 'table' })
  })

  test.each(names)('a view named %s', async (name) => {
    const made = await send(at.url, 'POST', '/api/projects/shop/views', {
      view: { name, query: `SELECT 1 AS ${'`' + name.replaceAll('`', '``') + '`'}` },
    })
    if (made.status !== 201) {
      expect(made.status).toBe(400)
      return
    }
    expect(await sql(at.url, `SELECT * FROM shop.${'`' + name.replaceAll('`', '``') + '`'}`)).toMatchObject({
      column_names: [name],
      data: [[1]],
    })
    expect(await sql(at.url, `SELECT count(*) AS n FROM information_schema.tables WHERE table_name = :name`, 'mindsdb')).toMatchObject({
      type: 'error',
    })
  })
})

describe('parameters are values, whatever they are called', () => {
  const ask = async (query: string, params: string) =>
    (
      await send(at.url, 'POST', '/api/sql/query', `{"query": ${JSON.stringify(query)}, "params": ${params}}`, {
        'content-type': 'application/json',
      })
    ).body

  const cases: [query: string, params: string, answer: object][] = [
    ['SELECT :a AS v', `{"a": "'; DROP TABLE ledger.events; --"}`, { data: [["'; DROP TABLE ledger.events; --"]] }],
    ['SELECT :a AS v', `{"a": "\\\\'; SELECT 2; --"}`, { data: [["\\'; SELECT 2; --"]] }],
    ['SELECT :a AS v', '{"a": "$$ $1 :a ? /* -- `"}', { data: [['$$ $1 :a ? /* -- `']] }],
    ['SELECT :__proto__ AS v', '{}', { type: 'error' }],
    ['SELECT :constructor AS v', '{}', { type: 'error' }],
    ['SELECT :toString AS v', '{"__proto__": {"toString": "x"}}', { code: 'wrong_arguments' }],
    ['SELECT :a AS v', '{"__proto__": {"a": 1}}', { code: 'wrong_arguments' }],
    ['SELECT :constructor AS v', '{"constructor": 5}', { data: [[5]] }],
    ['SELECT * FROM :t', '{"t": "ledger.events"}', { type: 'error' }],
    ['SELECT * FROM files.:t', '{"t": "rentals"}', { type: 'error' }],
    ['SELECT 1 AS v :a', '{"a": "FROM ledger.events"}', { type: 'error' }],
    ['SELECT count(*) AS n FROM files.rentals LIMIT :n', '{"n": "1; SELECT 2"}', { type: 'error' }],
    ['SELECT :a AS v', '{"a": {"k": ["x", null, "\'"]}}', { data: [['{"k":["x",null,"\'"]}']] }],
    ['SELECT ? AS a, ? AS b', '{"1": 1, "2": "two"}', { data: [[1, 'two']] }],
  ]
  test.each(cases)('%s with %s', async (query, params, answer) => {
    expect(await ask(query, params)).toMatchObject(answer)
  })
})

test('what is seen of the system is what its tables offer', async () => {
  const tables = await sql(at.url, `SELECT DISTINCT lower(table_schema) AS s FROM information_schema.tables ORDER BY s`)
  expect(tables.data.flat()).toEqual(['files', 'information_schema', 'log', 'mindsdb', 'shop'])
  const all = JSON.stringify([
    tables,
    await sql(at.url, 'SELECT * FROM information_schema.columns'),
    await sql(at.url, 'SELECT * FROM information_schema.tables'),
  ])
  expect(all).not.toMatch(/ledger_|_stage|duckdb_|pg_catalog/)
  expect(all).not.toContain(at.directory)
})
