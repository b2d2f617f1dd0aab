import { perLine } from '../../support/sql/twins.js'

/** Files, directories, the network. */
export const files = perLine(String.raw`
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('/etc/passwd')
SELECT * FROM read_csv(['/etc/passwd', '/etc/group'])
SELECT * FROM read_csv('/etc/*', union_by_name = true, filename = true)
SELECT * FROM read_csv('/etc/passwd', store_rejects = true)
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM read_text('/proc/self/maps')
SELECT * FROM read_text('../../../../etc/passwd')
SELECT * FROM read_text('vault.key')
SELECT * FROM read_text('file:///etc/passwd')
SELECT * FROM read_text('~/.ssh/id_rsa')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_blob('log.sqlite')
SELECT * FROM read_json('/etc/passwd')
SELECT * FROM read_json_auto('x.json')
SELECT * FROM read_json_objects('x.json')
SELECT * FROM read_json_objects_auto('x.json')
SELECT * FROM read_ndjson('x.json')
SELECT * FROM read_ndjson_auto('x.json')
SELECT * FROM read_ndjson_objects('x.json')
SELECT * FROM read_parquet('x.parquet')
SELECT * FROM read_parquet('*')
SELECT * FROM read_parquet(['a', 'b'], hive_partitioning = true)
SELECT * FROM parquet_scan('x.parquet')
SELECT * FROM parquet_metadata('x.parquet')
SELECT * FROM parquet_schema('x.parquet')
SELECT * FROM parquet_kv_metadata('x.parquet')
SELECT * FROM parquet_file_metadata('x.parquet')
SELECT * FROM parquet_full_metadata('x.parquet')
SELECT * FROM parquet_bloom_probe('x.parquet', 'a', 1)
SELECT * FROM read_duckdb('x.duckdb')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM glob('/*')
SELECT * FROM glob('**')
SELECT * FROM glob(['/etc/*', '/home/*'])
SELECT glob('/*')
SELECT * FROM '/etc/passwd'
SELECT * FROM '/etc/*'
SELECT * FROM '{directory}/x.csv'
SELECT * FROM 'x.json'
SELECT * FROM 'x.parquet' AS t
SELECT * FROM "x.parquet"
SELECT * FROM "/etc/passwd"
SELECT * FROM ${'`'}/etc/passwd${'`'}
SELECT * FROM files."/etc/passwd"
SELECT * FROM files.'x.csv'
SELECT * FROM 'files/../../vault.key'
FROM '/etc/passwd'
TABLE '/etc/passwd'
TABLE "x.csv"
SUMMARIZE '/etc/passwd'
SUMMARIZE SELECT * FROM read_csv('/etc/passwd')
DESCRIBE SELECT * FROM '/etc/passwd'
SELECT * FROM (DESCRIBE SELECT * FROM read_text('/etc/passwd'))
PIVOT '/etc/passwd' ON column0 USING count(*)
PIVOT read_csv('/etc/passwd') ON column0 USING count(*)
PIVOT files.rentals ON (SELECT content FROM read_text('/etc/passwd')) USING count(*)
UNPIVOT 'x.csv' ON a
SELECT * FROM 'https://example.com/x.csv'
SELECT * FROM 'http://169.254.169.254/latest/meta-data/'
SELECT * FROM 's3://bucket/x.parquet'
SELECT * FROM 'gcs://bucket/x.parquet'
SELECT * FROM 'hf://datasets/x/y.csv'
SELECT * FROM read_parquet('https://example.com/x.parquet')
SELECT * FROM read_text('http://127.0.0.1:47334/api/status')
SELECT (SELECT content FROM read_text('/etc/hostname'))
WITH a AS (SELECT * FROM read_text('/etc/hostname')) SELECT * FROM a
WITH a AS (SELECT * FROM read_text('/etc/hostname')) SELECT 1
WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT length(content) FROM a, read_text('/etc/passwd')) SELECT * FROM a
SELECT * FROM files.rentals UNION SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM files.rentals WHERE sqft IN (SELECT length(content) FROM read_text('/etc/passwd'))
SELECT * FROM files.rentals t, LATERAL (SELECT * FROM read_text('/etc/passwd')) x
SELECT * FROM files.rentals t JOIN read_text('/etc/passwd') x ON true
SELECT * FROM files.rentals t POSITIONAL JOIN read_text('/etc/passwd') x
SELECT * FROM files.rentals t ASOF JOIN read_csv('/etc/passwd') x ON t.sqft >= x.a
SELECT * FROM files.rentals ORDER BY (SELECT content FROM read_text('/etc/passwd'))
SELECT * FROM files.rentals LIMIT (SELECT count(*) FROM read_text('/etc/passwd'))
SELECT * FROM files.rentals OFFSET (SELECT count(*) FROM glob('/*'))
SELECT * FROM files.rentals GROUP BY ALL HAVING (SELECT true FROM read_text('/etc/passwd'))
SELECT * FROM files.rentals QUALIFY (SELECT true FROM read_text('/etc/passwd'))
SELECT sum(sqft) FILTER (WHERE EXISTS (FROM read_text('/etc/passwd'))) FROM files.rentals
SELECT list(sqft ORDER BY (SELECT content FROM read_text('/etc/passwd'))) FROM files.rentals
SELECT row_number() OVER (ORDER BY (SELECT content FROM read_text('/etc/passwd'))) FROM files.rentals
SELECT sum(sqft) OVER (ROWS BETWEEN (SELECT length(content) FROM read_text('/etc/passwd')) PRECEDING AND CURRENT ROW) FROM files.rentals
SELECT sum(sqft) OVER w FROM files.rentals WINDOW w AS (PARTITION BY (SELECT content FROM read_text('/etc/passwd')))
SELECT DISTINCT ON ((SELECT content FROM read_text('/etc/passwd'))) * FROM files.rentals
SELECT CASE WHEN (SELECT 1 FROM read_text('/etc/passwd')) THEN 1 END
SELECT list_transform([1], lambda x: (SELECT content FROM read_text('/etc/passwd')))
SELECT [x FOR x IN (SELECT list(content) FROM read_text('/etc/passwd'))]
SELECT {'a': (SELECT content FROM read_text('/etc/passwd'))}
SELECT * REPLACE ((SELECT content FROM read_text('/etc/passwd')) AS sqft) FROM files.rentals
SELECT COLUMNS(c -> c = (SELECT content FROM read_text('/etc/passwd'))) FROM files.rentals
SELECT * FROM range((SELECT length(content) FROM read_text('/etc/passwd')))
SELECT * FROM unnest((SELECT list(content) FROM read_text('/etc/passwd')))
SELECT * FROM (VALUES ((SELECT content FROM read_text('/etc/passwd')))) AS t(a)
VALUES ((SELECT content FROM read_text('/etc/passwd')))
FROM read_text('/etc/passwd')
FROM read_text('/etc/passwd') SELECT content
SELECT * FROM main.read_text('/etc/passwd')
SELECT * FROM system.main.read_text('/etc/passwd')
SELECT * FROM pg_catalog.read_text('/etc/passwd')
SELECT * FROM READ_TEXT('/etc/passwd')
SELECT * FROM "read_text"('/etc/passwd')
SELECT * FROM "READ_TEXT"('/etc/passwd')
SELECT * FROM ${'`'}read_text${'`'}('/etc/passwd')
SELECT * FROM read_text/**/('/etc/passwd')
SELECT * FROM read_text ( '/etc/passwd' )
SELECT '/etc/passwd'.read_text()
SELECT 'x'.glob()
COPY (SELECT 1) TO '{directory}/attack.csv'
COPY files.rentals TO '{directory}/attack.parquet'
COPY files.rentals FROM '/etc/passwd'
COPY (SELECT 1) TO '/dev/stdout'
COPY FROM DATABASE memory TO other
EXPORT DATABASE '{directory}/attack'
IMPORT DATABASE '{directory}/attack'
SELECT parquet_metadata('x')
SELECT read_text('/etc/passwd')
SELECT read_csv('/etc/passwd')
SELECT * FROM add_parquet_key('k', 'x')
SELECT * FROM copy_database('a', 'b')
SELECT * FROM import_database('a')
`)

