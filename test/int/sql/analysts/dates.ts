import { perLine } from '../../../support/sql/twins.js'

export const dates = perLine(String.raw`
SELECT date_trunc('month', date) AS month, sum(precipitation) AS rain FROM weather GROUP BY month ORDER BY month
SELECT date_trunc('week', date) AS week, avg(temp_max) AS t FROM weather GROUP BY ALL ORDER BY week LIMIT 10
SELECT date_trunc('quarter', date) AS q, count(*) AS n FROM weather WHERE weather = 'rain' GROUP BY q ORDER BY q
SELECT strftime(date, '%Y-%m') AS ym, max(wind) AS w FROM weather GROUP BY ym ORDER BY ym
SELECT strftime(date, '%a %d %b %Y, week %W, day %j') AS s FROM weather ORDER BY date LIMIT 5
SELECT strftime('%d.%m.%Y', date) AS s FROM weather ORDER BY date LIMIT 3
SELECT extract(year FROM date) AS y, extract('month' FROM date) AS m, extract(dow FROM date) AS d FROM weather ORDER BY date LIMIT 3
SELECT date_part('doy', date) AS doy, date_part(['year', 'month'], date) AS parts FROM weather ORDER BY date LIMIT 3
SELECT dayname(date) AS d, monthname(date) AS m, isodow(date) AS i, weekofyear(date) AS w, quarter(date) AS q, yearweek(date) AS yw FROM weather ORDER BY date LIMIT 8
SELECT dayofweek(date) AS d, dayofmonth(date) AS m, dayofyear(date) AS y, decade(date) AS x, century(date) AS c, millennium(date) AS k, era(date) AS e FROM weather ORDER BY date LIMIT 3
SELECT date + INTERVAL 1 MONTH AS a, date - INTERVAL '2 weeks' AS b, date + 7 AS c, date - DATE '2012-01-01' AS d FROM weather ORDER BY date LIMIT 4
SELECT date + INTERVAL (wind::INT) DAY AS a, date + to_days(3) AS b, date + to_months(2) + to_hours(5) AS c FROM weather ORDER BY date LIMIT 4
SELECT date_diff('day', DATE '2012-01-01', date) AS d, datediff('month', DATE '2011-06-15', date) AS m, date_sub('month', DATE '2011-06-15', date) AS s FROM weather ORDER BY date LIMIT 4
SELECT age(TIMESTAMP '2016-02-29', date) AS a FROM weather ORDER BY date LIMIT 3
SELECT last_day(date) AS l, make_date(year(date), 1, 1) AS first, days_in_month(date) AS n FROM weather ORDER BY date LIMIT 3
SELECT count(*) AS n FROM weather WHERE date BETWEEN '2013-03-01' AND '2013-05-31'
SELECT count(*) AS n FROM weather WHERE date >= DATE '2014-01-01' AND date < DATE '2014-01-01' + INTERVAL 3 MONTHS
SELECT count(*) AS n FROM weather WHERE date_part('year', date) = 2015 AND dayname(date) IN ('Saturday', 'Sunday')
SELECT hour(date) AS h, count(*) AS n, avg(delay) AS delay FROM flights GROUP BY h ORDER BY h
SELECT time_bucket(INTERVAL '6 hours', date) AS bucket, count(*) AS n FROM flights GROUP BY bucket ORDER BY bucket LIMIT 10
SELECT time_bucket(INTERVAL '2 weeks', date, TIMESTAMP '2001-01-01') AS bucket, count(*) AS n FROM flights GROUP BY bucket ORDER BY bucket
SELECT date::DATE AS d, date::TIME AS t, minute(date) AS m, second(date) AS s, epoch(date) AS e, epoch_ms(date) AS ms FROM flights ORDER BY date, distance LIMIT 4
SELECT max(date) - min(date) AS span, date_diff('hour', min(date), max(date)) AS hours FROM flights
SELECT strptime('03/02/2024 14:05', '%d/%m/%Y %H:%M') AS a, try_strptime('x', '%Y') AS b, try_strptime('2024', ['%d', '%Y']) AS c
SELECT "Title", try_strptime("Release Date", '%b %d %Y') AS released FROM movies ORDER BY released DESC NULLS LAST, "Title" LIMIT 5
SELECT year(strptime("Release Date", '%b %d %Y')) AS y, count(*) AS n FROM movies WHERE "Release Date" LIKE '% 2008' GROUP BY y ORDER BY y
SELECT DATE '2024-02-29' + INTERVAL 1 YEAR AS a, DATE '2024-01-31' + INTERVAL 1 MONTH AS b, TIMESTAMP '2024-03-10 12:00' - INTERVAL '36 hours' AS c
SELECT INTERVAL '1 day 2 hours' AS i, to_minutes(90) AS m, INTERVAL 1 YEAR + INTERVAL 3 DAYS AS s, -INTERVAL '3 days' AS neg
SELECT extract(epoch FROM INTERVAL '90 minutes') AS s, to_timestamp(0) AS z, make_timestamp(2024, 2, 3, 4, 5, 6.5) AS t
SELECT d::DATE AS d FROM generate_series(DATE '2024-01-28', DATE '2024-02-02', INTERVAL 1 DAY) AS t(d) ORDER BY d
SELECT unnest(generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02', INTERVAL 6 HOURS)) AS t
SELECT d.d::DATE AS d, coalesce(count(w.date), 0) AS n FROM range(DATE '2015-12-25', DATE '2016-01-03', INTERVAL 1 DAY) AS d(d) LEFT JOIN weather AS w ON w.date = d.d GROUP BY ALL ORDER BY d
SELECT (date_trunc('month', date) + INTERVAL 1 MONTH - INTERVAL 1 DAY)::DATE AS month_end FROM weather GROUP BY ALL ORDER BY 1 LIMIT 4
SELECT TIMESTAMP '2024-06-01 12:00' AT TIME ZONE 'UTC' AS a, timezone('UTC', TIMESTAMP '2024-06-01 12:00') AS b
SELECT TIMESTAMPTZ '2024-06-01 12:00:00+02' AT TIME ZONE 'Europe/Berlin' AS berlin, TIMESTAMPTZ '2024-06-01 12:00:00+02' AS t
SELECT greatest(DATE '2024-01-01', DATE '2023-01-01') AS g, isfinite(DATE 'infinity') AS f, DATE '2024-01-05' > '2024-01-04' AS later
SELECT date_trunc('hour', TIMESTAMPTZ '2024-03-31 00:30:00+00') + INTERVAL 1 DAY AS t, TIMESTAMP '2024-07-01 12:00:00' AT TIME ZONE 'America/New_York' AS ny
SELECT DATE '1992-01-01' - DATE '1991-12-01' AS days, epoch_us(TIMESTAMP '2020-01-01') AS us, julian(DATE '2020-01-01') AS j
SELECT Year, count(*) AS n FROM cars WHERE year(Year) IN (1970, 1982) GROUP BY Year ORDER BY Year
SELECT strftime(make_date(2024, m, 1), '%B') AS month FROM range(1, 13) AS t(m) ORDER BY m
`)
