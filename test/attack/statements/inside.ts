import { perLine } from '../../support/sql/twins.js'

/** Settings, variables, profiling, logging, secrets, the environment. */
export const settings = perLine(String.raw`
SET memory_limit = 0
SET enable_external_access = true
SET lock_configuration = false
SET GLOBAL threads = 64
SET SESSION threads = 64
SET LOCAL threads = 64
SET temp_directory = '{directory}/attack'
SET home_directory = '{directory}/attack'
SET allowed_directories = ['/']
SET custom_extension_repository = 'http://127.0.0.1'
SET schema = 'ledger'
SET search_path = 'ledger'
SET max_expression_depth = 1000000
RESET memory_limit
RESET lock_configuration
SET VARIABLE x = 1
SELECT getvariable('x')
SELECT current_setting('memory_limit')
SELECT current_setting('temp_directory')
SELECT current_setting('secret_directory')
SELECT 'temp_directory'.current_setting()
SELECT getenv('HOME')
SELECT getenv('VAULT_KEY')
SELECT 'VAULT_KEY'.getenv()
PRAGMA database_list
PRAGMA enable_profiling
PRAGMA enable_logging
PRAGMA disable_verification
PRAGMA show_tables
PRAGMA table_info('ledger.events')
PRAGMA memory_limit = '100GB'
PRAGMA version
SELECT * FROM enable_logging(storage = 'file')
SELECT * FROM enable_logging('QueryLog', storage := 'file', storage_config := {'path': '{directory}/attack'})
SELECT * FROM disable_logging()
SELECT * FROM truncate_duckdb_logs()
CALL enable_logging()
SELECT * FROM enable_profiling('json')
SELECT * FROM enable_object_cache()
SELECT * FROM disable_optimizer()
SELECT * FROM disable_checkpoint_on_shutdown()
SELECT * FROM enable_verification()
SELECT * FROM verify_parallelism()
SELECT * FROM all_profiling_output()
SELECT write_log('x')
SELECT parse_duckdb_log_message('QueryLog', 'x')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_settings
SELECT * FROM duckdb_logs()
SELECT * FROM duckdb_logs
SELECT * FROM duckdb_logs_parsed('QueryLog')
SELECT * FROM duckdb_log_contexts()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_secrets
SELECT * FROM duckdb_secret_types()
SELECT * FROM duckdb_profiling_settings()
SELECT * FROM which_secret('s3://x', 's3')
CREATE SECRET x (TYPE s3)
CREATE PERSISTENT SECRET x (TYPE s3)
DROP SECRET x
SELECT * FROM pragma_user_agent()
SELECT * FROM pragma_platform()
SELECT * FROM pragma_version()
SELECT * FROM platform()
SELECT * FROM user_agent()
SELECT * FROM force_checkpoint()
SELECT * FROM checkpoint()
CHECKPOINT
FORCE CHECKPOINT
VACUUM
VACUUM ANALYZE ledger.events
ANALYZE
SELECT @@datadir
SELECT @@global.secure_file_priv
SELECT @@hostname
SELECT @x := 1
SELECT inet_server_addr()
SELECT inet_client_addr()
SELECT inet_server_port()
SELECT current_connection_id()
SELECT current_transaction_id()
SELECT current_query_id()
SELECT txid_current()
SELECT pg_postmaster_start_time()
SELECT pg_conf_load_time()
SELECT load_file('/etc/passwd')
SELECT 1 INTO OUTFILE '{directory}/attack'
SELECT sys_exec('id')
SELECT xp_cmdshell('id')
SELECT pg_read_file('/etc/passwd')
SELECT lo_import('/etc/passwd')
SELECT benchmark(100000000, md5('x'))
SELECT sleep(100)
`)

