import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isProblem, type Problem } from '../../src/errors.js'
import { readdir } from 'node:fs/promises'
import { shopLedger } from '../support/shop.js'
import type { TestLedger } from '../support/ledger.js'

const attacks: Record<string, string[]> = {
  'files and network': [
    `SELECT * FROM read_csv('/etc/passwd')`,
    `SELECT * FROM read_csv_auto('/etc/passwd')`,
    `SELECT * FROM read_text('/etc/passwd')`,
    `SELECT * FROM read_blob('/etc/passwd')`,
    `SELECT * FROM read_json('/etc/passwd')`,
    `SELECT * FROM read_json_auto('x.json')`,
    `SELECT * FROM read_json_objects('x.json')`,
    `SELECT * FROM read_ndjson('x.json')`,
    `SELECT * FROM read_ndjson_objects('x.json')`,
    `SELECT * FROM read_parquet('x.parquet')`,
    `SELECT * FROM parquet_scan('x.parquet')`,
    `SELECT * FROM parquet_metadata('x.parquet')`,
    `SELECT * FROM parquet_schema('x.parquet')`,
    `SELECT * FROM parquet_kv_metadata('x.parquet')`,
    `SELECT * FROM parquet_file_metadata('x.parquet')`,
    `SELECT * FROM read_duckdb('x.duckdb')`,
    `SELECT * FROM sniff_csv('/etc/passwd')`,
    `SELECT * FROM glob('/*')`,
    `SELECT * FROM glob('**')`,
    `SELECT glob('/*')`,
    `SELECT * FROM '/etc/passwd'`,
    `SELECT * FROM '/tmp/x.csv'`,
    `SELECT * FROM "x.parquet"`,
    'SELECT * FROM `/etc/passwd`',
    `SELECT * FROM 'https://example.com/x.csv'`,
    `SELECT * FROM 's3://bucket/x.parquet'`,
    `SELECT * FROM read_parquet('https://example.com/x.parquet')`,
    `SELECT content FROM read_text('/proc/self/environ')`,
    `SELECT (SELECT content FROM read_text('/etc/hostname'))`,
    `WITH a AS (SELECT * FROM read_text('/etc/hostname')) SELECT * FROM a`,
    `SELECT * FROM files.rentals UNION SELECT * FROM read_csv('/etc/passwd')`,
    `SELECT * FROM files.rentals WHERE sqft IN (SELECT length(content) FROM read_text('/etc/passwd'))`,
    `SELECT * FROM files.rentals t, LATERAL (SELECT * FROM read_text('/etc/passwd')) x`,
    `SELECT * FROM files.rentals ORDER BY (SELECT content FROM read_text('/etc/passwd'))`,
    `SELECT * FROM files.rentals LIMIT (SELECT count(*) FROM read_text('/etc/passwd'))`,
    `SELECT sum(sqft) FILTER (WHERE EXISTS (FROM read_text('/etc/passwd'))) FROM files.rentals`,
    `SELECT row_number() OVER (ORDER BY (SELECT content FROM read_text('/etc/passwd'))) FROM files.rentals`,
    `SELECT CASE WHEN (SELECT 1 FROM read_text('/etc/passwd')) THEN 1 END`,
    `SELECT list_transform([1], lambda x: (SELECT content FROM read_text('/etc/passwd')))`,
    `VALUES ((SELECT content FROM read_text('/etc/passwd')))`,
    `FROM read_text('/etc/passwd')`,
    `SELECT * FROM main.read_text('/etc/passwd')`,
    `SELECT * FROM system.main.read_text('/etc/passwd')`,
    `SELECT * FROM READ_TEXT('/etc/passwd')`,
    `SELECT * FROM "read_text"('/etc/passwd')`,
    "SELECT * FROM `read_text`('/etc/passwd')",
    `SELECT * FROM read_text/**/('/etc/passwd')`,
    `COPY (SELECT 1) TO '/tmp/attack.csv'`,
    `COPY files.rentals TO '/tmp/attack.parquet'`,
    `COPY files.rentals FROM '/etc/passwd'`,
    `EXPORT DATABASE '/tmp/attack'`,
    `IMPORT DATABASE '/tmp/attack'`,
  ],
  'extensions and other databases': [
    'INSTALL httpfs',
    'LOAD httpfs',
    'FORCE INSTALL spatial',
    'UPDATE EXTENSIONS',
    `ATTACH '/tmp/x.duckdb'`,
    `ATTACH ':memory:' AS x`,
    `ATTACH 'dbname=x' AS pg (TYPE postgres)`,
    'DETACH memory',
    'USE memory',
    `SELECT * FROM arrow_scan(0, 0, 0)`,
    `SELECT * FROM arrow_scan_dumb(0, 0, 0)`,
    `SELECT * FROM seq_scan('x')`,
    `SELECT * FROM duckdb_extensions()`,
    'CALL pragma_version()',
  ],
  settings: [
    'SET memory_limit = 0',
    `SET enable_external_access = true`,
    'SET lock_configuration = false',
    'SET GLOBAL threads = 64',
    'RESET memory_limit',
    `SET VARIABLE x = 1`,
    `SELECT getvariable('x')`,
    `SELECT current_setting('memory_limit')`,
    `SELECT current_setting('temp_directory')`,
    'PRAGMA database_list',
    'PRAGMA enable_profiling',
    `PRAGMA enable_logging`,
    'PRAGMA disable_verification',
    `SELECT * FROM enable_logging(storage = 'file')`,
    `SELECT * FROM enable_logging('QueryLog', storage := 'file', storage_config := {'path': '/tmp/attack'})`,
    `SELECT * FROM disable_logging()`,
    `SELECT * FROM truncate_duckdb_logs()`,
    `CALL enable_logging()`,
    `SELECT * FROM enable_profiling('json')`,
    'SELECT * FROM all_profiling_output()',
    `SELECT write_log('x')`,
    'SELECT * FROM duckdb_settings()',
    'SELECT * FROM duckdb_logs()',
    'SELECT * FROM duckdb_log_contexts()',
    'SELECT * FROM duckdb_secrets()',
    `SELECT * FROM which_secret('s3://x', 's3')`,
    `CREATE SECRET x (TYPE s3)`,
    `SELECT getenv('HOME')`,
    `SELECT * FROM pragma_user_agent()`,
    `SELECT * FROM pragma_platform()`,
    'SELECT * FROM force_checkpoint()',
    'CHECKPOINT',
    'FORCE CHECKPOINT',
    'VACUUM',
    'ANALYZE',
  ],
  catalogue: [
    'SELECT * FROM duckdb_tables()',
    'SELECT * FROM duckdb_columns()',
    'SELECT * FROM duckdb_databases()',
    'SELECT * FROM duckdb_functions()',
    'SELECT * FROM duckdb_views()',
    'SELECT * FROM duckdb_schemas()',
    'SELECT * FROM duckdb_types()',
    'SELECT * FROM duckdb_constraints()',
    'SELECT * FROM duckdb_memory()',
    'SELECT * FROM duckdb_temporary_files()',
    'SELECT * FROM duckdb_prepared_statements()',
    'SELECT * FROM duckdb_variables()',
    'SELECT * FROM duckdb_external_file_cache()',
    'SELECT * FROM duckdb_tables',
    'SELECT * FROM sqlite_master',
    'SELECT * FROM pg_catalog.pg_tables',
    'SELECT * FROM pg_catalog.pg_class',
    'SELECT * FROM main.sqlite_master',
    'SELECT * FROM ledger.events',
    'SELECT * FROM ledger.skills_history',
    'SELECT * FROM "ledger"."databases_history"',
    'SELECT * FROM memory.ledger.events',
    'SELECT * FROM system.information_schema.tables',
    'SELECT * FROM memory.information_schema.tables',
    'SELECT * FROM temp.information_schema.tables',
    'SELECT * FROM system.main.duckdb_tables',
    'SELECT * FROM main.events',
    'SELECT * FROM events',
    'SELECT * FROM shop.events_history',
    `SELECT * FROM pragma_table_info('ledger.events')`,
    `SELECT * FROM pragma_storage_info('ledger.events')`,
    `SELECT * FROM pragma_database_size()`,
    `SELECT * FROM pragma_show('x')`,
    'SHOW TABLES',
    'SHOW ALL TABLES',
    'SHOW DATABASES',
    'DESCRIBE ledger.events',
    'SUMMARIZE ledger.events',
    'SELECT * FROM (DESCRIBE files.rentals)',
    'SELECT * FROM (SHOW TABLES)',
    'SELECT * FROM (SHOW ALL TABLES)',
    'SELECT * FROM (SUMMARIZE files.rentals)',
    'WITH a AS (SHOW TABLES) SELECT * FROM a',
    'FROM (DESCRIBE SELECT * FROM ledger.events)',
    `SELECT * FROM sql_auto_complete('SEL')`,
    `SELECT stats(1)`,
    'SELECT current_query()',
    'SELECT txid_current()',
    'SELECT current_schemas(true)',
    `SELECT in_search_path('memory', 'main')`,
    `SELECT has_table_privilege('x', 'select')`,
    `SELECT pg_get_viewdef(1)`,
    `SELECT obj_description(1, 'x')`,
  ],
  'text run as SQL': [
    `SELECT * FROM query('SELECT 1')`,
    `SELECT * FROM query('SELECT * FROM ledger.events')`,
    `SELECT * FROM query_table('ledger.events')`,
    `SELECT * FROM query_table(['ledger.events'])`,
    `SELECT * FROM json_execute_serialized_sql('{}')`,
    `SELECT json_serialize_sql('SELECT 1')`,
    `SELECT json_deserialize_sql('{}')`,
    `SELECT json_serialize_plan('SELECT 1')`,
    `PRAGMA json_execute_serialized_sql('{}')`,
    `PREPARE x AS SELECT 1`,
    'EXECUTE x',
    'DEALLOCATE x',
    `EXECUTE IMMEDIATE 'SELECT 1'`,
    `SELECT * FROM histogram_values('ledger.events', position)`,
    `FROM histogram('ledger.events', position)`,
  ],
  changes: [
    'CREATE TABLE x (a INT)',
    'CREATE TEMP TABLE x AS SELECT 1',
    'CREATE TEMP VIEW x AS SELECT 1',
    'CREATE OR REPLACE VIEW x AS SELECT 1',
    'CREATE MACRO x() AS 1',
    'CREATE TEMP MACRO x() AS TABLE SELECT 1',
    'CREATE SEQUENCE x',
    'CREATE SCHEMA x',
    `CREATE TYPE x AS ENUM ('a')`,
    'CREATE INDEX x ON ledger.events(position)',
    'DROP TABLE ledger.events',
    'DROP SCHEMA ledger CASCADE',
    'ALTER TABLE ledger.events ADD COLUMN x INT',
    'INSERT INTO ledger.events VALUES (1)',
    `UPDATE ledger.events SET actor = 'x'`,
    'DELETE FROM ledger.events',
    'TRUNCATE ledger.events',
    'MERGE INTO ledger.events USING x ON true WHEN MATCHED THEN DELETE',
    'WITH x AS (INSERT INTO ledger.events VALUES (1) RETURNING *) SELECT * FROM x',
    'WITH x AS (DELETE FROM ledger.events RETURNING *) SELECT * FROM x',
    'SELECT 1 INTO x',
    'SELECT * FROM files.rentals FOR UPDATE',
    `SELECT nextval('x')`,
    `SELECT currval('x')`,
    'SELECT setseed(0.5)',
    'EXPLAIN SELECT 1',
    'EXPLAIN ANALYZE SELECT 1',
    'EXPLAIN ANALYZE INSERT INTO ledger.events VALUES (1)',
    'BEGIN',
    'COMMIT',
    'ROLLBACK',
    `COMMENT ON TABLE ledger.events IS 'x'`,
  ],
  'several statements, comments and odd characters': [
    'SELECT 1; SELECT 2',
    'SELECT 1; DROP TABLE ledger.events',
    'SELECT 1;\n-- x\nSELECT 2;',
    'SELECT 1 /* ; */; SELECT 2',
    `SELECT 'a\\'; DROP TABLE ledger.events; --'; SELECT 2`,
    `SELECT 1 /*! UNION SELECT * FROM ledger.events */ FROM ledger.events`,
    ';',
    '',
    '-- only a comment',
    `SELECT 'unfinished`,
    'SELECT "unfinished',
    'SELECT /* unfinished',
    'SELECT $$unfinished',
    `SELECT '\u0000'`,
    'SELECT \ud800',
    'SELECT * FROM led\u200bger.events',
    'SELECT * FROM \u2028ledger.events',
    'ＳＥＬＥＣＴ 1',
    'SELECT * FROM ｌedger.events',
    `SELECT * FROM LEDGER.EVENTS`,
    'SELECT ?',
    'SELECT :p',
    'SELECT $1',
    'SELECT @@datadir',
    'SELECT @x := 1',
    'SELECT * FROM :p',
  ],
  'types, pivots and waiting': [
    `SELECT 1::memory.main.x`,
    `SELECT CAST(1 AS ledger.x)`,
    `SELECT 'events'::regclass`,
    `PIVOT files.rentals ON location USING sum(sqft)`,
    `SELECT * FROM (PIVOT files.rentals ON location USING sum(sqft))`,
    `SELECT * FROM (PIVOT ledger.events ON type IN ('a') USING count(*))`,
    `SELECT * FROM files.rentals PIVOT (sum(sqft) FOR location IN some_enum)`,
    `SELECT * FROM (UNPIVOT ledger.events ON position)`,
    `SELECT sleep_ms(100000)`,
    `SELECT pg_sleep(100)`,
    `SELECT * FROM test_all_types()`,
    `SELECT * FROM test_vector_types(NULL::INT)`,
    `SELECT * FROM repeat('x', 1) AS t, duckdb_tables()`,
    `SELECT ledger_score_1(1, 2)`,
    `SELECT memory.main.ledger_score_1(1)`,
    `SELECT __internal_decompress_string(1)`,
    `SELECT icu_sort_key('a', 'de')`,
    `SELECT ${'('.repeat(50_000)}1${')'.repeat(50_000)}`,
    `SELECT ${'abs('.repeat(2000)}1${')'.repeat(2000)}`,
    `SELECT 1${' + 1'.repeat(20_000)}`,
    `SELECT * FROM ${'(SELECT * FROM '.repeat(1500)}files.rentals${')'.repeat(1500)}`,
    `SELECT ${'NOT '.repeat(20_000)}true`,
  ],
  'around a model': [
    `SELECT * FROM read_text('/etc/passwd') t JOIN shop.rent m`,
    `SELECT * FROM shop.rent WHERE sqft = (SELECT length(content) FROM read_text('/etc/passwd'))`,
    `SELECT * FROM shop.rent WHERE sqft = getenv('HOME')`,
    `SELECT * FROM files.rentals t JOIN shop.rent m ON t.sqft = (SELECT count(*) FROM ledger.events)`,
    `SELECT * FROM shop.rent AT (VERSION => (SELECT 1)) WHERE sqft = 1`,
    `SELECT * FROM files.rentals AT (VERSION => length(getenv('HOME')))`,
    `SELECT * FROM files.rentals AT (TIMESTAMP => (SELECT content FROM read_text('/etc/passwd')))`,
    `SELECT t.ledger_scores_0 FROM files.rentals t`,
  ],
}

