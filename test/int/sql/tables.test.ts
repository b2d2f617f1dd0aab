import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readdirSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../../src/basics/limits.js'
import { formOf } from '../../support/models/rentals.js'
import { shopLedger } from '../../support/sql/shop.js'
import { send, sql as sqlOf, startTestService, type SqlReply } from '../../support/service.js'

let service: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => (service = await startTestService()))
afterAll(() => service.stop())

const run = (query: string, db?: string): Promise<SqlReply> => sqlOf(service.url, query, db)
const ok = async (query: string, db?: string): Promise<SqlReply> => {
  const reply = await run(query, db)
  if (reply.type === 'error') throw new Error(`${query}: ${reply.error_message}`)
  return reply
}
const rows = async (query: string) => (await ok(query)).data
const refusal = async (query: string, db?: string): Promise<string> => (await run(query, db)).error_message ?? `was answered: ${query}`
const head = async () => (await service.service.head()).position
const typesOf = async (file: string) =>
  ((await send(service.url, 'GET', `/api/files/${file}`)).body as { columns: { name: string; type: string }[] }).columns.map(
    ({ name, type }) => `${name} ${type}`,
  )
/** What queries left behind that were writing a table. */
const unfinished = () => readdirSync(join(service.directory, 'tmp', 'tables'))
const blobs = () => readdirSync(join(service.directory, 'blobs')).length