/** DuckDB's own catalogue, and the tables behind ours. */
export const catalogue = perLine(String.raw`
SELECT * FROM duckdb_tables()
SELECT * FROM duckdb_columns()
SELECT * FROM duckdb_databases()
SELECT * FROM duckdb_functions()
SELECT * FROM duckdb_views()
SELECT * FROM duckdb_schemas()
SELECT * FROM duckdb_types()
SELECT * FROM duckdb_constraints()
SELECT * FROM duckdb_indexes()
SELECT * FROM duckdb_sequences()
SELECT * FROM duckdb_dependencies()
SELECT * FROM duckdb_keywords()
SELECT * FROM duckdb_optimizers()
SELECT * FROM duckdb_memory()
SELECT * FROM duckdb_connection_count()
SELECT * FROM duckdb_approx_database_count()
SELECT * FROM duckdb_table_sample('ledger.events')
SELECT * FROM duckdb_temporary_files()
SELECT * FROM duckdb_prepared_statements()
SELECT * FROM duckdb_variables()
SELECT * FROM duckdb_external_file_cache()
SELECT * FROM duckdb_tables
SELECT * FROM duckdb_views
SELECT * FROM sqlite_master
SELECT * FROM sqlite_schema
SELECT * FROM main.sqlite_master
SELECT * FROM temp.sqlite_master
SELECT * FROM pg_tables
SELECT * FROM pg_catalog.pg_tables
SELECT * FROM pg_catalog.pg_class
SELECT * FROM pg_catalog.pg_proc
SELECT * FROM pg_catalog.pg_settings
SELECT * FROM pg_catalog.pg_views
SELECT * FROM "pg_catalog"."pg_attribute"
SELECT * FROM mysql.user
SELECT * FROM performance_schema.threads
SELECT * FROM sys.tables
SELECT * FROM ledger.events
SELECT * FROM ledger.skills_history
SELECT * FROM "ledger"."databases_history"
SELECT * FROM ${'`'}ledger${'`'}.${'`'}events${'`'}
SELECT * FROM LEDGER.EVENTS
SELECT * FROM Ledger . Events
SELECT * FROM ledger.payloads
SELECT * FROM memory.ledger.events
SELECT * FROM sqlProcess.ledger.events
SELECT * FROM "analytics"."ledger"."events"
SELECT * FROM system.information_schema.tables
SELECT * FROM memory.information_schema.tables
SELECT * FROM temp.information_schema.tables
SELECT * FROM system.main.duckdb_tables
SELECT * FROM system.main.duckdb_settings()
SELECT * FROM main.events
SELECT * FROM events
SELECT * FROM shop.events_history
SELECT * FROM shop.skills.events
SELECT ledger.events.data FROM files.rentals
SELECT (SELECT max(data) FROM ledger.events)
SELECT * FROM files.rentals, ledger.events
SELECT * FROM files.rentals NATURAL JOIN ledger.events
SELECT * FROM files.rentals WHERE EXISTS (SELECT 1 FROM ledger.events)
WITH events AS (SELECT * FROM ledger.events) SELECT * FROM events
SELECT * FROM ledger.events AT (VERSION => 1)
SELECT * FROM information_schema.ledger
SELECT * FROM log.payloads
SELECT * FROM log.salts
SELECT * FROM temp.ledger_stage_0
SELECT * FROM ledger_stage_0
SELECT * FROM temp.x
SELECT * FROM ledger_cte_1
WITH a AS (SELECT 1) SELECT * FROM ledger_cte_1
WITH projects AS (SELECT 1 AS a) SELECT * FROM fixed
SELECT * FROM fixed
SELECT * FROM offered
WITH RECURSIVE duckdb_tables AS (SELECT table_name FROM duckdb_tables UNION ALL SELECT 'x' FROM duckdb_tables WHERE false) SELECT * FROM duckdb_tables
WITH RECURSIVE sqlite_master AS (SELECT name FROM (SELECT * FROM sqlite_master) UNION SELECT 'x' FROM sqlite_master) SELECT * FROM sqlite_master
WITH RECURSIVE duckdb_views AS (SELECT 1 UNION SELECT 1 FROM duckdb_views WHERE false), x AS (SELECT * FROM (WITH duckdb_tables AS (SELECT 1) SELECT 1), duckdb_tables) SELECT * FROM x
WITH duckdb_columns AS (SELECT * FROM duckdb_columns) SELECT * FROM duckdb_columns
WITH a AS (SELECT * FROM duckdb_tables), duckdb_tables AS (SELECT 1) SELECT * FROM a
SELECT * FROM (WITH duckdb_columns AS (SELECT 1 AS z) SELECT z FROM duckdb_columns) UNION ALL SELECT 1 FROM duckdb_columns
WITH RECURSIVE a AS (SELECT 1 AS n UNION SELECT n FROM recurring.a) SELECT * FROM a
WITH RECURSIVE a USING KEY (n) AS (SELECT 1 AS n UNION SELECT n FROM recurring.ledger_cte_1) SELECT * FROM a
SELECT * FROM pragma_table_info('ledger.events')
SELECT * FROM pragma_storage_info('ledger.events')
SELECT * FROM pragma_metadata_info()
SELECT * FROM pragma_database_size()
SELECT * FROM pragma_show('x')
SELECT * FROM pragma_collations()
SELECT * FROM database_list()
SELECT * FROM show_tables()
SELECT * FROM storage_info('ledger.events')
SELECT * FROM table_info('ledger.events')
DESCRIBE ledger.events
SUMMARIZE ledger.events
SUMMARIZE SELECT * FROM ledger.events
SUMMARIZE duckdb_settings()
DESCRIBE SELECT * FROM ledger.events
PIVOT ledger.events ON type USING count(*)
SELECT * FROM (DESCRIBE ledger.events)
SELECT * FROM (SHOW TABLES)
SELECT * FROM (SHOW ALL TABLES)
SELECT * FROM (SHOW DATABASES)
SELECT * FROM (SHOW ledger.events)
SELECT * FROM (SUMMARIZE ledger.events)
WITH a AS (SHOW TABLES) SELECT * FROM a
FROM (DESCRIBE SELECT * FROM ledger.events)
SELECT * FROM sql_auto_complete('SEL')
SELECT stats(1)
SELECT current_query()
SELECT current_schemas(true)
SELECT in_search_path('memory', 'main')
SELECT has_table_privilege('x', 'select')
SELECT pg_get_viewdef(1)
SELECT pg_get_expr('x', 1)
SELECT obj_description(1, 'x')
SELECT col_description(1, 1)
SELECT format_pg_type('x')
SELECT 'events'::regclass
SELECT 1::oid::regproc
`)

