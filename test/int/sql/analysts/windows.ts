import { perLine } from '../../../support/sql/twins.js'

export const windows = perLine(String.raw`
SELECT Name, Origin, row_number() OVER (PARTITION BY Origin ORDER BY Horsepower DESC NULLS LAST, Name, Year) AS r FROM cars QUALIFY r <= 3 ORDER BY Origin, r
SELECT Name, rank() OVER (ORDER BY Cylinders) AS r, dense_rank() OVER (ORDER BY Cylinders) AS d FROM cars ORDER BY r, Name, Year LIMIT 20
SELECT Name, percent_rank() OVER (ORDER BY Weight_in_lbs) AS p, cume_dist() OVER (ORDER BY Weight_in_lbs) AS c FROM cars ORDER BY p, Name LIMIT 15
SELECT Name, ntile(4) OVER (ORDER BY Weight_in_lbs, Name, Year) AS q FROM cars ORDER BY Name, Year, q LIMIT 20
SELECT date, temp_max, lag(temp_max) OVER (ORDER BY date) AS before, lead(temp_max, 2, 0.0) OVER (ORDER BY date) AS after FROM weather ORDER BY date LIMIT 10
SELECT date, temp_max - lag(temp_max) OVER (ORDER BY date) AS change FROM weather ORDER BY change DESC NULLS LAST, date LIMIT 5
SELECT date, avg(temp_max) OVER (ORDER BY date ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM weather ORDER BY date LIMIT 12
SELECT date, sum(precipitation) OVER (ORDER BY date RANGE BETWEEN INTERVAL 3 DAYS PRECEDING AND INTERVAL 1 DAY FOLLOWING) AS s FROM weather ORDER BY date LIMIT 12
SELECT date, sum(precipitation) OVER (PARTITION BY year(date), month(date) ORDER BY date) AS month_to_date FROM weather ORDER BY date LIMIT 40
SELECT symbol, date, price / first_value(price) OVER (PARTITION BY symbol ORDER BY date) AS indexed FROM stocks ORDER BY symbol, date LIMIT 20
SELECT symbol, date, price, price / lag(price, 12) OVER w - 1 AS yearly FROM stocks WINDOW w AS (PARTITION BY symbol ORDER BY date) QUALIFY yearly IS NOT NULL ORDER BY symbol, date LIMIT 20
SELECT symbol, date, max(price) OVER w AS high, min(price) OVER w AS low FROM stocks WINDOW w AS (PARTITION BY symbol ORDER BY date ROWS 3 PRECEDING) ORDER BY symbol, date LIMIT 20
SELECT symbol, last_value(price) OVER (PARTITION BY symbol ORDER BY date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last FROM stocks QUALIFY row_number() OVER (PARTITION BY symbol ORDER BY date) = 1 ORDER BY symbol
SELECT symbol, date, nth_value(price, 2) OVER (PARTITION BY symbol ORDER BY date) AS second FROM stocks ORDER BY symbol, date LIMIT 5
SELECT country, year, pop, pop - lag(pop) OVER (PARTITION BY country ORDER BY year) AS growth FROM gapminder ORDER BY country, year LIMIT 20
SELECT country, year, life_expect, rank() OVER (PARTITION BY year ORDER BY life_expect DESC) AS r FROM gapminder QUALIFY r <= 2 ORDER BY year, r, country
SELECT year, country, pop * 100.0 / sum(pop) OVER (PARTITION BY year) AS share FROM gapminder WHERE cluster = 1 ORDER BY year, country LIMIT 20
SELECT Species, "Body Mass (g)" - avg("Body Mass (g)") OVER (PARTITION BY Species) AS off FROM penguins ORDER BY off DESC NULLS LAST, Species LIMIT 10
SELECT Origin, count(*) AS n, sum(count(*)) OVER (ORDER BY Origin) AS running FROM cars GROUP BY Origin ORDER BY Origin
SELECT Origin, Cylinders, count(*) AS n, count(*) / sum(count(*)) OVER (PARTITION BY Origin) AS share FROM cars GROUP BY Origin, Cylinders ORDER BY Origin, Cylinders
SELECT weather, date, row_number() OVER () > 0 AS positive FROM weather ORDER BY date LIMIT 3
SELECT date, count(*) OVER (PARTITION BY weather) AS same, count(*) FILTER (WHERE wind > 3) OVER (PARTITION BY weather) AS windy FROM weather ORDER BY date LIMIT 8
SELECT date, lag(weather IGNORE NULLS) OVER (ORDER BY date) AS w, first_value(nullif(precipitation, 0.0) IGNORE NULLS) OVER (ORDER BY date ROWS BETWEEN CURRENT ROW AND 5 FOLLOWING) AS next_rain FROM weather ORDER BY date LIMIT 12
SELECT date, sum(wind) OVER (ORDER BY date ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) AS s FROM weather ORDER BY date LIMIT 10
SELECT Cylinders, sum(Horsepower) OVER (ORDER BY Cylinders GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM cars ORDER BY Cylinders, s LIMIT 20
SELECT date, median(temp_max) OVER (ORDER BY date ROWS 4 PRECEDING) AS m FROM weather ORDER BY date LIMIT 10
SELECT date, stddev(price) OVER (PARTITION BY symbol ORDER BY date ROWS 11 PRECEDING) AS volatility, symbol FROM stocks ORDER BY symbol, date LIMIT 15
SELECT symbol, list(price ORDER BY date) OVER (PARTITION BY symbol ORDER BY date ROWS 2 PRECEDING) AS l, date FROM stocks ORDER BY symbol, date LIMIT 6
WITH runs AS (SELECT date, weather, row_number() OVER (ORDER BY date) - row_number() OVER (PARTITION BY weather ORDER BY date) AS island FROM weather) SELECT weather, min(date) AS since, count(*) AS days FROM runs GROUP BY weather, island ORDER BY days DESC, since LIMIT 5
WITH gaps AS (SELECT date, date - lag(date) OVER (ORDER BY date) AS gap FROM weather WHERE weather = 'snow') SELECT max(gap) AS longest, avg(gap) AS mean FROM gaps
SELECT "Title", "Major Genre", "IMDB Rating" FROM movies QUALIFY row_number() OVER (PARTITION BY "Major Genre" ORDER BY "IMDB Rating" DESC NULLS LAST, "Title") = 1 ORDER BY "Major Genre"
SELECT "Director", count(*) AS films, rank() OVER (ORDER BY count(*) DESC) AS r FROM movies WHERE "Director" IS NOT NULL GROUP BY "Director" QUALIFY r <= 5 ORDER BY r, 1
SELECT date, delay, delay > avg(delay) OVER (PARTITION BY origin) AS late FROM flights ORDER BY date, origin, destination, delay LIMIT 20
SELECT origin, date, date_diff('minute', lag(date) OVER (PARTITION BY origin ORDER BY date), date) AS wait FROM flights WHERE origin IN ('SAN', 'SFO') ORDER BY origin, date, wait LIMIT 20
SELECT rank(ORDER BY price DESC) OVER (PARTITION BY symbol ORDER BY date) AS r, symbol, date FROM stocks ORDER BY symbol, date LIMIT 5
SELECT quantile_cont(price, 0.5) OVER (PARTITION BY symbol) AS med, symbol FROM stocks ORDER BY symbol, med LIMIT 4
SELECT symbol, date, sum(price) OVER (w ROWS 1 PRECEDING) AS two FROM stocks WINDOW w AS (PARTITION BY symbol ORDER BY date) ORDER BY symbol, date LIMIT 6
SELECT DISTINCT symbol, max(price) OVER (PARTITION BY symbol) AS high FROM stocks ORDER BY symbol
`)
