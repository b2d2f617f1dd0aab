import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Connections } from '../../../src/connections/connections.js'
import { duck, problemOf, readAll } from '../../support/connections/answers.js'
import { toMysql } from '../../support/connections/beside-mysql.js'
import { startMysql, type MysqlServer } from '../../support/connections/mysql-half.js'
import { startPostgres, type Postgres } from '../../support/connections/postgres.js'
import { send, sql, startTestService } from '../../support/service.js'

describe('PostgreSQL, through the service', () => {
  let postgres: Postgres
  let service: Awaited<ReturnType<typeof startTestService>>

  const ask = async (query: string, db?: string): Promise<unknown[][]> => {
    const answer = await sql(service.url, query, db)
    if (answer.type === 'error') throw new Error(answer.error_message)
    return answer.data
  }

  beforeAll(async () => {
    postgres = await startPostgres()
    await postgres.run(`
      CREATE TABLE notes (id int, note text);
      INSERT INTO notes VALUES (1, 'kept');
      CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM notes;
      CREATE PROCEDURE add_note(said text, INOUT number int) LANGUAGE plpgsql
        AS $$ BEGIN number := number + 1; INSERT INTO notes VALUES (number, said); END $$;
      CREATE PROCEDURE mark() LANGUAGE sql AS $$ INSERT INTO notes VALUES (0, 'marked') $$;
      CREATE PROCEDURE tidy() LANGUAGE plpgsql AS $$ BEGIN DELETE FROM notes; COMMIT; END $$`)
    service = await startTestService()
    const { parameters } = postgres.connection()
    for (const [name, writable] of [
      ['reader', false],
      ['writer', true],
    ] as const)
      await send(service.url, 'POST', '/api/databases', {
        database: { name, engine: 'postgres', parameters: { ...parameters, writable } },
      })
  })
  afterAll(async () => {
    await service.stop()
    await postgres.stop()
  })

  const kept = () => postgres.rows("SELECT note FROM notes WHERE note = 'kept'")

  test.each<[statement: string, answer: unknown[][], effect: string]>([
    ["CALL add_note('called', 6)", [[7]], "SELECT 1 FROM notes WHERE id = 7 AND note = 'called'"],
    ['CALL mark()', [], "SELECT 1 FROM notes WHERE note = 'marked'"],
    ['CREATE INDEX by_note ON notes (note)', [], "SELECT 1 FROM pg_indexes WHERE indexname = 'by_note'"],
    ['REFRESH MATERIALIZED VIEW counted', [], 'SELECT 1 FROM counted WHERE n > 1'],
    ['ANALYZE notes', [], "SELECT 1 FROM pg_stats WHERE tablename = 'notes' AND attname = 'note'"],
    ['REINDEX TABLE notes', [], 'SELECT 1'],
  ])('%s has its effect on a writable connection, and none on one that only reads', async (statement, answer, effect) => {
    await expect(ask(`SELECT * FROM reader (${statement})`)).rejects.toThrow(
      /begins with \w+, .*this connection only reads.*"writable": true/s,
    )
    expect(await ask(`SELECT * FROM writer (${statement})`)).toEqual(answer)
    expect(await postgres.rows(effect)).toEqual([['1']])
  })

  test.each([
    'VACUUM notes',
    'VACUUM (FULL, ANALYZE) notes',
    '/* at night */ vacuum',
    'CREATE INDEX CONCURRENTLY by_id ON notes (id)',
    'CREATE UNIQUE INDEX CONCURRENTLY by_id ON notes (id)',
    'DROP INDEX CONCURRENTLY by_id',
    'REINDEX TABLE CONCURRENTLY notes',
    'REINDEX (VERBOSE) INDEX CONCURRENTLY by_id',
    'REINDEX DATABASE postgres',
    'CREATE DATABASE other',
    'DROP DATABASE other',
    "CREATE TABLESPACE other LOCATION '/nowhere'",
    "ALTER SYSTEM SET work_mem = '8MB'",
    'DISCARD ALL',
  ])('%s is refused on every connection, with what to do instead', async (statement) => {
    const client = /Run it in a client of the database, such as psql/
    await expect(ask(`SELECT * FROM writer (${statement})`)).rejects.toThrow(client)
    await expect(ask(`SELECT * FROM writer (${statement})`)).rejects.toThrow(/cannot (?:run|be executed)/)
    const refused = ask(`SELECT * FROM reader (${statement})`)
    await expect(refused).rejects.toThrow(client)
    await expect(refused).rejects.toThrow(/begins with \w+, and this connection only reads/)
    await expect(refused).rejects.not.toThrow(/"writable"/)
    await expect(ask(`EXPLAIN SELECT * FROM writer (${statement})`)).rejects.toThrow(client)
  })

  test.each(['CALL tidy()', '$q$DO $$ BEGIN DELETE FROM notes; COMMIT; END $$$q$'])(
    'a procedure that commits is refused, and leaves nothing: %s',
    async (statement) => {
      await expect(ask(`SELECT * FROM writer (${statement})`)).rejects.toThrow(/invalid transaction termination.*such as psql/s)
      await expect(ask(`SELECT * FROM reader (${statement})`)).rejects.toThrow(/this connection only reads/)
      expect(await kept()).toEqual([['kept']])
    },
  )

  test.each([
    'BEGIN',
    'begin read write',
    'START TRANSACTION',
    'COMMIT',
    '/* both */ COMMIT AND CHAIN',
    'END',
    '-- back\nROLLBACK',
    'ABORT',
    'SAVEPOINT here',
    'RELEASE here',
    "PREPARE TRANSACTION 'later'",
  ])('%s is refused: statements cannot be put together to a transaction', async (statement) => {
    for (const connection of ['reader', 'writer'])
      await expect(ask(`SELECT * FROM ${connection} (${statement}\n)`)).rejects.toThrow(
        /each statement is a transaction of its own.*Send what belongs together as one statement/s,
      )
  })

  test.each(['CALL mark()', 'VACUUM notes', 'REINDEX TABLE notes', "COMMENT ON TABLE notes IS 'all'", 'ALTER TABLE notes ADD n int'])(
    '%s in the SQL of this service is refused, in the context of a connection with the way to its database',
    async (statement) => {
      const way = /A statement of the database itself is sent by SELECT \* FROM writer \(…\)/
      await expect(ask(statement, 'writer')).rejects.toThrow(way)
      const elsewhere = ask(statement)
      await expect(elsewhere).rejects.toThrow()
      await expect(elsewhere).rejects.not.toThrow(/database itself/)
    },
  )

  test('a whole statement for the connection is refused in the same way', async () => {
    for (const [query, says] of [
      ['VACUUM notes', /Run it in a client/],
      ['ROLLBACK', /a transaction of its own/],
    ] as const) {
      const { body } = await send(service.url, 'POST', '/api/sql/query', { query, context: { db: 'writer', native_query: true } })
      expect(body).toMatchObject({ type: 'error', error_message: expect.stringMatching(says) as unknown })
    }
  })
})