/** Text that would be run as SQL. */
export const textAsSql = perLine(String.raw`
SELECT "version() AS q, z".* FROM (SELECT 1 AS a) AS z
SELECT "(SELECT to_json(list(x)) FROM (SELECT * FROM ledger.events) AS x) AS q, z".* FROM (SELECT 1 AS a) AS z
SELECT "(SELECT content FROM read_text('/etc/passwd')) AS q, z".* EXCLUDE (a) FROM (SELECT 1 AS a) AS z
SELECT "a, z".* REPLACE (1 AS a) FROM (SELECT 1 AS a) AS z
PIVOT (SELECT "1 AS a) AS q) AS t; ROLLBACK; UPDATE ledger.events SET actor = 'mallory'; SELECT v FROM (SELECT v FROM (SELECT a AS v, z".* FROM (SELECT 1 AS a) AS z) ON a USING count(*)
PIVOT (SELECT "1 AS a) AS q) AS t; ROLLBACK; COPY (SELECT 666) TO '{directory}/attack'; SELECT v FROM (SELECT v FROM (SELECT a AS v, z".* FROM (SELECT 1 AS a) AS z) ON a USING count(*)
SELECT * FROM query('SELECT 1')
SELECT * FROM query('SELECT * FROM ledger.events')
SELECT * FROM query(concat('SEL', 'ECT 1'))
SELECT * FROM query_table('ledger.events')
SELECT * FROM query_table(['ledger.events'])
SELECT * FROM query_table(events)
SELECT query('SELECT 1')
SELECT * FROM json_execute_serialized_sql('{}')
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
SELECT json_serialize_sql('SELECT 1')
SELECT json_deserialize_sql('{}')
SELECT json_serialize_plan('SELECT 1')
PRAGMA json_execute_serialized_sql('{}')
PREPARE x AS SELECT 1
PREPARE x AS DELETE FROM ledger.events
EXECUTE x
EXECUTE x(1)
DEALLOCATE x
DEALLOCATE ALL
EXECUTE IMMEDIATE 'SELECT 1'
CALL query('SELECT 1')
SELECT * FROM histogram_values('ledger.events', position)
FROM histogram('ledger.events', position)
SELECT * FROM check_peg_parser('SELECT 1')
SELECT make_type('x')
SELECT * FROM test_all_types()
SELECT * FROM test_vector_types(NULL::INT)
SELECT * FROM summary(1)
SELECT eval('1')
SELECT list_aggregate([1], 'read_text')
SELECT list_aggregate(['x'], 'getenv')
`)