describe('CREATE TABLE', () => {
  test('makes a file of what a query gives', async () => {
    expect(await ok('CREATE TABLE files.numbers (SELECT i AS a, i * 2 AS b FROM range(3) AS t(i))')).toMatchObject({
      type: 'ok',
      affected_rows: 3,
    })
    expect(await rows('SELECT * FROM files.numbers ORDER BY a')).toEqual([
      [0, 0],
      [1, 2],
      [2, 4],
    ])
    expect((await send(service.url, 'GET', '/api/files/numbers')).body).toMatchObject({ row_count: 3, original_name: null })
    expect(unfinished()).toEqual([])
  })

  test.each([
    ['AS without brackets', 'CREATE TABLE files.`Form_A` AS SELECT 1 AS x', 'form_a'],
    ['AS with brackets', 'create table `files`.`form_b` as (select 1 AS x);', 'form_b'],
    ['the database of the session', 'CREATE TABLE form_c (SELECT 1 AS x)', 'form_c'],
    ['a line break, as the SDKs send it', 'CREATE TABLE `files`.`form_d`\n(SELECT 1 AS x)', 'form_d'],
    ['VALUES', 'CREATE TABLE files.form_e AS SELECT * FROM (VALUES (1)) AS v(x)', 'form_e'],
    ['PIVOT', "CREATE TABLE files.form_f AS PIVOT (SELECT 'x' AS k, 1 AS v) ON k USING max(v)", 'form_f'],
    ['UNPIVOT in brackets', 'CREATE TABLE files.form_g (UNPIVOT (SELECT 1 AS a) ON a INTO NAME k VALUE x)', 'form_g'],
  ])('takes %s', async (_, query, file) => {
    await ok(query, 'files')
    expect(await rows(`SELECT x FROM files.${file}`)).toEqual([[1]])
    await ok(`DROP TABLE files.\`${file}\``)
  })

  test('takes as many columns of text as a file may have', async () => {
    const columns = Array.from({ length: limits.fileMaxColumns }, (_, i) => `'text ${i}' AS c${i}`)
    expect(await ok(`CREATE TABLE files.broad (SELECT ${columns.join(', ')})`)).toMatchObject({ affected_rows: 1 })
    expect(await rows(`SELECT c${limits.fileMaxColumns - 1} FROM files.broad`)).toEqual([[`text ${limits.fileMaxColumns - 1}`]])
  })

  test('refuses a name that is taken, unless told otherwise', async () => {
    await ok('CREATE TABLE files.taken (SELECT 1 AS x)')
    const before = await head()
    expect(await refusal('CREATE TABLE files.TAKEN (SELECT 2 AS x)')).toContain('CREATE OR REPLACE TABLE files.taken')
    expect(await ok('CREATE TABLE IF NOT EXISTS files.taken (SELECT 2 AS x)')).toMatchObject({ affected_rows: 0 })
    expect(await head()).toBe(before)
    await ok('CREATE OR REPLACE TABLE files.taken (SELECT x + 1 AS x FROM files.taken)')
    expect(await rows('SELECT x FROM files.taken')).toEqual([[2]])
  })

  test('keeps what each type says, or refuses it', async () => {
    const items = [
      'sum(9223372036854775807) AS big',
      "'a'::ENUM('a', 'b') AS word",
      'CAST(1.10 AS DECIMAL(9, 2)) AS price',
      '[1, 2] AS list',
      "{'k': 1} AS struct",
      "{'INTERVAL': 1, 'HUGEINT': [2::HUGEINT]} AS named",
      "TIMESTAMP '2024-01-02 03:04:05' AS at",
      'NULL AS nothing',
    ]
    await ok(`CREATE TABLE files.kinds (SELECT ${items.join(', ')} FROM range(2))`)
    expect(await typesOf('kinds')).toEqual([
      'big DECIMAL(38,0)',
      'word VARCHAR',
      'price DECIMAL(9,2)',
      'list INTEGER[]',
      'struct STRUCT(k INTEGER)',
      'named STRUCT("INTERVAL" INTEGER, HUGEINT DECIMAL(38,0)[])',
      'at TIMESTAMP',
      'nothing INTEGER',
    ])
    expect((await send(service.url, 'POST', '/api/sql/query', { query: 'SELECT big::VARCHAR FROM files.kinds' })).body).toMatchObject({
      data: [['18446744073709551614']],
    })
    for (const span of ['INTERVAL 1 DAY', '[INTERVAL 1 DAY]', "{t: TIMETZ '10:00:00+02'}", 'MAP {1: [union_value(a := 1)]}'])
      expect(await refusal(`CREATE TABLE files.spans (SELECT ${span} AS span)`)).toMatch(/"span".*(INTERVAL|TIME|UNION).*CAST/s)
  })

  test('makes an empty table of columns, and says where a type is wrong', async () => {
    await ok('CREATE TABLE files.empty (a INT, `b c` TEXT NULL, d DECIMAL(10, 2))')
    expect(await typesOf('empty')).toEqual(['a INTEGER', 'b c VARCHAR', 'd DECIMAL(10,2)'])
    expect(await rows('SELECT count(*) FROM files.empty')).toEqual([[0]])
    await ok('CREATE TABLE files.slashed (`a\\tb` INT)')
    expect(await typesOf('slashed')).toEqual(['a\\tb INTEGER'])
    expect(await refusal('CREATE TABLE files.wrong (a INT, b NOSUCH)')).toContain('column 36')
    expect(await refusal('CREATE TABLE files.wrong (a INT PRIMARY KEY)')).toContain('constraints')
    expect(await refusal('CREATE TABLE files.wrong (a INT, A TEXT)')).toContain('Two columns')
  })

  test.each([
    ['CREATE TABLE skills (SELECT 1 AS x)', 'mindsdb.skills is not a file'],
    ['CREATE TABLE log.t (SELECT 1 AS x)', 'log.t is not a file'],
    ['CREATE TABLE files.a_b.c (SELECT 1 AS x)', 'at most 2 parts'],
    ['CREATE TABLE files.`a.b` (SELECT 1 AS x)', 'no dot'],
    ['CREATE TABLE files.t (SELECT 1 AS x, 2 AS X)', 'called "X"'],
    ['CREATE TABLE files.t (SELECT nope FROM files.numbers)', 'line 1, column 30'],
    ["CREATE TABLE files.t (SELECT CAST('abc' AS INT) AS x)", "'abc'"],
    ['CREATE TABLE files.t (DROP TABLE files.numbers)', 'TABLE'],
    ["CREATE TABLE files.t (SELECT * FROM read_csv('/etc/passwd'))", 'read_csv'],
    ['CREATE TABLE files.t (SELECT 1 AS x; SELECT 2)', 'one query'],
  ])('%s is refused, and leaves nothing', async (query, reason) => {
    const [before, kept] = [await head(), blobs()]
    const message = await refusal(query)
    expect(message).toContain(reason)
    expect(message).not.toMatch(/ledger|parquet|blobs/i)
    expect(message).not.toContain(tmpdir())
    expect([await head(), blobs(), unfinished()]).toEqual([before, kept, []])
  })

  test('that is cancelled leaves nothing', async () => {
    const [before, kept] = [await head(), blobs()]
    const gone = new AbortController()
    const asked = service.service.sql.execute({
      query: 'CREATE TABLE files.slow (SELECT a.i AS x FROM range(100000000) AS a(i), range(1000) AS b(i) WHERE a.i * b.i = 3)',
      origin: { actor: 'ada', source: 'sql', request: null, correlation: null, causation: null },
      signal: gone.signal,
    })
    setTimeout(() => gone.abort(), 300)
    await expect(asked).rejects.toBeDefined()
    expect([await head(), blobs(), unfinished()]).toEqual([before, kept, []])
    expect(await rows('SELECT 1')).toEqual([[1]])
  })

  test('larger than its limits is refused by their names', async () => {
    const [before, kept] = [await head(), blobs()]
    expect(await refusal('CREATE TABLE files.long AS SELECT i FROM range(10000001) AS t(i)')).toContain('tableMaxRows')
    const items = Array.from({ length: 4_097 }, (_, i) => `1 AS c${i}`)
    expect(await refusal(`CREATE TABLE files.wide AS SELECT ${items.join(', ')}`)).toContain('fileMaxColumns')
    expect([await head(), blobs(), unfinished()]).toEqual([before, kept, []])
  })

  test('by two at once on one name: one has it, the other is told', async () => {
    const replies = await Promise.all([1, 2].map((n) => run(`CREATE TABLE files.race (SELECT ${n} AS x)`)))
    expect(replies.map(({ type }) => type).sort()).toEqual(['error', 'ok'])
    expect(replies.find(({ type }) => type === 'error')?.error_message).toContain('already exists')
  })
})

