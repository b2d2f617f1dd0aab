import { perLine } from '../../../support/sql/twins.js'

export const texts = perLine(String.raw`
SELECT upper(Name) AS u, lower(Origin) AS l, length(Name) AS n FROM cars ORDER BY Name, Year LIMIT 5
SELECT Name[1:5] AS a, Name[-3:] AS b, Name[2] AS c, substring(Name, 3, 4) AS d, left(Name, 2) AS e, right(Name, 2) AS f FROM cars ORDER BY Name, Year LIMIT 5
SELECT split_part(Name, ' ', 1) AS make, count(*) AS n FROM cars GROUP BY make ORDER BY n DESC, make LIMIT 10
SELECT string_split(Name, ' ') AS words, len(string_split(Name, ' ')) AS n FROM cars ORDER BY Name, Year LIMIT 5
SELECT DISTINCT unnest(string_split(Name, ' ')) AS word FROM cars ORDER BY word LIMIT 20
SELECT word, count(*) AS n FROM (SELECT unnest(regexp_split_to_array(lower("Title"), '[^a-z]+')) AS word FROM movies) WHERE word <> '' GROUP BY word ORDER BY n DESC, word LIMIT 15
SELECT replace(Name, 'chevrolet', 'chevy') AS r, translate(Name, 'aeiou', '*****') AS t, reverse(Name) AS v FROM cars ORDER BY Name, Year LIMIT 5
SELECT regexp_extract("Title", '\((.*)\)', 1) AS inside FROM movies WHERE regexp_matches("Title", '\(.*\)') ORDER BY 1 LIMIT 5
SELECT regexp_replace(Name, '[0-9]+', '#', 'g') AS r FROM cars WHERE Name ~ '.*[0-9].*' ORDER BY Name, Year LIMIT 5
SELECT regexp_extract_all(Name, '[a-z]+') AS words, regexp_full_match(Name, '[a-z ]+') AS plain FROM cars ORDER BY Name, Year LIMIT 5
SELECT regexp_extract(Name, '^(\w+) (\w+)', ['make', 'model']) AS s FROM cars ORDER BY Name, Year LIMIT 4
SELECT count(*) AS n FROM movies WHERE "Title" ILIKE '%love%' AND "Title" NOT LIKE '%Love'
SELECT "Title" FROM movies WHERE "Title" SIMILAR TO '[0-9]+' ORDER BY "Title"
SELECT "Title" FROM movies WHERE "Title" GLOB 'Star*' ORDER BY "Title"
SELECT "Title" FROM movies WHERE "Title" ^@ 'The A' ORDER BY "Title" LIMIT 5
SELECT starts_with(Name, 'ford') AS s, ends_with(Name, 't') AS e, contains(Name, 'rd') AS c, position('o' IN Name) AS p, instr(Name, 'r') AS i, strpos(Name, 'd') AS t FROM cars ORDER BY Name, Year LIMIT 5
SELECT trim('  a ') AS a, ltrim('xxa', 'x') AS b, rtrim('ayy', 'y') AS c, lpad('7', 3, '0') AS d, rpad('7', 3, '.') AS e, repeat('ab', 3) AS f
SELECT concat(Origin, ':', Cylinders) AS c, concat_ws('-', Origin, NULL, Cylinders) AS w, Origin || ' ' || Cylinders AS p FROM cars ORDER BY Name, Year LIMIT 3
SELECT format('{:>10}|{:.1f}|{:,}', Origin, Acceleration, Weight_in_lbs) AS f, printf('%05.1f %s', Acceleration, Origin) AS p FROM cars ORDER BY Name, Year LIMIT 3
SELECT format_bytes(123456789) AS b, formatReadableDecimalSize(123456789) AS d, format('{:d}', 42) AS i, format('{:x} {:e}', 255, 1.5) AS x
SELECT initcap FROM (SELECT upper(Origin[1]) || lower(Origin[2:]) AS initcap FROM cars) GROUP BY 1 ORDER BY 1
SELECT ascii('A') AS a, chr(66) AS b, unicode('é') AS c, ord('z') AS d, hex('abc') AS e, to_base64('abc'::BLOB) AS f, md5('x') AS g, sha256('x') AS h
SELECT levenshtein('kitten', 'sitting') AS l, jaccard('duck', 'luck') AS j, hamming('duck', 'luck') AS h, damerau_levenshtein('ab', 'ba') AS d, round(jaro_winkler_similarity('duck', 'duckdb'), 4) AS w
SELECT strip_accents('mühleisen') AS s, nfc_normalize('ö') AS n, 'ß' < 'z' AS c, length('🦆x') AS l, bit_length('é') AS b, strlen('é') AS s2
SELECT 'it''s' AS a, 'say "hi"' AS b, $$dollar 'text'$$ AS c
SELECT E'tab\tnew\nline' AS e, 'x' || chr(10) || 'y' AS n
SELECT string_agg(Name, ', ' ORDER BY Name) AS names FROM (SELECT DISTINCT Name FROM cars WHERE Origin = 'Europe' AND Cylinders = 5)
SELECT Name FROM cars ORDER BY lower(Name) COLLATE NOCASE, Year LIMIT 5
SELECT DISTINCT Origin COLLATE NOCASE AS o FROM cars WHERE Origin COLLATE NOCASE = 'usa'
SELECT CASE WHEN Name LIKE '%$_%' ESCAPE '$' THEN 1 ELSE 0 END AS has, count(*) AS n FROM cars GROUP BY has ORDER BY has
SELECT parse_filename('/a/b/c.txt') AS f, parse_dirpath('/a/b/c.txt') AS d, parse_path('/a/b') AS p, url_encode('a b&c') AS u, url_decode('a%20b') AS v
SELECT left(md5(string_agg(Name, ',' ORDER BY Name, Year)), 8) AS digest FROM cars
SELECT Name.upper().left(4) AS chained, Name.split(' ')[1] AS first FROM cars ORDER BY Name, Year LIMIT 3
SELECT bar(Horsepower, 0, 250, 10) AS bar, Horsepower FROM cars WHERE Horsepower IS NOT NULL ORDER BY Horsepower DESC, Name LIMIT 4
SELECT array_to_string(list_transform(string_split('a_b_c', '_'), x -> upper(x)), '') AS joined
SELECT try_cast('12x' AS INTEGER) AS a, try_cast('1e3' AS DOUBLE) AS b, '42'::INT + 1 AS c, CAST('true' AS BOOLEAN) AS d, TRY(1 / 0) AS e, TRY('x'::INT) AS f
SELECT "Title" FROM movies WHERE length("Title") = (SELECT max(length("Title")) FROM movies)
SELECT like_escape('a%c', 'a$%c', '$') AS l, 'Straße' ILIKE 'STRASSE' AS i, 'abc' NOT SIMILAR TO 'b.*' AS s
`)