/** Whatever would change something. */
export const changes = perLine(String.raw`
CREATE TABLE x (a INT)
CREATE TABLE ledger.x AS SELECT 1
CREATE TEMP TABLE x AS SELECT 1
CREATE TEMPORARY TABLE IF NOT EXISTS x (a INT)
CREATE TEMP VIEW x AS SELECT 1
CREATE RECURSIVE VIEW x (n) AS SELECT 1
CREATE MACRO x() AS 1
CREATE MACRO upper(a) AS 'x'
CREATE FUNCTION x() AS 1
CREATE OR REPLACE TEMP MACRO x() AS TABLE SELECT 1
CREATE SEQUENCE x
CREATE SCHEMA ledger
CREATE TYPE x AS ENUM ('a')
CREATE INDEX x ON ledger.events(position)
DROP TABLE ledger.events
DROP SCHEMA ledger CASCADE
DROP VIEW ledger.events
DROP MACRO x
DROP TYPE x
ALTER TABLE ledger.events ADD COLUMN x INT
ALTER TABLE ledger.events RENAME TO x
ALTER DATABASE memory RENAME TO x
INSERT INTO ledger.events VALUES (1)
INSERT INTO skills VALUES (1)
INSERT OR REPLACE INTO ledger.events VALUES (1)
REPLACE INTO ledger.events VALUES (1)
UPDATE ledger.events SET actor = 'x'
UPDATE skills SET name = 'x'
DELETE FROM ledger.events
DELETE FROM skills
TRUNCATE ledger.events
MERGE INTO ledger.events USING x ON true WHEN MATCHED THEN DELETE
WITH x AS (INSERT INTO ledger.events VALUES (1) RETURNING *) SELECT * FROM x
WITH x AS (DELETE FROM ledger.events RETURNING *) SELECT * FROM x
WITH x AS (UPDATE ledger.events SET actor = 'x' RETURNING *) SELECT * FROM x
WITH x AS (SELECT 1) INSERT INTO ledger.events SELECT * FROM x
WITH x AS (SELECT 1) DELETE FROM ledger.events
SELECT * FROM (INSERT INTO ledger.events VALUES (1) RETURNING *)
FROM (DELETE FROM ledger.events RETURNING *)
SELECT 1 INTO x
SELECT * INTO TEMP x FROM files.rentals
SELECT * FROM files.rentals FOR UPDATE
SELECT * FROM files.rentals FOR SHARE
SELECT nextval('x')
SELECT currval('x')
SELECT setseed(0.5)
EXPLAIN INSERT INTO ledger.events VALUES (1)
EXPLAIN ANALYZE INSERT INTO ledger.events VALUES (1)
EXPLAIN ANALYZE DELETE FROM ledger.events
COMMENT ON TABLE ledger.events IS 'x'
LOCK TABLE ledger.events
GRANT ALL ON ledger.events TO x
KILL 1
SHUTDOWN
`)