/** Extensions and other databases. */
export const extensions = perLine(String.raw`
INSTALL httpfs
INSTALL httpfs FROM community
INSTALL '{directory}/evil.duckdb_extension'
LOAD httpfs
LOAD '{directory}/evil.duckdb_extension'
FORCE INSTALL spatial
UPDATE EXTENSIONS
ATTACH '{directory}/x.duckdb'
ATTACH '{directory}/attack.duckdb' AS x (READ_WRITE)
ATTACH ':memory:' AS x
ATTACH 'dbname=x' AS pg (TYPE postgres)
ATTACH 'log.sqlite' AS s (TYPE sqlite)
ATTACH IF NOT EXISTS 'https://example.com/x.duckdb'
DETACH memory
USE memory
USE memory.ledger
USE system
USE temp
SELECT * FROM arrow_scan(0, 0, 0)
SELECT * FROM arrow_scan_dumb(0, 0, 0)
SELECT * FROM seq_scan('x')
SELECT * FROM duckdb_extensions()
SELECT * FROM extension_versions()
SELECT * FROM postgres_scan('host=x', 'public', 't')
SELECT * FROM sqlite_scan('log.sqlite', 'events')
SELECT * FROM mysql_query('x', 'SELECT 1')
SELECT * FROM iceberg_scan('x')
SELECT * FROM delta_scan('x')
SELECT * FROM st_read('x')
SELECT * FROM read_xlsx('x.xlsx')
SELECT http_get('http://127.0.0.1')
SELECT load_extension('x')
CALL pragma_version()
CALL dbgen(sf = 1)
SELECT * FROM dbgen(sf = 1)
SELECT * FROM tpch(1)
`)
