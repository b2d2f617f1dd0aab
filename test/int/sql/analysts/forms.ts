import { perLine } from '../../../support/sql/twins.js'

export const forms = perLine(String.raw`
FROM cars SELECT Name WHERE Cylinders = 5 ORDER BY Name, Year
FROM penguins WHERE Sex IS NULL ORDER BY ALL LIMIT 3
FROM files.cars LIMIT 2
TABLE barley LIMIT 3
VALUES (1, 'a'), (2, 'b')
SELECT * EXCLUDE (Name, Year) FROM cars ORDER BY ALL LIMIT 3
SELECT * EXCLUDE Name FROM cars ORDER BY ALL LIMIT 3
SELECT * EXCLUDE (Year, Origin, Cylinders, Displacement, Horsepower, Weight_in_lbs, Acceleration, Miles_per_Gallon) FROM cars ORDER BY ALL LIMIT 3
SELECT c.* EXCLUDE (c.Year, c.Origin, c.Cylinders, c.Displacement, c.Horsepower, c.Weight_in_lbs, c.Acceleration) FROM cars AS c ORDER BY ALL LIMIT 3
SELECT * REPLACE (1 AS Year, 2 AS Origin, 3 AS Cylinders, 4 AS Displacement, 5 AS Horsepower, 6 AS Weight_in_lbs, 7 AS Acceleration, 8 AS Miles_per_Gallon) FROM cars ORDER BY ALL LIMIT 3
SELECT * RENAME (Year AS y, Origin AS o, Cylinders AS c, Displacement AS d, Horsepower AS h, Weight_in_lbs AS w, Acceleration AS a, Miles_per_Gallon AS m) FROM cars ORDER BY ALL LIMIT 3
SELECT * REPLACE (upper(Name) AS Name, Horsepower * 2 AS Horsepower) FROM cars ORDER BY Name, Year LIMIT 3
SELECT * RENAME (Name AS title) FROM cars ORDER BY title, Year LIMIT 2
SELECT * LIKE '%e%' FROM cars ORDER BY ALL LIMIT 2
SELECT COLUMNS('^(Name|Origin)$') FROM cars ORDER BY ALL LIMIT 3
SELECT COLUMNS(c -> c LIKE '%e') FROM cars ORDER BY ALL LIMIT 3
SELECT COLUMNS(lambda c: starts_with(c, 'W')) FROM cars ORDER BY ALL LIMIT 3
SELECT min(COLUMNS(*)), max(COLUMNS(*)) FROM barley
SELECT COLUMNS(* EXCLUDE (Name)) IS NULL FROM cars ORDER BY ALL LIMIT 3
SELECT COLUMNS('(.*)_in_(.*)') AS '\1_\2' FROM cars ORDER BY ALL LIMIT 2
SELECT coalesce(*COLUMNS(['Horsepower', 'Cylinders'])) AS c FROM cars ORDER BY c LIMIT 3
SELECT Name FROM cars WHERE COLUMNS(['Horsepower', 'Weight_in_lbs']) > 200 ORDER BY Name, Year LIMIT 3
SELECT #1 FROM (SELECT Origin, count(*) FROM cars GROUP BY Origin) ORDER BY 1
SELECT Origin AS o, o || '!' AS loud FROM cars GROUP BY o ORDER BY loud
SELECT Weight_in_lbs / 2.2046 AS kg FROM cars WHERE kg > 2200 ORDER BY kg
SELECT Name, Horsepower FROM cars ORDER BY Horsepower DESC NULLS LAST, Name LIMIT 3 OFFSET 2
SELECT Name FROM cars ORDER BY Name, Year LIMIT 1%
SELECT Name FROM cars ORDER BY Name, Year FETCH FIRST 3 ROWS ONLY
SELECT Name FROM cars ORDER BY Name, Year LIMIT (SELECT min(Cylinders) FROM cars)
SELECT DISTINCT Cylinders FROM cars ORDER BY 1 DESC
SELECT range AS i FROM range(5)
SELECT i, i * i AS sq FROM range(1, 10, 3) AS t(i)
SELECT * FROM generate_series(3, 1, -1)
SELECT i, j FROM range(3) AS a(i), range(i) AS b(j) ORDER BY ALL
SELECT CASE Origin WHEN 'USA' THEN 'us' WHEN 'Japan' THEN 'jp' END AS c, count(*) AS n FROM cars GROUP BY c ORDER BY c
SELECT if(Horsepower > 100, 'a', 'b') AS x, iif FROM (SELECT Horsepower, Cylinders > 4 AS iif, Name, Year FROM cars) ORDER BY Name, Year LIMIT 3
SELECT Horsepower BETWEEN 100 AND 120 AS b, Horsepower NOT BETWEEN 1 AND 2 AS nb, Horsepower IS NULL AS n, Horsepower ISNULL AS i, Horsepower NOTNULL AS nn FROM cars ORDER BY Name, Year LIMIT 3
SELECT Name FROM cars WHERE Origin IN ('Japan') AND Cylinders NOT IN (4, 6) ORDER BY Name, Year
SELECT Name FROM cars WHERE Origin == 'Japan' AND Cylinders <> 4 AND Cylinders != 6 ORDER BY Name, Year
SELECT count(*) AS n FROM cars WHERE Origin = 'USA' OR (NOT Cylinders = 8 AND Horsepower >= 100)
SELECT (SELECT count(*) FROM cars) AS c, (SELECT count(*) FROM penguins) AS p, EXISTS (FROM cars WHERE Cylinders = 12) AS twelve
SELECT "Title", "US Gross"::DOUBLE / "Production Budget" AS multiple FROM movies WHERE "Production Budget" > 0 ORDER BY multiple DESC NULLS LAST, "Title" LIMIT 5
SELECT m."Title" FROM movies AS m WHERE m."Rotten Tomatoes Rating" = 100 AND m."IMDB Votes" > 50000 ORDER BY m."Title"
SELECT TRY_CAST("Title" AS INTEGER) AS n FROM movies WHERE TRY_CAST("Title" AS INTEGER) IS NOT NULL ORDER BY n
SELECT CAST(Year AS VARCHAR) AS a, Year::TIMESTAMP AS b, Cylinders::VARCHAR || '!' AS c, CAST(Horsepower AS DECIMAL(8, 2)) AS d FROM cars ORDER BY Name, Year LIMIT 2
SELECT true AND NULL AS a, true OR NULL AS b, NOT NULL::BOOLEAN AS c, NULL IS NULL AS d, 1 = NULL AS e, NULL IS NOT DISTINCT FROM NULL AS f
SELECT x'ff'::BLOB AS a, '101'::BIT AS b, 'ab'::BLOB AS c, encode('é') AS d, decode('ab'::BLOB) AS e, '\xAA'::BLOB AS f
SELECT uuid IS NOT NULL AS u FROM (SELECT gen_random_uuid() AS uuid)
SELECT random() BETWEEN 0 AND 1 AS r, now() > TIMESTAMP '2020-01-01' AS n, current_date > DATE '2020-01-01' AS d, today() = current_date AS t
SELECT 'a' AS "Weird Name!", 1 AS "select", 2 AS "ünï"
SELECT /* inner /* nested */ */ count(*) AS n FROM cars
SUMMARIZE cars
DESCRIBE SELECT Name, Year FROM cars
WITH c AS (SELECT Name, Horsepower FROM cars) SELECT * FROM (SUMMARIZE c)
SUMMARIZE SELECT Origin, Horsepower FROM cars
FROM (SUMMARIZE weather) SELECT column_name, column_type, max ORDER BY 1
SELECT * FROM (DESCRIBE cars)
SELECT column_name FROM (DESCRIBE SELECT Name, Year FROM cars)
FROM (SHOW cars)
SELECT sum(x) AS s FROM (VALUES (1), (NULL), (3)) t(x) WHERE x IS NOT NULL
SELECT a, b FROM (SELECT 1 a, 2 b) t(a, b)
SELECT t.a FROM (VALUES (1, 2)) AS t(a, b) ORDER BY t.b
SELECT cars.Name AS n FROM cars WHERE cars.Name LIKE 'ford%' GROUP BY ALL ORDER BY n LIMIT 3
SELECT c FROM cars AS c ORDER BY c.Name, c.Year LIMIT 2
SELECT enum_range(NULL::ENUM('a', 'b')) AS r, 'b'::ENUM('a', 'b') > 'a'::ENUM('a', 'b') AS g
SELECT count(*) AS n FROM cars WHERE (Origin, Cylinders) = ('USA', 8)
SELECT sum(Horsepower) AS s FROM cars WHERE Name SIMILAR TO '(ford|fiat).*'
SELECT list(Name ORDER BY Name)[1] AS first, count(*) AS n FROM cars WHERE Cylinders = 8 AND Horsepower > ANY (SELECT 200)
SELECT max(Horsepower) FILTER (Origin = 'USA') - max(Horsepower) FILTER (Origin = 'Japan') AS diff FROM cars
SELECT hash('a') = hash('a') AS h, can_cast_implicitly(1, 'x') AS c, current_localtimestamp() IS NOT NULL AS t, error IS NULL AS e FROM (SELECT NULL AS error)
SELECT alias(Name) AS a FROM cars LIMIT 1
SELECT date, temp_max FROM weather WHERE temp_max > 35 ORDER BY temp_max DESC, date; -- the end
`)
