import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Problem } from '../../../src/basics/errors.js'
import { runStatements, type SqlExecutor } from '../../../src/jobs/run.js'
import { jobOver } from '../../support/jobs/job-over.js'
import { origin } from '../../support/log/log.js'
import { password, startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { settled } from '../../support/models/rentals.js'
import { rowsNow, send, spawnUntil, sql, startTestService, temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

let postgres: Postgres
let service: Awaited<ReturnType<typeof startTestService>>

beforeAll(async () => {
  postgres = await startPostgres()
  service = await startTestService()
  await ask(`CREATE DATABASE pg WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(postgres.connection().parameters)}`)
})
afterAll(async () => {
  await service.stop()
  await postgres.stop()
})

const ask = async (query: string): Promise<unknown[][]> => {
  const answer = await sql(service.url, query)
  if (answer.type === 'error') throw new Error(answer.error_message)
  return answer.type === 'table' ? answer.data : []
}

/** A job that runs when it is told to. */
const job = (query: string, ifQuery: string | null = null) => jobOver(service.service.sql, query, ifQuery)

/** What a job copies in each of its runs, with something that happens between them. */
const copied = async (name: string, query: string, between: readonly (() => Promise<unknown>)[]): Promise<unknown[][]> => {
  await ask(`CREATE TABLE files.${name} (id BIGINT)`)
  const copying = job(`INSERT INTO files.${name} (${query})`)
  const sizes: unknown[][] = []
  for (const happens of [async () => undefined, ...between]) {
    await happens()
    const { error } = await copying.run()
    expect(error).toBeNull()
    sizes.push((await ask(`SELECT list(id ORDER BY id) FROM files.${name}`))[0] ?? [])
  }
  return sizes
}

describe('LAST', () => {
  test('holds for a statement in the language of the database, which is sent before', async () => {
    await postgres.run('CREATE TABLE sent AS SELECT n AS id FROM generate_series(1, 3) AS n')
    const sizes = await copied('sent', 'SELECT n.id FROM pg (SELECT id FROM sent) AS n WHERE n.id > LAST', [
      () => postgres.run('INSERT INTO sent VALUES (4), (5)'),
      () => postgres.run('INSERT INTO sent VALUES (6)'),
    ])
    expect(sizes).toEqual([[null], [[4, 5]], [[4, 5, 6]]])
  })

  test('is a name of the database in dollar quotes', async () => {
    await postgres.run('CREATE TABLE quotes AS SELECT n AS id, n AS bid, n - 1 AS last FROM generate_series(1, 3) AS n')
    const sizes = await copied('quotes', 'SELECT n.id FROM pg ($$SELECT id FROM quotes WHERE bid > last$$) AS n WHERE n.id > LAST', [
      () => postgres.run('INSERT INTO quotes VALUES (4, 5, 4), (5, 4, 5)'),
      () => postgres.run('INSERT INTO quotes VALUES (6, 2, 1)'),
    ])
    expect(sizes).toEqual([[null], [[4]], [[4, 6]]])
  })

  test('in a connected table: what was there before the first run is not new', async () => {
    await postgres.run('CREATE TABLE grown (id int, place text); INSERT INTO grown SELECT i, $$a$$ FROM generate_series(1, 100) AS i')
    const grow = (from: number, to: number) => () =>
      postgres.run(`INSERT INTO grown SELECT i, 'b' FROM generate_series(${from}, ${to}) AS i`)
    const sizes = await copied('grown', 'SELECT t.id FROM pg.grown AS t WHERE t.id > LAST', [
      grow(101, 103),
      async () => undefined,
      grow(104, 104),
    ])
    expect(sizes).toEqual([[null], [[101, 102, 103]], [[101, 102, 103]], [[101, 102, 103, 104]]])
    const [[sent] = []] = await ask(
      "SELECT data->>'$.statement' FROM log.events WHERE type = 'DatabaseQueried' AND (data->>'$.statement') LIKE '%>%' ORDER BY position DESC LIMIT 1",
    )
    expect(sent).toBe('SELECT "id" FROM "grown" WHERE "id" > $1::int8')
  })

  test('in a table that was empty: everything is new', async () => {
    await postgres.run('CREATE TABLE filled (id int)')
    const sizes = await copied('filled', 'SELECT id FROM pg.filled WHERE id > last', [
      () => postgres.run('INSERT INTO filled VALUES (1), (2)'),
      () => postgres.run('INSERT INTO filled VALUES (3)'),
    ])
    expect(sizes).toEqual([[null], [[1, 2]], [[1, 2, 3]]])
  })

  test('with a value for the first run', async () => {
    await postgres.run('CREATE TABLE begun (id int); INSERT INTO begun VALUES (1), (2), (3)')
    const sizes = await copied('begun', 'SELECT id FROM pg.begun WHERE COALESCE(id, 0) >= 0 AND id > COALESCE(LAST, 1)', [
      () => postgres.run('INSERT INTO begun VALUES (4)'),
    ])
    expect(sizes).toEqual([[[2, 3]], [[2, 3, 4]]])
  })

  test.each([
    ['numeric(12,2)', '1.50', '1.75', 'DECIMAL(12,2)'],
    ['double precision', "'NaN'", '2.5', 'DOUBLE'],
    ['timestamptz', "'2026-01-01 00:00:00+02'", "'2026-01-01 00:00:00.000001+02'", 'TIMESTAMP WITH TIME ZONE'],
    ['date', "'2026-01-01'", "'2026-01-02'", 'DATE'],
    ['text', "'a''b'", "'ä'", 'VARCHAR'],
    ['uuid', "'00000000-0000-0000-0000-000000000001'", "'ffffffff-0000-0000-0000-000000000001'", 'UUID'],
  ])('of the type %s', async (type, first, second, shown) => {
    const name = `typed_${type.replace(/\W.*/, '')}`
    await postgres.run(`CREATE TABLE ${name} (id int, at ${type}); INSERT INTO ${name} VALUES (1, ${first})`)
    const insert = (id: number, at: string) => () => postgres.run(`INSERT INTO ${name} VALUES (${id}, ${at})`)
    const sizes = await copied(name, `SELECT id FROM pg.${name} AS t WHERE t.at > LAST`, [insert(2, second), insert(3, first)])
    const isNever = type === 'double precision'
    expect(sizes).toEqual(isNever ? [[null], [[1, 2]], [[1, 1, 2, 3]]] : [[null], [[2]], [[2]]])
    const asking = job(`SELECT id FROM pg.${name} AS t WHERE t.at > LAST`)
    await asking.run()
    expect(asking.seen()).toMatchObject([{ column: 't.at', type: shown }])
  })

  test('in the log, in files and in the query of a view', async () => {
    const events = job("SELECT position FROM log.events AS e WHERE e.position > LAST AND e.type = 'ProjectCreated'")
    await events.run()
    const [before] = events.seen()
    await ask('CREATE PROJECT seen_by_a_job')
    await events.run()
    expect(Number(events.seen()[0]?.value)).toBeGreaterThan(Number(before?.value))
    await ask('CREATE TABLE files.source (SELECT range AS id FROM range(5))')
    await ask('CREATE VIEW doubled AS (SELECT id * 2 AS id FROM files.source)')
    const more = () => ask('INSERT INTO files.source (SELECT 7 AS id)')
    expect(
      await copied('target', 'SELECT d.id FROM doubled AS d JOIN files.source AS s ON s.id * 2 = d.id WHERE d.id > LAST', [more]),
    ).toEqual([[null], [[14]]])
  })

  test('through a view of a connected table: only what is new is read', async () => {
    await postgres.run('CREATE TABLE viewed (id int, place text); INSERT INTO viewed SELECT i, $$a$$ FROM generate_series(1, 50) AS i')
    await ask('CREATE VIEW seen AS (SELECT id AS number, place FROM pg.viewed)')
    const more = () => postgres.run("INSERT INTO viewed VALUES (51, 'b'), (52, 'c')")
    expect(await copied('of_view', 'SELECT s.number AS id FROM seen AS s WHERE s.number > LAST', [more])).toEqual([[null], [[51, 52]]])
    const rowsRead = async () =>
      (
        await ask(
          "SELECT data->>'$.rows' FROM log.events WHERE type = 'DatabaseQueried' AND (data->>'$.statement') LIKE '%viewed%' ORDER BY position DESC LIMIT 1",
        )
      )[0]?.[0]
    // It is recorded beside the answer.
    await until(async () => (await rowsRead()) === '2')
    expect(await rowsRead()).toBe('2')
  })

  test('in a connected table that is joined with a model: only what is new is read and scored', async () => {
    const rows = (from: number, to: number) =>
      `SELECT i AS id, 1 + i % 20 AS size, 10 * (1 + i % 20) AS rent FROM generate_series(${from}, ${to}) AS i`
    await postgres.run(`CREATE TABLE scored AS ${rows(1, 60)}`)
    await ask("CREATE MODEL scoring FROM pg (SELECT size, rent FROM scored) PREDICT rent USING engine = 'linear'")
    expect(await settled(service.url, 'scoring')).toBe('complete')
    const grow = (from: number, to: number) => () => postgres.run(`INSERT INTO scored ${rows(from, to)}`)
    const query = 'SELECT t.id FROM pg.scored AS t JOIN scoring AS m WHERE t.id > LAST AND m.rent IS NOT NULL'
    const sizes = await copied('of_scores', query, [grow(61, 63), async () => undefined, grow(64, 64)])
    expect(sizes).toEqual([[null], [[61, 62, 63]], [[61, 62, 63]], [[61, 62, 63, 64]]])
    const sent = "type = 'DatabaseQueried' AND (data->>'$.statement') LIKE '%\"scored\" WHERE%'"
    const read = async () =>
      (await ask(`SELECT data->>'$.statement', data->>'$.rows' FROM log.events WHERE ${sent} ORDER BY position DESC LIMIT 1`))[0] ?? []
    // It is recorded beside the answer.
    await until(async () => (await read())[1] === '1')
    expect(await read()).toEqual(['SELECT "id", "size", "rent" FROM "scored" WHERE "id" > $1::int8', '1'])
  })

  test('in a condition: it waits for rows, and sees them again when the statements fail', async () => {
    await postgres.run('CREATE TABLE asked (id int); INSERT INTO asked VALUES (1)')
    const waiting = job('SELECT 1', 'SELECT id FROM pg.asked WHERE id > LAST')
    expect((await waiting.run()).outcome).toBe('skipped')
    await postgres.run('INSERT INTO asked VALUES (2)')
    expect((await waiting.run()).outcome).toBe('complete')
    expect((await waiting.run()).outcome).toBe('skipped')
    const failing = job('SELECT * FROM nothing', 'SELECT id FROM pg.asked WHERE id > COALESCE(LAST, 0)')
    expect((await failing.run()).outcome).toBe('error')
    expect((await failing.run()).outcome).toBe('error')
  })

  test('a statement begins where the first run began, though the condition gave no row or a statement before it failed', async () => {
    await postgres.run('CREATE TABLE awaited (id int); INSERT INTO awaited VALUES (1); CREATE TABLE faulty AS TABLE awaited')
    await ask('CREATE TABLE files.awaited (id BIGINT)')
    const query = 'INSERT INTO files.awaited (SELECT t.id FROM pg.awaited AS t WHERE t.id > LAST)'
    const waiting = job(query, 'SELECT t.id FROM pg.awaited AS t WHERE t.id > LAST')
    const failing = job(`SELECT id FROM pg.faulty WHERE id > LAST; SELECT error(id::VARCHAR) FROM pg.faulty; ${query}`)
    const first = await waiting.run()
    expect(first).toMatchObject({ outcome: 'skipped', results: [{ positions: [], error: null, last: [{ value: '1' }] }] })
    const { outcome, results } = await failing.run()
    expect([outcome, results.map(({ last }) => last?.map(({ value }) => value))]).toEqual(['error', [['1'], undefined, ['1']]])
    await postgres.run('INSERT INTO awaited VALUES (2), (3)')
    expect(await waiting.run()).toMatchObject({ outcome: 'complete' })
    expect(await ask('SELECT list(id ORDER BY id) FROM files.awaited')).toEqual([[[2, 3]]])
    await postgres.run('DELETE FROM faulty')
    expect(await failing.run()).toMatchObject({ outcome: 'complete' })
    expect(await ask('SELECT list(id ORDER BY id) FROM files.awaited')).toEqual([[[2, 2, 3, 3]]])
    expect((await waiting.run()).outcome).toBe('skipped')
  })

  test('with a value for the first run, which stays as long as no row is above it', async () => {
    await postgres.run('CREATE TABLE above (id int); INSERT INTO above VALUES (1)')
    const sizes = await copied('above', 'SELECT id FROM pg.above WHERE id > COALESCE(LAST, 5)', [
      () => postgres.run('INSERT INTO above VALUES (2), (6)'),
    ])
    expect(sizes).toEqual([[null], [[6]]])
  })

  test('a statement that fails sees its rows again, one that was done does not', async () => {
    await postgres.run('CREATE TABLE two (id int); INSERT INTO two VALUES (1)')
    const both = job('SELECT id FROM pg.two WHERE id > LAST; SELECT error(id::VARCHAR) FROM pg.two WHERE id > COALESCE(LAST, 0)')
    for (const value of ['1', '2']) {
      const { results } = await both.run()
      expect(results).toMatchObject([{ error: null, last: [{ value }] }, { error: expect.any(String) }])
      await postgres.run('INSERT INTO two VALUES (2)')
    }
  })

  test('groups see every row', async () => {
    await postgres.run('CREATE TABLE counted (id int); INSERT INTO counted VALUES (1), (2)')
    const counting = job('SELECT count(*) FROM pg.counted WHERE id > COALESCE(LAST, 0)')
    await counting.run()
    expect(counting.seen()).toMatchObject([{ value: '2' }])
  })

  test.each([
    ['SELECT id FROM pg.grown WHERE id > LAST LIMIT 5', /LIMIT/],
    ['SELECT * FROM (SELECT * FROM pg.grown AS t WHERE t.id > LAST) AS x LIMIT 5', /LIMIT/],
    ['SELECT a.id FROM pg.grown AS a, pg.begun AS b WHERE id > LAST', /t\.id > LAST/],
    ['SELECT id FROM pg.grown WHERE id + 1 > LAST', /WHERE t\.id > LAST/],
    ['SELECT id FROM pg.grown GROUP BY id HAVING id > LAST', /WHERE t\.id > LAST/],
    ['SELECT id FROM (SELECT id, [id] AS list FROM pg.grown) AS t WHERE t.list > LAST', /INTEGER\[\]/],
    ['SELECT ledger_last_0 FROM pg.grown', /ledger_last_0/],
    ['SELECT * FROM pg (SELECT id FROM grown WHERE id > LAST)', /t\.id > LAST/],
  ])('%s is refused', async (query, message) => {
    const { outcome, error } = await job(query).run()
    expect(outcome).toBe('error')
    expect(error).toMatch(message)
    expect(error).not.toContain(password)
  })

  test('outside of a job it is refused', async () => {
    await expect(ask('SELECT id FROM pg.grown WHERE id > LAST')).rejects.toThrow(/CREATE JOB/)
    await expect(ask('CREATE JOB learning (CREATE MODEL m FROM pg (SELECT * FROM grown WHERE id > LAST) PREDICT place)')).rejects.toThrow(
      /LAST/,
    )
  })
})

test('a job that tries a statement again sends what it writes in a connected database once', async () => {
  await postgres.run('CREATE TABLE told (id serial, note text)')
  const parameters = JSON.stringify({ ...postgres.connection().parameters, writable: true })
  await ask(`CREATE DATABASE writer WITH ENGINE = 'postgres', PARAMETERS = ${parameters}`)
  const { sql: engine } = service.service
  let tries = 0
  /** Says after the first try that it was busy, though the database has the row. */
  const busyOnce: SqlExecutor = {
    execute: async (request) => {
      const answer = await engine.execute(request)
      if (answer.type === 'table') for await (const _ of answer.rows);
      if (tries++ > 0) return answer
      const problem = new Problem('busy', 'Busy', 'there is too much to do')
      return { type: 'error', error_code: 0, error_message: problem.message, context: answer.context, problem }
    },
  }
  const work = {
    ...{ query: "SELECT id FROM writer (INSERT INTO told (note) VALUES ('once') RETURNING id)", ifQuery: null },
    ...{ times: { started_at: '2026-01-01T00:00:00.000000Z', previous: null }, last: { condition: [], statements: [] } },
    ...{ db: async () => 'mindsdb', origin, signal: new AbortController().signal, pause: async () => undefined },
  }
  const { error } = await runStatements(busyOnce, work, [])
  expect(error).toMatch(/a statement that writes, and that runs only once/)
  expect(await postgres.rows('SELECT note FROM told')).toEqual([['once']])
})

test('a run that a change of its job comes upon ends with the old statements, and the next run goes on where it ended', async () => {
  await postgres.run('CREATE TABLE changing AS SELECT n AS id, n * 10 AS size FROM generate_series(1, 3) AS n')
  await ask('CREATE TABLE files.changed (id BIGINT)')
  const copying = (what: string) => `INSERT INTO files.changed (SELECT ${what} FROM pg.changing AS t WHERE t.id > LAST)`
  const path = '/api/projects/mindsdb/jobs/copying'
  const put = (job: object) => send(service.url, 'PUT', path, { job })
  const runs = () => rowsNow(service.url, "SELECT outcome, query FROM log.job_runs WHERE job = 'copying' ORDER BY position")
  const ended = (count: number) => until(async () => (await runs()).filter(([outcome]) => outcome === 'complete').length === count)
  const waiting = () => postgres.rows("SELECT 1 FROM pg_locks WHERE relation = 'changing'::regclass AND NOT granted")
  await ask(`CREATE JOB copying (${copying('t.id')})`)
  await ended(1)
  await postgres.run('INSERT INTO changing VALUES (4, 40), (5, 50)')
  await postgres.run('BEGIN')
  await postgres.run('LOCK TABLE changing')
  try {
    expect((await put({ start_at: 'now' })).status).toBe(200)
    await until(async () => (await waiting()).length > 0)
    expect(await put({ query: copying('t.size'), start_at: 'now' })).toMatchObject({ status: 200, body: { query: copying('t.size') } })
  } finally {
    await postgres.run('COMMIT')
  }
  await ended(3)
  await postgres.run('INSERT INTO changing VALUES (6, 60)')
  expect((await put({ start_at: 'now' })).status).toBe(200)
  await ended(4)
  expect(await ask('SELECT list(id ORDER BY id) FROM files.changed')).toEqual([[[4, 5, 60]]])
  const queries = [copying('t.id'), copying('t.id'), copying('t.size'), copying('t.size')]
  expect((await runs()).map(([, query]) => query)).toEqual(queries)
  expect((await send(service.url, 'GET', `${path}/history`)).body).toMatchObject(queries.map((query) => ({ query, error: null })))
})

test('a job goes on with LAST after a restart, and after a SIGKILL in the middle of a run', async () => {
  const { path, remove } = temporaryDirectory()
  const undo: (() => unknown)[] = [remove]
  const preload = new URL('../../support/shifted-date.js', import.meta.url).href
  /** The service under a clock that is so far ahead that the job is due. */
  const serve = (hours: number) => spawnUntil(undo, path, { NODE_OPTIONS: `--import=${preload}`, SHIFT_MS: String(hours * 3_600_000) })
  const outcomes = async (url: string) => (await rowsNow(url, 'SELECT outcome FROM log.job_runs ORDER BY position')).flat()
  const waiting = () => postgres.rows("SELECT 1 FROM pg_locks WHERE relation = 'lasting'::regclass AND NOT granted")
  try {
    await postgres.run('CREATE TABLE lasting AS SELECT n AS id FROM generate_series(1, 3) AS n')
    const first = await serve(0)
    for (const statement of [
      `CREATE DATABASE pg WITH ENGINE = 'postgres', PARAMETERS = ${JSON.stringify(postgres.connection().parameters)}`,
      'CREATE TABLE files.lasted (id BIGINT)',
      'CREATE JOB copying (INSERT INTO files.lasted (SELECT t.id FROM pg.lasting AS t WHERE t.id > LAST)) EVERY 1 hour',
    ])
      expect((await sql(first.url, statement)).type).not.toBe('error')
    await until(async () => (await outcomes(first.url))[0] === 'complete')
    await first.kill('SIGTERM')

    await postgres.run('INSERT INTO lasting VALUES (4), (5)')
    await postgres.run('BEGIN')
    await postgres.run('LOCK TABLE lasting')
    const second = await serve(2)
    await until(async () => (await waiting()).length > 0)
    await second.kill()
    await postgres.run('COMMIT')

    const third = await serve(4)
    await until(async () => (await outcomes(third.url))[2] === 'complete')
    expect(await outcomes(third.url)).toEqual(['complete', 'interrupted', 'complete'])
    expect((await sql(third.url, 'SELECT list(id ORDER BY id) FROM files.lasted')).data).toEqual([[[4, 5]]])
  } finally {
    await postgres.run('ROLLBACK')
    for (const each of undo.reverse()) await each()
  }
})
