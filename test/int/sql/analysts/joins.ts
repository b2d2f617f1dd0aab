import { perLine } from '../../../support/sql/twins.js'

export const joins = perLine(String.raw`
SELECT f.origin, a.city, count(*) AS n FROM flights AS f JOIN airports AS a ON a.iata = f.origin GROUP BY ALL ORDER BY n DESC, f.origin LIMIT 10
SELECT a.state, avg(f.delay) AS delay FROM flights f INNER JOIN airports a ON f.destination = a.iata GROUP BY a.state HAVING count(*) > 20 ORDER BY delay, a.state
SELECT count(*) AS n FROM flights f LEFT JOIN airports a ON f.origin = a.iata WHERE a.iata IS NULL
SELECT a.iata, f.origin FROM airports a LEFT JOIN flights f ON f.origin = a.iata WHERE a.state = 'CA' AND f.origin IS NULL ORDER BY a.iata LIMIT 10
SELECT o.city AS "from", d.city AS "to", count(*) AS n FROM flights f JOIN airports o ON o.iata = f.origin JOIN airports d ON d.iata = f.destination GROUP BY ALL ORDER BY n DESC, 1, 2 LIMIT 10
SELECT coalesce(a.Origin, b.Species) AS k, a.n, b.m FROM (SELECT Origin, count(*) AS n FROM cars GROUP BY 1) a FULL OUTER JOIN (SELECT Species, count(*) AS m FROM penguins GROUP BY 1) b ON a.Origin = b.Species ORDER BY k
SELECT count(*) AS n FROM cars CROSS JOIN (VALUES (1), (2)) AS v(x)
SELECT s.symbol, count(*) AS n FROM stocks s, (SELECT symbol, avg(price) AS mean FROM stocks GROUP BY symbol) m WHERE s.symbol = m.symbol AND s.price > m.mean GROUP BY s.symbol ORDER BY s.symbol
SELECT x.symbol, y.symbol AS other, corr(x.price, y.price) AS c FROM stocks x JOIN stocks y USING (date) WHERE x.symbol < y.symbol GROUP BY ALL ORDER BY ALL
SELECT count(*) AS n FROM stocks a NATURAL JOIN (SELECT symbol, max(price) AS price FROM stocks GROUP BY symbol) b
SELECT Name FROM cars c SEMI JOIN (SELECT max(Horsepower) AS Horsepower FROM cars GROUP BY Origin) m USING (Horsepower) ORDER BY Name, c.Year
SELECT DISTINCT origin FROM flights ANTI JOIN (SELECT iata AS origin FROM airports WHERE state = 'CA') USING (origin) ORDER BY origin LIMIT 10
SELECT f.date, w.symbol, w.price FROM (SELECT DISTINCT date FROM flights ORDER BY date LIMIT 20) f ASOF JOIN (SELECT * FROM stocks WHERE symbol = 'IBM') w ON f.date >= w.date ORDER BY f.date
SELECT t.d, s.price FROM (VALUES (DATE '2004-05-20'), (DATE '1999-01-01')) t(d) ASOF LEFT JOIN (FROM stocks WHERE symbol = 'AAPL') s ON t.d >= s.date ORDER BY t.d
SELECT a.x, b.y FROM (SELECT unnest([1, 2, 3]) AS x) a POSITIONAL JOIN (SELECT unnest(['p', 'q']) AS y) b
SELECT c.Origin, top.Name, top.Horsepower FROM (SELECT DISTINCT Origin FROM cars) c, LATERAL (SELECT Name, Horsepower FROM cars k WHERE k.Origin = c.Origin ORDER BY Horsepower DESC NULLS LAST, Name LIMIT 2) top ORDER BY ALL
SELECT c.Origin, m.n FROM (SELECT DISTINCT Origin FROM cars) c LEFT JOIN LATERAL (SELECT count(*) AS n FROM cars k WHERE k.Origin = c.Origin AND k.Cylinders = 3) m ON true ORDER BY 1
SELECT Name, Horsepower FROM cars c WHERE Horsepower = (SELECT max(Horsepower) FROM cars k WHERE k.Origin = c.Origin) ORDER BY Name
SELECT Name FROM cars c WHERE NOT EXISTS (SELECT 1 FROM cars k WHERE k.Origin = c.Origin AND k.Weight_in_lbs > c.Weight_in_lbs) ORDER BY Name
SELECT Origin, (SELECT count(*) FROM cars k WHERE k.Origin = c.Origin AND k.Horsepower > 100) AS strong FROM (SELECT DISTINCT Origin FROM cars) c ORDER BY Origin
SELECT count(*) AS n FROM movies WHERE "US Gross" > ALL (SELECT "Production Budget" FROM movies WHERE "Major Genre" = 'Western' AND "Production Budget" IS NOT NULL)
SELECT Species FROM penguins WHERE "Body Mass (g)" > (SELECT avg("Body Mass (g)") FROM penguins) GROUP BY Species ORDER BY Species
WITH monthly AS (SELECT date_trunc('month', date) AS m, sum(precipitation) AS rain FROM weather GROUP BY m), ranked AS (SELECT *, rank() OVER (ORDER BY rain DESC) AS r FROM monthly) SELECT m, rain FROM ranked WHERE r <= 3 ORDER BY r
WITH a(x) AS (SELECT 1), b(y) AS (SELECT x + 1 FROM a) SELECT x, y FROM a, b
WITH a AS MATERIALIZED (SELECT Origin, count(*) AS n FROM cars GROUP BY Origin) SELECT p.Origin, q.n FROM a p JOIN a q ON p.n > q.n ORDER BY ALL
WITH a AS NOT MATERIALIZED (SELECT 1 AS x) SELECT * FROM a UNION ALL SELECT * FROM a
WITH RECURSIVE fib(n, a, b) AS (SELECT 1, 0, 1 UNION ALL SELECT n + 1, b, a + b FROM fib WHERE n < 15) SELECT n, a FROM fib ORDER BY n
WITH RECURSIVE hops(place, n, path) AS (SELECT 'SAN', 0, ['SAN'] UNION ALL SELECT f.destination, n + 1, list_append(path, f.destination) FROM hops h JOIN (SELECT DISTINCT origin, destination FROM flights WHERE distance < 400) f ON f.origin = h.place WHERE n < 2 AND NOT list_contains(path, f.destination)) SELECT place, min(n) AS n FROM hops GROUP BY place ORDER BY n, place
WITH RECURSIVE t(n) AS (VALUES (1) UNION SELECT (n * 2) % 11 FROM t) SELECT n FROM t ORDER BY n
WITH RECURSIVE tbl(a, b) USING KEY (a) AS (SELECT 1, 3 UNION SELECT a, b - 1 FROM tbl WHERE b > 0) SELECT * FROM tbl
SELECT Name FROM cars WHERE Cylinders = 3 UNION SELECT Name FROM cars WHERE Cylinders = 5 ORDER BY Name
SELECT Origin FROM cars INTERSECT SELECT Origin FROM cars WHERE Cylinders = 3
SELECT Cylinders FROM cars EXCEPT SELECT Cylinders FROM cars WHERE Origin = 'Japan' ORDER BY 1
SELECT Cylinders FROM cars EXCEPT ALL SELECT Cylinders FROM cars WHERE Origin = 'USA' ORDER BY 1 LIMIT 5
SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 3 AS b, 4 AS c ORDER BY ALL
(SELECT Name, Horsepower FROM cars ORDER BY Horsepower DESC NULLS LAST LIMIT 2) UNION ALL (SELECT Name, Horsepower FROM cars ORDER BY Horsepower, Name LIMIT 2) ORDER BY Horsepower
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s) JOIN (VALUES (2, true)) AS u(n, ok) USING (n)
SELECT f1.origin FROM flights f1 JOIN flights f2 ON f1.origin = f2.destination AND f1.distance < f2.distance AND f2.delay > 200 GROUP BY f1.origin ORDER BY f1.origin LIMIT 5
SELECT files.cars.Name, files.cars.Origin FROM files.cars WHERE files.cars.Cylinders = 3 ORDER BY ALL
SELECT cars.* FROM cars JOIN (SELECT 5 AS Cylinders) USING (Cylinders) ORDER BY Name, Year
SELECT c.* EXCLUDE (Year), p.Species FROM cars c, (SELECT DISTINCT Species FROM penguins) p WHERE c.Cylinders = 5 ORDER BY c.Name, c.Year, p.Species
SELECT country FROM gapminder g1 WHERE year = 2005 AND life_expect < (SELECT life_expect FROM gapminder g2 WHERE g2.country = g1.country AND g2.year = 1955) ORDER BY country
`)
