import { perLine } from '../../../support/sql/twins.js'

export const grouping = perLine(String.raw`
SELECT Origin, count(*) AS n, avg(Horsepower) AS hp FROM cars GROUP BY Origin ORDER BY Origin
SELECT Origin, Cylinders, count(*) AS n FROM cars GROUP BY ALL ORDER BY ALL
SELECT Origin, Cylinders, count(*) AS n FROM cars GROUP BY 1, 2 HAVING n > 5 ORDER BY n DESC, 1, 2
SELECT Species, Island, avg("Body Mass (g)") AS mass FROM penguins GROUP BY ROLLUP (Species, Island) ORDER BY ALL
SELECT Species, Sex, count(*) AS n, grouping(Species, Sex) AS g FROM penguins GROUP BY CUBE (Species, Sex) ORDER BY ALL
SELECT Species, Island, count(*) AS n FROM penguins GROUP BY GROUPING SETS ((Species), (Island), ()) ORDER BY ALL
SELECT grouping_id(Origin, Cylinders) AS g, Origin, Cylinders, max(Horsepower) AS hp FROM cars GROUP BY ROLLUP (Origin, Cylinders) ORDER BY ALL
SELECT "Major Genre", count(*) AS n, sum("US Gross") AS gross FROM movies GROUP BY "Major Genre" ORDER BY gross DESC NULLS LAST
SELECT "MPAA Rating" AS rating, count(*) FILTER ("IMDB Rating" > 7) AS good, count(*) FILTER (WHERE "IMDB Rating" <= 7) AS rest FROM movies GROUP BY rating ORDER BY rating
SELECT count(*) AS n, count("IMDB Rating") AS rated, count(DISTINCT "Director") AS directors FROM movies
SELECT weather, count(*) AS days, round(avg(precipitation), 2) AS rain FROM weather GROUP BY weather ORDER BY days DESC
SELECT month(date) AS m, max(temp_max) AS hot, min(temp_min) AS cold FROM weather GROUP BY m ORDER BY m
SELECT year(date) AS y, weather, count(*) AS n FROM weather GROUP BY GROUPING SETS ((y, weather), (y)) ORDER BY ALL
SELECT CASE WHEN Horsepower > 150 THEN 'strong' WHEN Horsepower > 90 THEN 'middle' ELSE 'weak' END AS class, count(*) AS n FROM cars GROUP BY class ORDER BY class
SELECT Cylinders, any_value(Name ORDER BY Name) AS example, first(Name ORDER BY Weight_in_lbs DESC, Name) AS heaviest FROM cars GROUP BY Cylinders ORDER BY Cylinders
SELECT Origin, arg_max(Name, Horsepower) AS strongest, arg_min(Name, Weight_in_lbs) AS lightest, max_by(Name, Acceleration) AS slowest FROM cars GROUP BY Origin ORDER BY Origin
SELECT Origin, arg_max(Name, Horsepower, 3) AS three FROM cars GROUP BY Origin ORDER BY Origin
SELECT Origin, max(Horsepower, 2) AS two, min(Weight_in_lbs, 2) AS light FROM cars GROUP BY Origin ORDER BY Origin
SELECT bool_and(Horsepower > 40) AS a, bool_or(Horsepower > 220) AS o, bit_or(Cylinders) AS b, bit_xor(Cylinders) AS x FROM cars
SELECT Origin, string_agg(DISTINCT Cylinders::VARCHAR, '/' ORDER BY Cylinders::VARCHAR) AS c FROM cars GROUP BY Origin ORDER BY Origin
SELECT Origin, listagg(Name, '; ' ORDER BY Name) AS names FROM cars WHERE Horsepower > 190 GROUP BY Origin ORDER BY Origin
SELECT list(DISTINCT Species ORDER BY Species) AS s, array_agg(Island ORDER BY Island)[1:2] AS i FROM penguins
SELECT histogram(Cylinders) AS h FROM cars
SELECT histogram(Acceleration, [10, 15, 20, 25]) AS h FROM cars
SELECT Species, sum("Body Mass (g)") / count(*) AS mean, sum(DISTINCT "Flipper Length (mm)") AS s FROM penguins GROUP BY Species ORDER BY Species
SELECT weather, product(1 + wind / 1000) AS p, geomean(wind) AS g FROM weather WHERE wind > 0 AND month(date) = 1 GROUP BY weather ORDER BY weather
SELECT site, avg(yield) AS y FROM barley GROUP BY site HAVING avg(yield) > (SELECT avg(yield) FROM barley) ORDER BY y
SELECT variety, max(yield) - min(yield) AS spread FROM barley GROUP BY variety ORDER BY spread DESC, variety LIMIT 5
SELECT year, sum(people) AS people FROM population GROUP BY year ORDER BY year
SELECT year, sum(people) FILTER (sex = 1) * 1.0 / sum(people) FILTER (sex = 2) AS ratio FROM population GROUP BY year ORDER BY year
SELECT (age // 20) * 20 AS band, sum(people) AS n FROM population WHERE year = 2000 GROUP BY band ORDER BY band
SELECT state, count(*) AS n FROM airports GROUP BY state HAVING count(*) >= 100 ORDER BY n DESC, state
SELECT origin, count(*) AS n, count_if(delay > 0) AS late, countif(delay <= 0) AS ok FROM flights GROUP BY origin ORDER BY n DESC, origin LIMIT 10
SELECT DISTINCT Origin, Cylinders FROM cars ORDER BY ALL DESC
SELECT DISTINCT ON (Origin) Origin, Name, Horsepower FROM cars ORDER BY Origin, Horsepower DESC NULLS LAST, Name
SELECT count(*) AS n FROM (SELECT DISTINCT Species, Island, Sex FROM penguins)
SELECT sum(n) AS total, max(n) AS most FROM (SELECT cluster, count(*) AS n FROM gapminder GROUP BY cluster)
SELECT Cylinders, count(*) AS n FROM cars GROUP BY Cylinders ORDER BY count(*) DESC, 1 LIMIT 3
SELECT Cylinders % 4 = 0 AS even, avg(Miles_per_Gallon) AS mpg FROM cars GROUP BY ALL HAVING avg(Miles_per_Gallon) IS NOT NULL ORDER BY ALL
SELECT mode(Island) AS i, mode(Species) AS s, entropy(Island) AS e FROM penguins
FROM cars SELECT Origin, max(Horsepower) AS hp GROUP BY Origin ORDER BY hp
FROM (FROM cars SELECT Origin, Horsepower * 2 AS hp2) SELECT Origin, sum(hp2) AS s GROUP BY ALL ORDER BY ALL
`)