describe('MySQL', () => {
  let connections: Connections
  let server: MysqlServer

  beforeAll(async () => {
    connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
    server = await startMysql()
  })
  afterAll(() => {
    connections.stop()
    server.stop()
  })

  const run = async (native: string, writable: boolean) =>
    readAll(await duck(), connections, toMysql(server, { writable }), { native, writes: true })

  test.each(['CALL refill()', 'ANALYZE TABLE notes', 'OPTIMIZE TABLE notes', 'BEGIN NOT ATOMIC INSERT INTO notes VALUES (1); END'])(
    '%s is sent on a writable connection alone',
    async (native) => {
      server.asked.length = 0
      expect(await problemOf(run(native, false))).toMatchObject({
        code: 'refused_statement',
        detail: expect.stringContaining('this connection only reads') as unknown,
        extras: { hint: expect.stringContaining('"writable": true') as unknown },
      })
      expect(server.asked).not.toContain(native)
      await run(native, true)
      expect(server.asked.slice(-3)).toEqual(['START TRANSACTION', native, 'COMMIT'])
    },
  )

  test('a procedure with several answers gives its first one', async () => {
    const { types, rows } = await run('CALL refill()', true)
    expect([types, rows]).toEqual([{ first: 'BIGINT' }, [['1']]])
  })

  test.each(['START TRANSACTION WITH CONSISTENT SNAPSHOT', 'COMMIT', 'ROLLBACK TO here', "XA START 'x'"])(
    '%s is refused: statements cannot be put together to a transaction',
    async (native) => {
      server.asked.length = 0
      for (const writable of [false, true])
        expect(await problemOf(run(native, writable))).toMatchObject({
          code: 'refused_statement',
          extras: { hint: expect.stringContaining('CALL of a procedure') as unknown },
        })
      expect(server.asked).not.toContain(native)
    },
  )
})