let ledger: TestLedger

beforeAll(async () => {
  ledger = await shopLedger()
  await ledger.history('views', {
    stream: 'v-x',
    project: 'p-shop',
    name: 'evil',
    query: `SELECT * FROM read_text('/etc/passwd')`,
    database: 'shop',
    from: 30,
  })
  await ledger.history('views', {
    stream: 'v-y',
    project: 'p-shop',
    name: 'evil2',
    query: 'SELECT 1; DROP TABLE ledger.events',
    database: 'shop',
    from: 31,
  })
  ledger.head = 40
  await ledger.lock()
})
afterAll(() => ledger.close())

const refusal = async (sql: string): Promise<Problem> => {
  try {
    await ledger.select(sql)
  } catch (error) {
    if (isProblem(error)) return error
    throw error
  }
  throw new Error('it was answered')
}

const check = async (sql: string) => {
  const problem = await refusal(sql)
  expect(['bad_statement', 'refused_statement', 'not_found', 'query_failed', 'query_limit']).toContain(problem.code)
  expect(problem.detail.length).toBeGreaterThan(10)
  const said = `${problem.detail} ${problem.extras.hint ?? ''}`.replaceAll(sql, '')
  expect(said).not.toContain(ledger.blobs)
  if (!sql.includes('ledger_')) expect(said).not.toMatch(/ledger_|root:|HTTP/)
  expect((await ledger.select('SELECT 1')).data).toEqual([[1]])
}

for (const [group, statements] of Object.entries(attacks)) {
  describe(`${group}: refused, and the next query works`, () => {
    test.each(statements.map((sql) => [sql.length > 120 ? `${sql.slice(0, 60)}… (${sql.length})` : sql, sql]))('%s', (_name, sql) =>
      check(sql),
    )
  })
}

test.each(['SELECT * FROM shop.evil', 'SELECT * FROM shop.evil2'])('a view is held to the same rules: %s', check)

test('nothing was written and nothing was kept', async () => {
  const connection = await ledger.instance.connect()
  const count = await connection.runAndReadAll(
    `SELECT (SELECT count(*) FROM ledger.events), (SELECT count(*) FROM duckdb_tables() WHERE temporary), (SELECT count(*) FROM duckdb_variables())`,
  )
  expect(count.getRows()).toEqual([[40n, 0n, 0n]])
  connection.closeSync()
  expect((await readdir('/tmp')).filter((name) => name.startsWith('attack'))).toEqual([])
})

test('there are at least 150 of them', () => expect(Object.values(attacks).flat().length).toBeGreaterThanOrEqual(150))