describe('INSERT', () => {
  test('adds rows, by place or by name, and what was before stays readable', async () => {
    await ok("CREATE TABLE files.people (SELECT 1 AS id, 'Ada' AS name)")
    const before = await head()
    expect(await ok('INSERT INTO files.people VALUES (2, \'Bo\'), (3, "Cy")')).toMatchObject({ type: 'ok', affected_rows: 2 })
    await ok("INSERT INTO `files`.`people` (`name`) VALUES ('Di')")
    await ok('INSERT INTO files.people (name, id) SELECT upper(name), id + 10 FROM files.people WHERE id < 3')
    expect(await rows('SELECT id, name FROM files.people')).toEqual([
      [1, 'Ada'],
      [2, 'Bo'],
      [3, 'Cy'],
      [null, 'Di'],
      [11, 'ADA'],
      [12, 'BO'],
    ])
    expect(await rows(`SELECT count(*) FROM files.people AT (VERSION => ${before})`)).toEqual([[1]])
    expect(
      await rows(
        "SELECT type FROM log.events WHERE stream = (SELECT stream FROM log.events WHERE data->>'name' = 'people') ORDER BY position",
      ),
    ).toEqual([['FileCreated'], ['FileReplaced'], ['FileReplaced'], ['FileReplaced']])
  })

  test('leaves a version for each change', async () => {
    const versions = await rows(
      "SELECT version, row_count, change, valid_to IS NULL FROM information_schema.files_history WHERE name = 'People' ORDER BY version",
    )
    expect(versions).toEqual([
      [1, 1, 'FileCreated', false],
      [2, 3, 'FileReplaced', false],
      [3, 4, 'FileReplaced', false],
      [4, 6, 'FileReplaced', true],
    ])
    const [[from]] = (await rows("SELECT valid_from FROM information_schema.files_history WHERE name = 'people' AND version = 2")) as [
      [number],
    ]
    expect(await rows(`SELECT count(*) FROM files.people AT (VERSION => ${from})`)).toEqual([[3]])
  })

  test('takes no rows without an event', async () => {
    const before = await head()
    expect(await ok('INSERT INTO files.people SELECT * FROM files.people WHERE false')).toMatchObject({ affected_rows: 0 })
    expect(await head()).toBe(before)
  })

  test.each([
    ['INSERT INTO files.people VALUES (1)', '1 value is given for 2 columns'],
    ["INSERT INTO files.people VALUES ('abc', 'x')", "Could not convert string 'abc'"],
    ['INSERT INTO files.people (nam) VALUES (1)', 'Did you mean "name"?'],
    ['INSERT INTO files.people (name, NAME) VALUES (1, 2)', 'called'],
    ['INSERT INTO files.poeple VALUES (1)', 'Did you mean files.people?'],
    ['INSERT INTO agents VALUES (1)', 'mindsdb.agents is not a file'],
    ['INSERT INTO files.people (id, name) VALUES (1, nope)', 'line 1, column 48'],
    ['INSERT INTO files.people', 'VALUES'],
    ['UPDATE files.people SET id = 1', 'CREATE OR REPLACE TABLE files.people'],
    ['DELETE FROM files.people WHERE id = 1', 'CREATE OR REPLACE TABLE files.people'],
  ])('%s is refused, and changes nothing', async (query, reason) => {
    const before = await head()
    expect(await refusal(query)).toContain(reason)
    expect([await head(), unfinished()]).toEqual([before, []])
  })

  test('of many at once loses no row', async () => {
    await ok('CREATE TABLE files.many (n INT)')
    await Promise.all(Array.from({ length: 12 }, (_, n) => ok(`INSERT INTO files.many VALUES (${n})`)))
    expect(await rows('SELECT count(*), count(DISTINCT n) FROM files.many')).toEqual([[12, 12]])
  })
})

