import { afterAll, beforeAll, expect, test } from '@jest/globals'
import mysql from 'mysql2/promise'
import { countOf } from '../support/counts.js'
import { password, startPostgres, type Postgres } from '../support/connections/postgres.js'
import { comparable, Queries } from '../support/connections/random-selects.js'
import { seeded } from '../support/random.js'
import { send, sql, startTestService } from '../support/service.js'

const count = countOf('CONNECTED_SELECTS')
const seed = countOf('SEED')

let postgres: Postgres
let service: Awaited<ReturnType<typeof startTestService>>

beforeAll(async () => {
  postgres = await startPostgres()
  await postgres.run(`
    CREATE TYPE feeling AS ENUM ('sad', 'ok');
    CREATE TABLE t (id int PRIMARY KEY, n int, big bigint, amount numeric(10,2), name text, tag varchar(8), d date, seen timestamp, b boolean,
      ratio double precision, loose numeric, moment timestamptz, key uuid, mood feeling, padded char(4), small smallint);
    INSERT INTO t SELECT i, nullif(i % 7, 3), 9007199254740993 + i % 3, nullif((i % 11) * 12.35, 0), (ARRAY['a', 'A', 'Ä', 'ab ', '', '10%', NULL, 'straße'])[1 + i % 8],
      (ARRAY['x', 'y', NULL])[1 + i % 3], date '2026-01-30' + i % 5, timestamp '2026-02-28 23:59:59.5' + i % 4 * interval '1 second', (ARRAY[true, false, NULL])[1 + i % 3],
      (ARRAY[0.1, -1, 'NaN', '-0', 'Infinity', NULL, 1e300]::float8[])[1 + i % 7], nullif((i % 9) * 0.625, 5), timestamptz '2026-03-01 00:00:00+00' + i % 5 * interval '30 minutes',
      ('00000000-0000-0000-0000-00000000000' || i % 4)::uuid, (ARRAY['ok', 'sad', NULL]::feeling[])[1 + i % 3], (ARRAY['ab', 'x', '', NULL])[1 + i % 4], i % 5 - 2
      FROM generate_series(1, 120) AS i;
    CREATE TABLE u (id int, t int, word text);
    INSERT INTO u SELECT i, nullif(i % 40, 7), (ARRAY['a', 'b', NULL])[1 + i % 3] FROM generate_series(1, 60) AS i`)
  service = await startTestService()
  await send(service.url, 'POST', '/api/databases', {
    database: { name: 'pg', engine: 'postgres', parameters: postgres.connection().parameters },
  })
  for (const table of ['t', 'u']) await sql(service.url, `CREATE VIEW seen_${table} AS (SELECT * FROM pg.${table})`)
})
afterAll(async () => {
  await service.stop()
  await postgres.stop()
})

test(`of ${count} random SELECTs over a connected database each is answered as the database answers it`, async () => {
  for (let i = 0; i < count; i++) {
    const query = new Queries(seeded(seed * 1_000_003 + i), true).statement()
    const of = (prefix: string) => query.replaceAll('{t}', `${prefix}t`).replaceAll('{u}', `${prefix}u`)
    const theirs = await postgres.rows(of(''))
    // Some are asked through a view as well.
    for (const prefix of i % 3 === 0 ? ['pg.', 'seen_'] : ['pg.']) {
      const ours = await sql(service.url, of(prefix))
      expect({ query, prefix, error: ours.error_message }).toEqual({ query, prefix, error: undefined })
      expect({ query, prefix, rows: comparable(ours.data) }).toEqual({ query, prefix, rows: comparable(theirs) })
    }
  }
})

/** The same for MariaDB, where its server runs: see test/int/connections/mariadb.test.ts. */
const port = Number(process.env['MARIADB_PORT'] ?? 0)
const ofMariaDb = port > 0 ? test : test.skip

/** The statement as MariaDB takes it: it casts to CHAR, counts characters under another name, and has no NULLS LAST. */
const asMariaDb = (query: string): string =>
  query
    .replaceAll(' AS varchar)', ' AS char)')
    .replaceAll('length(', 'char_length(')
    .replaceAll('ORDER BY 1 NULLS LAST, 2 NULLS LAST', 'ORDER BY tag IS NULL, tag, b IS NULL, b')

ofMariaDb(`of ${count} random SELECTs over MariaDB each is answered as it answers it`, async () => {
  const parameters = { host: '127.0.0.1', port, user: 'me', password, database: 'shop' }
  const client = await mysql.createConnection({ ...parameters, rowsAsArray: true, typeCast: false, multipleStatements: true })
  // Texts are compared by their bytes, as everywhere here.
  const bytes = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin'
  await client.query(`
      CREATE OR REPLACE TABLE t (id int PRIMARY KEY, n int, big bigint, amount decimal(10,2), name text, tag varchar(8), d date, seen datetime(6), b boolean) ${bytes};
      INSERT INTO t SELECT seq, nullif(seq % 7, 3), 9007199254740993 + seq % 3, nullif((seq % 11) * 12.35, 0), ELT(1 + seq % 8, 'a', 'A', 'Ä', 'ab ', '', '10%', NULL, 'straße'),
        ELT(1 + seq % 3, 'x', 'y', NULL), date '2026-01-30' + interval seq % 5 day, timestamp '2026-02-28 23:59:59.5' + interval seq % 4 second, ELT(1 + seq % 3, 1, 0, NULL)
        FROM seq_1_to_120;
      CREATE OR REPLACE TABLE u (id int, t int, word text) ${bytes};
      INSERT INTO u SELECT seq, nullif(seq % 40, 7), ELT(1 + seq % 3, 'a', 'b', NULL) FROM seq_1_to_60`)
  await send(service.url, 'POST', '/api/databases', { database: { name: 'my', engine: 'mariadb', parameters } })
  for (let i = 0; i < count; i++) {
    const query = new Queries(seeded(seed * 1_000_003 + i)).statement()
    const of = (prefix: string) => query.replaceAll('{t}', `${prefix}t`).replaceAll('{u}', `${prefix}u`)
    const [found] = await client.query(asMariaDb(of('')))
    // It writes all six digits of a time.
    const theirs = (found as (Buffer | null)[][]).map((row) =>
      row.map((cell) => cell?.toString().replace(/(:\d\d\.\d+?)0+$/, '$1') ?? null),
    )
    const ours = await sql(service.url, of('my.'))
    expect({ query, error: ours.error_message }).toEqual({ query, error: undefined })
    expect({ query, rows: comparable(ours.data) }).toEqual({ query, rows: comparable(theirs) })
  }
  await client.end()
})
