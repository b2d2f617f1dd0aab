import { perLine } from '../../support/sql/twins.js'

/** What would run for hours: ended by the time that a query has. */
export const slow = perLine(String.raw`
SELECT count(*) FROM range(1000000) a, range(1000000) b
SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range + b.range + c.range = 7
SELECT sum(range) FROM range(10000000000000)
SELECT max(g) FROM generate_series(1, 9000000000000) AS t(g)
SELECT count(*) FROM range(300000) a JOIN range(300000) b ON a.range <> b.range + 1
SELECT count(*) FROM range(300000) a JOIN range(300000) b ON (a.range * b.range) % 7 = 3
SELECT count(*) FROM range(300000) a WHERE EXISTS (SELECT 1 FROM range(300000) b WHERE b.range * a.range = -1)
SELECT (SELECT count(*) FROM range(1000000) b WHERE b.range % (a.range + 1) = 0) FROM range(1000000) a
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r
WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT (n * 7919) % 1000000007 FROM r) SELECT count(*) FROM r
WITH RECURSIVE r(n) USING KEY (n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT count(*) FROM r
WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 1000000000) SELECT count(*) FROM a, a AS b
SELECT list_reduce(range(100000000), lambda a, b: (a * 31 + b) % 1000003)
SELECT list_sum(list_transform(range(20000), lambda x: list_sum(list_transform(range(20000), lambda y: x * y))))
SELECT levenshtein(repeat('ab', 200000), repeat('ba', 200000))
SELECT count(*) FROM range(100000000) WHERE regexp_matches(repeat('a', 100000) || range, '(a|aa)*(a|aaa)*b$')
SELECT count(*) FROM range(10000000) WHERE md5(sha256(range::VARCHAR)) LIKE '%000000000%'
SELECT quantile_cont(a.range, 0.5) OVER (ORDER BY a.range ROWS BETWEEN 1000000 PRECEDING AND 1000000 FOLLOWING) FROM range(3000000) a
SELECT mode(range % 1000) OVER (ORDER BY range ROWS BETWEEN 500000 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM range(2000000)
SELECT count(DISTINCT a.range * 1000000 + b.range) FROM range(1000000) a, range(1000000) b
SELECT * FROM range(100000) a ASOF JOIN range(100000) b ON a.range >= b.range, range(1000000) c ORDER BY 1, 2, 3
PIVOT (SELECT range AS a, range % 5000 AS b FROM range(5000000)) ON b USING count(*), sum(a), max(a)
SUMMARIZE SELECT a.range AS x, b.range AS y, md5(a.range::VARCHAR) AS z FROM range(100000) a, range(100000) b
SELECT count(*) FROM (SELECT a.range FROM range(1000000) a, range(1000000) b EXCEPT SELECT range FROM range(10))
SELECT approx_quantile(hash(a.range, b.range), 0.5) FROM range(1000000) a, range(1000000) b
SELECT sum(a.range) FROM range(1000000) a CROSS JOIN range(1000000) b GROUP BY CUBE (a.range % 7, b.range % 7, a.range % 5, b.range % 5)
`)

/** What would take all memory: ended by the memory that a query has, or before it begins. Some cost a process, so each is of a kind. */
export const large = perLine(String.raw`
SELECT length(repeat('x', 3000000000))
SELECT len(range(1000000000))
SELECT len(list(repeat('x', 10000) || range)) FROM range(1000000)
SELECT histogram(repeat('x', 1000) || range) FROM range(5000000)
SELECT length(regexp_replace(repeat('x', 100000000), 'x', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy', 'g'))
WITH RECURSIVE r(s) AS (SELECT 'ab' UNION ALL SELECT s || s FROM r WHERE length(s) < 4000000000) SELECT max(length(s)) FROM r
`)