test('a table that is made from its own rows loses none that are added meanwhile', async () => {
  await ok('CREATE TABLE files.sifted (n INT)')
  const adding = Array.from({ length: 12 }, (_, n) => `INSERT INTO files.sifted VALUES (${n})`)
  const sifting = adding.map((_, n) => `CREATE OR REPLACE TABLE files.sifted (SELECT * FROM files.sifted WHERE n <> ${-n})`)
  await Promise.all(adding.flatMap((add, i) => [add, sifting[i] ?? '']).map((query) => ok(query)))
  expect(await rows('SELECT count(*) FROM files.sifted WHERE n > 0')).toEqual([[11]])
  await ok('CREATE VIEW sifted AS (SELECT * FROM files.sifted)')
  const { sql } = service.service
  const select = sql.reader.select.bind(sql.reader)
  let tries = 0
  // Another node, or an upload, takes no turn here.
  sql.reader.select = async (...asked) => {
    const answer = await select(...asked)
    if (tries++ === 0) await send(service.url, 'PUT', '/api/files/sifted', formOf('n\n5\n6\n', 'sifted.csv'))
    return answer
  }
  try {
    await ok('CREATE OR REPLACE TABLE files.sifted (SELECT * FROM sifted WHERE n <> 5)')
    expect([tries, await rows('SELECT n FROM files.sifted')]).toEqual([2, [[6]]])
    tries = 0
    await ok('CREATE OR REPLACE TABLE files.sifted (SELECT 7 AS n)')
    expect(tries).toBe(1)
  } finally {
    sql.reader.select = select
  }
  expect(await rows('SELECT n FROM files.sifted')).toEqual([[7]])
})

test.each([
  ['busy', 'busy'],
  // The accent is a letter of its own there.
  ['caf\u00e9', 'cafe\u0301'],
])('a table is made from its own rows although others never stop adding some: %s, called %s', async (name, called) => {
  await ok(`CREATE TABLE files.${name} (SELECT 1 AS n)`)
  const { sql } = service.service
  const select = sql.reader.select.bind(sql.reader)
  const added: Promise<unknown>[] = []
  let tries = 0
  sql.reader.select = async (...asked) => {
    const answer = await select(...asked)
    if (!asked[0].sql.startsWith('CREATE OR REPLACE')) return answer
    tries += 1
    const adding = ok(`INSERT INTO files.${name} VALUES (2)`)
    added.push(adding)
    // The second try has the turn, so the rows come after it.
    await (tries === 1 ? adding : Promise.race([adding, sleep(500)]))
    return answer
  }
  try {
    await ok(`CREATE OR REPLACE TABLE files.\`${called}\` (SELECT n + 10 AS n FROM files.\`${called}\`)`)
  } finally {
    sql.reader.select = select
  }
  await Promise.all(added)
  expect([tries, await rows(`SELECT n FROM files.${name} ORDER BY n`)]).toEqual([2, [[2], [11], [12]]])
})

