import { perLine } from '../../../support/sql/twins.js'

export const statistics = perLine(String.raw`
SELECT quantile_cont(Horsepower, 0.9) AS p90, quantile_disc(Horsepower, 0.9) AS d90, median(Horsepower) AS m FROM cars
SELECT quantile_cont(price, [0.1, 0.5, 0.9]) AS ps, symbol FROM stocks GROUP BY symbol ORDER BY symbol
SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY price) AS q1, percentile_disc(0.75) WITHIN GROUP (ORDER BY price DESC) AS q3 FROM stocks
SELECT mode() WITHIN GROUP (ORDER BY Cylinders) AS m FROM cars
SELECT stddev(price) AS a, stddev_pop(price) AS b, var_samp(price) AS c, var_pop(price) AS d, variance(price) AS e, sem(price) AS f FROM stocks
SELECT skewness(Horsepower) AS s, kurtosis(Horsepower) AS k, kurtosis_pop(Horsepower) AS p, mad(Horsepower) AS m FROM cars
SELECT corr(Horsepower, Weight_in_lbs) AS r, covar_pop(Horsepower, Weight_in_lbs) AS p, covar_samp(Horsepower, Weight_in_lbs) AS s FROM cars
SELECT regr_slope(Miles_per_Gallon, Weight_in_lbs) AS b, regr_intercept(Miles_per_Gallon, Weight_in_lbs) AS a, regr_r2(Miles_per_Gallon, Weight_in_lbs) AS r2, regr_count(Miles_per_Gallon, Horsepower) AS n FROM cars
SELECT regr_avgx(yield, year) AS x, regr_avgy(yield, year) AS y, regr_sxx(yield, year) AS xx, regr_sxy(yield, year) AS xy, regr_syy(yield, year) AS yy FROM barley
SELECT Origin, regr_slope(Miles_per_Gallon, Horsepower) AS b FROM cars GROUP BY Origin ORDER BY Origin
SELECT count(*) FILTER (abs(z) > 2) AS outliers FROM (SELECT (Horsepower - avg(Horsepower) OVER ()) / stddev(Horsepower) OVER () AS z FROM cars)
SELECT width, count(*) AS n FROM (SELECT floor(Acceleration / 5) * 5 AS width FROM cars) GROUP BY width ORDER BY width
SELECT approx_count_distinct(Origin) AS a, approx_quantile(Cylinders, 0.5) AS q FROM cars
SELECT approx_top_k(Origin, 2) AS top FROM cars
SELECT fsum(price) AS f, kahan_sum(price) AS k, favg(price) AS a, sum(price) AS s FROM stocks
SELECT avg(Horsepower) AS a, mean(Horsepower) AS b, sum(Horsepower) AS c, sum(Horsepower)::DOUBLE AS d FROM cars
SELECT weighted_avg(price, 2) AS w, wavg(price, year(date)) AS y FROM stocks
SELECT equi_width_bins(0, 10, 2, true) AS b, histogram_exact(Cylinders, [4, 6, 8]) AS h FROM cars
SELECT round(12.345, 1) AS a, round(-1234.5, -2) AS b, floor(-1.5) AS c, ceil(1.2) AS d, trunc(-1.7) AS e, round_even(2.5, 0) AS f, sign(-3) AS g, abs(-2) AS h
SELECT 7 / 2 AS a, 7 // 2 AS b, -7 // 2 AS c, 7 % 3 AS d, -7 % 3 AS e, 2 ** 10 AS f, 2 ^ 3 AS g, 5! AS h, fmod(7.5, 2) AS i, divide(7, 2) AS j
SELECT sqrt(2) AS a, cbrt(27) AS b, exp(1) AS c, ln(10) AS d, log(100) AS e, log2(8) AS f, log(2, 8) AS l, pow(2, 0.5) AS g, pi() AS h, gamma(5) AS i, factorial(10) AS j
SELECT sin(1) AS a, cos(1) AS b, tan(1) AS c, asin(0.5) AS d, atan2(1, 2) AS e, degrees(pi()) AS f, radians(180) AS g, cot(1) AS h, sinh(1) AS i
SELECT gcd(12, 18) AS a, lcm(4, 6) AS b, greatest(1, 3, 2) AS c, least(1, NULL, 2) AS d, even(2.1) AS e, nextafter(1.0::DOUBLE, 2.0) > 1 AS f, bit_count(7) AS g, xor(5, 3) AS h
SELECT 1 << 4 AS a, 255 >> 2 AS b, 6 & 3 AS c, 6 | 3 AS d, ~5 AS e, @(-3) AS f, 7 // 2 AS g
SELECT isnan('nan'::DOUBLE) AS a, isinf('inf'::DOUBLE) AS b, isfinite(1.0) AS c, nullif(1, 1) AS d, coalesce(NULL, 2) AS e, ifnull(NULL, 3) AS f, 1 IS DISTINCT FROM NULL AS g
SELECT 0.1 + 0.2 AS a, 0.1::DOUBLE + 0.2 AS b, 1.10 * 3 AS c, 10::DECIMAL(10, 4) / 3 AS d, 1e3 AS e, '0xff'::INT AS f, 1_000_000 AS g, 9223372036854775807 AS h, 170141183460469231731687303715884105727 AS i
SELECT 3::TINYINT + 4::SMALLINT AS a, typeof(1 + 1.0) AS b, typeof(1::UBIGINT) AS c, typeof([1]) AS d, typeof({'a': 1}) AS e, typeof(NULL) AS f, pg_typeof(1) AS g
SELECT corr(temp_max, lagged) AS autocorrelation FROM (SELECT temp_max, lag(temp_max) OVER (ORDER BY date) AS lagged FROM weather)
SELECT count(*) AS n FROM cars TABLESAMPLE reservoir(50 ROWS) REPEATABLE (42)
SELECT count(*) AS n FROM (FROM cars USING SAMPLE 10 ROWS (reservoir, 42))
SELECT count(*) > 0 AS some FROM cars USING SAMPLE 50% (bernoulli, 7)
SELECT arg_max(date, temp_max) AS hottest, max(temp_max) AS t, arg_min(date, temp_min) AS coldest FROM weather
SELECT Origin, count(*) AS n, round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS pct FROM cars GROUP BY Origin ORDER BY pct DESC
SELECT bucket, min(Horsepower) AS lo, max(Horsepower) AS hi, count(*) AS n FROM (SELECT Horsepower, ntile(5) OVER (ORDER BY Horsepower, Name, Year) AS bucket FROM cars WHERE Horsepower IS NOT NULL) GROUP BY bucket ORDER BY bucket
SELECT exp(avg(ln(price))) AS geometric, 1 / avg(1 / price) AS harmonic FROM stocks
SELECT list_sum(list_transform(list(price), lambda x: x * x)) AS squares FROM stocks WHERE symbol = 'IBM'
SELECT max(abs(delta)) AS drawdown FROM (SELECT price / max(price) OVER (PARTITION BY symbol ORDER BY date) - 1 AS delta FROM stocks)
SELECT Species, avg(COLUMNS('mm')) FROM penguins GROUP BY Species ORDER BY Species
`)
