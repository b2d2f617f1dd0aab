import { perLine } from '../../../support/sql/twins.js'

export const pivots = perLine(String.raw`
PIVOT cars ON Origin USING count(*)
PIVOT cars ON Origin USING count(*) GROUP BY Cylinders
PIVOT cars ON Origin USING avg(Horsepower) AS hp, max(Weight_in_lbs) AS w GROUP BY Cylinders ORDER BY Cylinders
PIVOT cars ON Origin USING count(*) GROUP BY Cylinders ORDER BY Cylinders LIMIT 2
PIVOT cars ON Origin, Cylinders USING count(*)
PIVOT cars ON (Origin, Cylinders) USING count(*)
PIVOT cars ON Origin || '-' || Cylinders USING count(*)
PIVOT cars ON Origin IN ('USA', 'Japan') USING avg(Miles_per_Gallon) GROUP BY Cylinders ORDER BY Cylinders
PIVOT cars ON Origin IN ('USA', 'Japan'), Cylinders IN (4, 8) USING count(*)
PIVOT cars ON Origin IN (SELECT DISTINCT Origin FROM cars ORDER BY Origin DESC) USING count(*) GROUP BY Cylinders ORDER BY Cylinders
PIVOT cars ON Cylinders IN (SELECT Cylinders FROM cars WHERE Horsepower > 200 GROUP BY 1 ORDER BY 1), Origin IN ('USA') USING avg(Horsepower)
WITH p AS (PIVOT cars ON Origin IN (FROM (VALUES ('USA'), ('Mars')) AS v(o)) USING count(*) GROUP BY Cylinders) SELECT * FROM p ORDER BY Cylinders
PIVOT (PIVOT cars ON Origin IN (SELECT 'USA') USING count(*) GROUP BY Cylinders) ON Cylinders IN (SELECT c FROM (PIVOT (SELECT 4 AS c) ON c IN (SELECT 4) USING count(*) GROUP BY c)) USING max(USA)
PIVOT cars ON Cylinders IN (4 AS four, 8 AS eight) USING count(*) GROUP BY Origin ORDER BY Origin
PIVOT (SELECT Origin, year(Year) AS y, Horsepower FROM cars) ON y USING max(Horsepower) GROUP BY Origin ORDER BY Origin
PIVOT (FROM weather SELECT month(date) AS m, weather) ON weather USING count(*) GROUP BY m ORDER BY m
PIVOT weather ON year(date) USING sum(precipitation) GROUP BY weather ORDER BY weather
PIVOT penguins ON Species USING avg("Body Mass (g)") GROUP BY Island, Sex ORDER BY ALL
PIVOT penguins ON Sex USING count(*) AS n GROUP BY Species ORDER BY Species
PIVOT barley ON site USING first(yield) GROUP BY variety, year ORDER BY variety, year
PIVOT (SELECT symbol, price, year(date) AS y FROM stocks) ON symbol USING max(price), min(price) GROUP BY y ORDER BY y
PIVOT files.cars ON Origin USING count(*)
PIVOT cars AS c ON Origin USING count(*) GROUP BY Cylinders ORDER BY 1
WITH strong AS (SELECT * FROM cars WHERE Horsepower > 100) PIVOT strong ON Origin USING count(*) GROUP BY Cylinders ORDER BY Cylinders
WITH p AS (PIVOT cars ON Origin USING count(*) GROUP BY Cylinders) SELECT * FROM p ORDER BY Cylinders
SELECT * FROM (PIVOT cars ON Origin USING count(*) GROUP BY Cylinders) AS p ORDER BY Cylinders
SELECT a.Cylinders, a.USA, b.USA AS hp FROM (PIVOT cars ON Origin USING count(*) GROUP BY Cylinders) AS a JOIN (PIVOT cars ON Origin USING max(Horsepower) GROUP BY Cylinders) AS b USING (Cylinders) ORDER BY 1
SELECT * FROM cars PIVOT (count(*) FOR Origin IN ('USA', 'Europe') GROUP BY Cylinders) ORDER BY Cylinders
SELECT * FROM (SELECT Origin, Cylinders, Horsepower FROM cars) PIVOT (avg(Horsepower) AS hp FOR Cylinders IN (4, 6, 8)) AS p ORDER BY Origin
FROM cars PIVOT (max(Horsepower) FOR Cylinders IN (4, 8) Origin IN ('USA') GROUP BY Year) ORDER BY Year
FROM (PIVOT gapminder ON year USING sum(pop) GROUP BY cluster) ORDER BY cluster
PIVOT (FROM cars WHERE Cylinders > 99 OR Cylinders = 3 AND Origin = 'x' OR Name = 'vw pickup') ON nullif(Name, 'vw pickup') USING count(*) GROUP BY Cylinders, Origin
PIVOT_WIDER cars ON Origin USING count(*)
PIVOT population ON sex USING sum(people) GROUP BY year ORDER BY year DESC
UNPIVOT (SELECT date, temp_max, temp_min FROM weather) ON temp_max, temp_min INTO NAME which VALUE degrees ORDER BY date, which LIMIT 10
UNPIVOT weather ON temp_max, temp_min
UNPIVOT weather ON COLUMNS('^temp') INTO NAME which VALUE degrees
UNPIVOT weather ON COLUMNS(* EXCLUDE (date, weather)) INTO NAME measure VALUE amount ORDER BY ALL LIMIT 20
FROM (SELECT Name, Horsepower::DOUBLE AS hp, Miles_per_Gallon AS mpg FROM cars) UNPIVOT INCLUDE NULLS (v FOR n IN (hp, mpg))
SELECT * FROM weather UNPIVOT (degrees FOR which IN (temp_max, temp_min)) ORDER BY date, which LIMIT 10
SELECT which, avg(v) AS mean FROM (UNPIVOT weather ON temp_max, temp_min INTO NAME which VALUE v) GROUP BY which ORDER BY which
FROM weather UNPIVOT INCLUDE NULLS (v FOR k IN (wind AS w, precipitation AS p)) SELECT k, sum(v) AS s GROUP BY k ORDER BY k
UNPIVOT cars ON (Horsepower, Weight_in_lbs) AS a, (Cylinders, Horsepower) AS b INTO NAME k VALUE v, w ORDER BY ALL LIMIT 5
PIVOT_LONGER weather ON temp_max, temp_min
WITH long AS (UNPIVOT weather ON temp_max, temp_min INTO NAME k VALUE v) PIVOT long ON k USING avg(v) GROUP BY weather ORDER BY weather
SELECT Origin, sum(CASE WHEN Cylinders = 4 THEN 1 ELSE 0 END) AS four, sum((Cylinders = 8)::INT) AS eight FROM cars GROUP BY Origin ORDER BY Origin
`)