describe('DROP TABLE', () => {
  test('deletes files, all that it names or none', async () => {
    await ok('CREATE TABLE files.d1 (SELECT 1 AS x)')
    await ok('CREATE TABLE files.d2 (SELECT 1 AS x)')
    const before = await head()
    expect(await refusal('DROP TABLE files.d1, files.none')).toContain('none')
    expect(await head()).toBe(before)
    await ok('DROP TABLE IF EXISTS files.d1, files.none, `files`.`d2`, files.D1')
    expect(await head()).toBe(before + 2)
    expect(await refusal('SELECT * FROM files.d1')).toContain('not found')
    expect(await rows(`SELECT x FROM files.d1 AT (VERSION => ${before})`)).toEqual([[1]])
  })
})

describe('views', () => {
  test('are dropped all or none', async () => {
    await ok('CREATE VIEW v1 AS (SELECT 1 AS x)')
    await ok('CREATE VIEW v2 AS (SELECT 2 AS x)')
    expect(await refusal('DROP VIEW v1, nope, v2')).toContain('nope')
    expect(await rows('SELECT (SELECT x FROM v1) + (SELECT x FROM v2)')).toEqual([[3]])
    await ok('DROP VIEW IF EXISTS v1, nope, V2, v1')
    expect(await refusal('SELECT * FROM v1')).toContain('not found')
  })

  test.each([
    ['CREATE VIEW twice AS (SELECT 1 AS a, 2 AS A)', 'Two columns of the view are called "A"'],
    ['CREATE VIEW wrong AS (\n  SELECT nope FROM files.many)', 'line 2, column 10'],
    ['CREATE VIEW wrong FROM files (SELECT count(* FROM many)', 'line 1'],
    ['CREATE VIEW wrong AS (SHOW TABLES)', 'SELECT'],
  ])('%s is refused', async (query, reason) => {
    const message = await refusal(query)
    expect(message).toContain(reason)
    expect(message).not.toContain('checked')
  })
})

test('whose content is missing is told so, where it is named', async () => {
  await ok('CREATE TABLE files.lost (SELECT 7 AS seven)')
  const content = String((await rows("SELECT content FROM information_schema.files_history WHERE name = 'lost'"))[0]?.[0])
  const path = join(service.directory, 'blobs', content)
  renameSync(path, `${path}.away`)
  expect(await refusal('SELECT * FROM\n  files.lost')).toMatch(
    /^The content of this table is missing where contents are kept: `mindledger verify` names it, and a backup may have it \(line 2, column 3\)/,
  )
  renameSync(`${path}.away`, path)
  expect(await rows('SELECT * FROM files.lost')).toEqual([[7]])
})

test('a statement that comes again under its key writes once', async () => {
  await ok('CREATE TABLE files.keyed (n INT)')
  const headers = { 'idempotency-key': 'k-1' }
  const body = { query: 'INSERT INTO files.keyed VALUES (7)' }
  for (let i = 0; i < 2; i++) expect((await send(service.url, 'POST', '/api/sql/query', body, headers)).body).toMatchObject({ type: 'ok' })
  expect(await rows('SELECT n FROM files.keyed')).toEqual([[7]])
})

describe('a table of what models say', () => {
  test.each([
    ['few rows, scored inside the query', 'files.rentals', 60],
    ['many rows, scored before it', '(SELECT sqft + 100 * i AS sqft, location, rooms FROM files.rentals, range(1000) AS n(i))', 60_000],
  ])('has %s, and tells how many', async (_, from, count) => {
    const ledger = await shopLedger()
    await ledger.lock()
    const sql = `SELECT r.sqft, m.rental_price FROM ${from} AS r JOIN rent AS m`
    const { data, end } = await ledger.select(sql, { wanted: { kind: 'file', path: join(ledger.blobs, 'made') } })
    expect(data[0]?.[1]).toBe(count)
    expect(end?.scored).toEqual([{ model: 'm-rent', version: 2, rows: count }])
    await ledger.close()
  })
})
