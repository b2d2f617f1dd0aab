import { perLine } from '../../support/sql/twins.js'

/** What is registered for models, and what stands around them; the project has the models rent and tier. */
export const models = perLine(String.raw`
SELECT ledger_score_1(1, 2)
SELECT ledger_score_1(1, 300, 'good', 2)
SELECT memory.main.ledger_score_1(1)
SELECT main.ledger_score_1(1)
SELECT 1.ledger_score_1()
SELECT * FROM ledger_score_1(1)
SELECT list_transform([1], lambda x: ledger_score_1(x))
SELECT t.ledger_scores_0 FROM files.rentals t
SELECT ledger_input_0_0 FROM files.rentals t JOIN shop.rent m
SELECT m.ledger_scores_0 FROM files.rentals t JOIN shop.rent m
SELECT * FROM read_text('/etc/passwd') t JOIN shop.rent m
SELECT * FROM '/etc/passwd' t JOIN shop.rent m
SELECT * FROM ledger.events t JOIN shop.rent m
SELECT * FROM shop.rent WHERE sqft = (SELECT length(content) FROM read_text('/etc/passwd'))
SELECT * FROM shop.rent WHERE sqft = getenv('HOME')
SELECT * FROM shop.rent WHERE sqft = current_setting('memory_limit')
SELECT * FROM shop.rent WHERE location IN (SELECT content FROM read_text('/etc/passwd'))
SELECT * FROM shop.rent WHERE sqft = 1 AND EXISTS (FROM ledger.events)
SELECT * FROM files.rentals t JOIN shop.rent m ON t.sqft = (SELECT count(*) FROM ledger.events)
SELECT * FROM shop.rent AT (VERSION => (SELECT 1)) WHERE sqft = 1
SELECT * FROM shop.rent AT (VERSION => getenv('HOME')) WHERE sqft = 1
SELECT * FROM files.rentals AT (VERSION => length(getenv('HOME')))
SELECT * FROM files.rentals AT (VERSION => nextval('x'))
SELECT * FROM files.rentals AT (TIMESTAMP => (SELECT content FROM read_text('/etc/passwd')))
SELECT * FROM files.rentals AT (TIMESTAMP => sqft)
SELECT * FROM files.rentals AT (TIMESTAMP => row_number() OVER ())
SELECT * FROM files.rentals AT (VERSION => -1)
SELECT * FROM files.rentals AT (VERSION => 0)
SELECT * FROM files.rentals AT (VERSION => 1e400)
SELECT * FROM files.rentals AT (VERSION => 99999999999999999999)
SELECT * FROM files.rentals AT (VERSION => 9223372036854775807)
SELECT * FROM files.rentals AT (VERSION => NULL)
SELECT * FROM files.rentals AT (VERSION => 'x')
SELECT * FROM files.rentals AT (TIMESTAMP => 'infinity')
SELECT * FROM files.rentals AT (TIMESTAMP => '-infinity')
SELECT * FROM files.rentals AT (TIMESTAMP => TIMESTAMP '294247-01-10 04:00:54')
SELECT * FROM files.rentals AT (SNAPSHOT => 1)
SELECT * FROM skills AT (VERSION => 41)
SELECT * FROM shop.rent.999 WHERE sqft = 1
SELECT * FROM shop.rent.0 WHERE sqft = 1
SELECT * FROM shop.rent.99999999999999999999 WHERE sqft = 1
SELECT * FROM shop.rent.2.2 WHERE sqft = 1
SELECT * FROM shop.bad WHERE sqft = 1
SELECT * FROM shop.loop_a
SELECT * FROM shop.evil
SELECT * FROM shop.evil2
SELECT * FROM shop.evil3
SELECT * FROM shop.evil4
PIVOT shop.rent ON rental_price USING count(*)
PIVOT (SELECT m.rental_price FROM files.rentals t JOIN shop.rent m) ON rental_price USING count(*)
SELECT * FROM shop.rent m, shop.tier n
SELECT * FROM slack_db.messages
SELECT * FROM slack_db.channels LIMIT 1
SELECT token FROM slack_db
SELECT 1::memory.main.x
SELECT CAST(1 AS ledger.x)
SELECT CAST('a' AS ENUM (SELECT content FROM read_text('/etc/passwd')))
PIVOT files.rentals ON location IN (SELECT content FROM read_text('/etc/passwd')) USING count(*)
PIVOT files.rentals ON location IN ledger_pivot_valuess USING count(*)
SELECT * FROM files.rentals PIVOT (sum(sqft) FOR location IN some_enum)
SELECT * FROM (PIVOT ledger.events ON type IN ('a') USING count(*))
SELECT * FROM (UNPIVOT ledger.events ON position)
SELECT sleep_ms(100000)
SELECT pg_sleep(100)
SELECT __internal_decompress_string(1)
SELECT __internal_compress_string_hugeint('x')
SELECT icu_sort_key('a', 'de')
SELECT create_sort_key(1, 'ASC')
SELECT icu_collate_de('x')
SELECT variant_bytes_to_variant('x')
SELECT * FROM repeat('x', 1) AS t, duckdb_tables()
SELECT * FROM files.rentals TABLESAMPLE system((SELECT 1))
SELECT COLUMNS('[') FROM files.rentals
SELECT COLUMNS(*)(COLUMNS(*)) FROM files.rentals
SELECT unnest(COLUMNS(getenv('HOME'))) FROM files.rentals
SELECT * EXCLUDE (nothing_here) FROM files.rentals
SELECT * FROM files.rentals t(a, b, c, d, e)
SELECT struct_extract({'a': 1}, 'ledger')
SELECT nothing_here FROM files.rentals
SELECT sqft::DATE FROM files.rentals
SELECT location::INT FROM files.rentals
SELECT * FROM files.rental
`)
