import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestLedger } from '../../support/ledger.js'

const sales = `SELECT i AS id, DATE '2024-01-01' + CAST(i % 90 AS INTEGER) AS day, ['north', 'south', 'east'][i % 3 + 1] AS region,
  'Cust ' || (i % 17) AS customer, (i * 37 % 101) / 4.0 AS amount, CASE WHEN i % 10 = 0 THEN NULL ELSE i % 5 END AS items,
  [i % 3, i % 4] AS tags, '{"a": ' || i || ', "b": ["x", "y"]}' AS doc, TIMESTAMP '2024-01-01 00:00:00' + to_minutes(i * 7) AS moment
  FROM range(500) AS t(i)`

let ledger: TestLedger
beforeAll(async () => {
  ledger = await TestLedger.create()
  await ledger.file('sales', sales)
  await ledger.run(`CREATE TABLE sales AS ${sales}`)
  await ledger.events(3)
})
afterAll(() => ledger.close())

const queries = [
  'SELECT region, count(*) AS n, avg(amount) AS mean FROM sales GROUP BY region ORDER BY region',
  'SELECT region, sum(amount) AS s FROM sales GROUP BY ALL ORDER BY ALL',
  'SELECT *, row_number() OVER (PARTITION BY region ORDER BY amount DESC, id) AS r FROM sales QUALIFY r <= 2 ORDER BY region, r',
  'SELECT id, lag(amount, 1, 0) OVER w AS before, sum(amount) OVER (w ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM sales WINDOW w AS (ORDER BY id) ORDER BY id LIMIT 20',
  'SELECT id, rank() OVER (ORDER BY items NULLS LAST) AS r, dense_rank() OVER (ORDER BY items) AS d, ntile(4) OVER (ORDER BY id) AS q FROM sales ORDER BY id LIMIT 20',
  'SELECT first_value(customer) OVER (PARTITION BY region ORDER BY amount, id) AS f, id FROM sales ORDER BY id LIMIT 9',
  'SELECT day, sum(amount) OVER (ORDER BY day RANGE BETWEEN INTERVAL 3 DAYS PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS s, id FROM sales ORDER BY id LIMIT 9',
  'SELECT quantile_cont(amount, 0.9) AS p90, quantile_cont(amount, [0.25, 0.5]) AS ps, median(items) AS m FROM sales',
  'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS p FROM sales',
  'SELECT mode(region) AS m, stddev(amount) AS s, var_pop(items) AS v, corr(amount, items) AS c FROM sales',
  'SELECT count(DISTINCT customer) AS c, count(items) AS i, count(*) FILTER (WHERE amount > 10) AS f FROM sales',
  'SELECT region, day_of, count(*) AS n FROM (SELECT *, dayname(day) AS day_of FROM sales) GROUP BY region, day_of HAVING count(*) > 3 ORDER BY 1, 2',
  'SELECT region, customer, sum(amount) AS s, grouping(region) AS g FROM sales GROUP BY ROLLUP (region, customer) ORDER BY ALL LIMIT 30',
  'SELECT region, items, count(*) AS n FROM sales GROUP BY GROUPING SETS ((region), (items), ()) ORDER BY ALL',
  'SELECT region, items, count(*) AS n FROM sales GROUP BY CUBE (region, items) ORDER BY ALL',
  `SELECT date_trunc('month', day) AS month, sum(amount) AS s FROM sales GROUP BY 1 ORDER BY 1`,
  `SELECT extract(year FROM day) AS y, month(day) AS m, strftime(day, '%Y/%m') AS f, day + INTERVAL 1 MONTH AS next FROM sales ORDER BY id LIMIT 3`,
  `SELECT date_diff('day', DATE '2024-01-01', day) AS d, age(TIMESTAMP '2024-03-01', moment)::VARCHAR AS a, epoch(moment) AS e FROM sales ORDER BY id LIMIT 3`,
  `SELECT time_bucket(INTERVAL 6 HOUR, moment) AS bucket, count(*) AS n FROM sales GROUP BY bucket ORDER BY bucket LIMIT 5`,
  `SELECT day BETWEEN '2024-01-05' AND '2024-01-10' AS b, day::VARCHAR AS t, CAST('2024-02-30' AS VARCHAR) AS c FROM sales ORDER BY id LIMIT 8`,
  `SELECT upper(customer) AS u, lower(region) AS l, length(customer) AS n, customer || '-' || region AS c, substring(customer, 1, 4) AS s FROM sales ORDER BY id LIMIT 3`,
  `SELECT split_part(customer, ' ', 2)::INT AS n, replace(region, 'o', '0') AS r, lpad(id::VARCHAR, 5, '0') AS p, trim('  x ') AS t FROM sales ORDER BY id LIMIT 3`,
  `SELECT regexp_extract(customer, '([0-9]+)', 1) AS n, regexp_replace(region, '[aeiou]', '_', 'g') AS r, regexp_matches(region, '^n') AS m FROM sales ORDER BY id LIMIT 3`,
  `SELECT customer LIKE 'Cust 1%' AS a, region ILIKE 'NO%' AS b, region NOT LIKE '%th' AS c, region SIMILAR TO 'n.*' AS d FROM sales ORDER BY id LIMIT 4`,
  `SELECT format('{} spent {:.2f}', customer, amount) AS f, printf('%05d', id) AS p FROM sales ORDER BY id LIMIT 2`,
  `SELECT string_agg(DISTINCT region, ', ' ORDER BY region) AS s, list(id ORDER BY id DESC)[1:3] AS l FROM sales`,
  'SELECT tags[1] AS t, len(tags) AS n, list_contains(tags, 2) AS c, list_sum(tags) AS s, tags || [9] AS more FROM sales ORDER BY id LIMIT 4',
  'SELECT list_transform(tags, lambda x: x * 2) AS d, list_filter(tags, lambda x: x > 1) AS f, [x + 1 FOR x IN tags IF x > 0] AS c FROM sales ORDER BY id LIMIT 5',
  'SELECT list_reduce(tags, lambda a, b: a + b) AS s, list_sort(tags) AS o, list_distinct(tags) AS d FROM sales ORDER BY id LIMIT 5',
  'SELECT id, unnest(tags) AS tag FROM sales ORDER BY id, tag LIMIT 8',
  'SELECT s.id, u.tag FROM sales AS s, unnest(s.tags) AS u(tag) ORDER BY 1, 2 LIMIT 8',
  `SELECT doc->>'$.a' AS a, json_extract(doc, '$.b[0]') AS b, json_array_length(doc->'$.b') AS n FROM sales ORDER BY id LIMIT 3`,
  `SELECT to_json({'k': id, 'l': tags}) AS j, json_object('r', region) AS o FROM sales ORDER BY id LIMIT 2`,
  `SELECT e.key, e.value FROM sales AS s, json_each(s.doc) AS e WHERE s.id = 3 ORDER BY e.key`,
  `SELECT {'a': id, 'b': {'c': region}} AS s, {'x': 1}.x AS x, MAP {'k': id} AS m FROM sales ORDER BY id LIMIT 2`,
  `SELECT s.a, s.b.c FROM (SELECT {'a': id, 'b': {'c': region}} AS s, id FROM sales) ORDER BY id LIMIT 2`,
  'WITH a AS (SELECT region, sum(amount) AS s FROM sales GROUP BY region), b AS (SELECT max(s) AS m FROM a) SELECT a.region FROM a JOIN b ON a.s = b.m',
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT sum(i) AS s FROM n',
  'WITH sales AS (SELECT 1 AS only) SELECT * FROM sales',
  'WITH a AS MATERIALIZED (SELECT * FROM sales WHERE id < 5) SELECT count(*) AS n FROM a AS x, a AS y',
  'SELECT region FROM sales WHERE id < 5 UNION SELECT customer FROM sales WHERE id < 3 ORDER BY 1',
  'SELECT region FROM sales UNION ALL BY NAME SELECT customer FROM sales ORDER BY ALL LIMIT 5',
  'SELECT region FROM sales EXCEPT SELECT region FROM sales WHERE amount > 25 ORDER BY 1',
  'SELECT items FROM sales INTERSECT SELECT id FROM sales ORDER BY 1',
  'SELECT a.id, b.id AS other FROM sales AS a LEFT JOIN sales AS b ON a.id = b.id - 499 ORDER BY 1 LIMIT 3',
  'SELECT count(*) AS n FROM sales AS a FULL JOIN sales AS b USING (id)',
  'SELECT count(*) AS n FROM sales AS a SEMI JOIN sales AS b ON a.id = b.id * 2',
  'SELECT count(*) AS n FROM sales AS a ANTI JOIN sales AS b ON a.id = b.id * 2',
  'SELECT a.id, b.moment FROM sales AS a ASOF JOIN sales AS b ON a.moment >= b.moment ORDER BY a.id LIMIT 3',
  'SELECT a.id, x.m FROM sales AS a, LATERAL (SELECT max(b.amount) AS m FROM sales AS b WHERE b.region = a.region) AS x ORDER BY a.id LIMIT 4',
  'SELECT id FROM sales AS a WHERE amount = (SELECT max(amount) FROM sales AS b WHERE b.region = a.region) ORDER BY id',
  'SELECT count(*) AS n FROM sales AS a WHERE EXISTS (SELECT 1 FROM sales AS b WHERE b.id = a.id + 1 AND b.amount > a.amount)',
  'SELECT id IN (1, 3) AS a, id NOT IN (SELECT items FROM sales WHERE items IS NOT NULL) AS b, (id, region) IN (SELECT id, region FROM sales) AS c FROM sales ORDER BY id LIMIT 6',
  `SELECT CASE WHEN amount > 20 THEN 'high' WHEN amount > 10 THEN 'mid' ELSE 'low' END AS band, count(*) AS n FROM sales GROUP BY band ORDER BY band`,
  `SELECT CASE region WHEN 'north' THEN 1 ELSE 0 END AS n, coalesce(items, -1) AS i, nullif(items, 2) AS z, ifnull(items, 0) AS f, greatest(1, id) AS g FROM sales ORDER BY id LIMIT 5`,
  `SELECT * EXCLUDE (doc, tags) REPLACE (upper(region) AS region) FROM sales ORDER BY id LIMIT 2`,
  `SELECT COLUMNS('^(id|amount)$') FROM sales ORDER BY id LIMIT 2`,
  `SELECT max(COLUMNS(['id', 'amount'])) FROM sales`,
  `SELECT * FROM (PIVOT sales ON region IN ('north', 'south') USING sum(amount) GROUP BY items) ORDER BY items`,
  `SELECT * FROM (UNPIVOT (SELECT id, amount, items::DOUBLE AS items FROM sales) ON amount, items INTO NAME what VALUE v) ORDER BY id, what LIMIT 6`,
  `SELECT DISTINCT region, items FROM sales ORDER BY ALL LIMIT 5`,
  'SELECT DISTINCT ON (region) region, id FROM sales ORDER BY region, id DESC',
  'FROM sales SELECT id ORDER BY id DESC LIMIT 3 OFFSET 2',
  'FROM sales ORDER BY id LIMIT 2',
  'SELECT id FROM sales ORDER BY id LIMIT 1%',
  'SELECT round(amount, 1) AS r, floor(amount) AS f, amount::INT AS i, amount // 3 AS d, id % 7 AS m, 2 ** 3 AS p, abs(-id) AS a FROM sales ORDER BY id LIMIT 4',
  'SELECT arg_max(customer, amount) AS a, min_by(id, amount) AS b, any_value(region) IS NOT NULL AS c, bool_and(amount >= 0) AS d FROM sales',
  `SELECT histogram(region) AS h, approx_count_distinct(region) AS a FROM sales`,
  'SELECT try_cast(customer AS INTEGER) AS t, TRY(CAST(customer AS INTEGER)) AS u, typeof(amount) AS v FROM sales ORDER BY id LIMIT 2',
  `SELECT generate_series AS g, d FROM generate_series(1, 3), (VALUES ('x'), ('y')) AS v(d) ORDER BY ALL`,
  `SELECT d::DATE AS d FROM range(DATE '2024-01-01', DATE '2024-01-04', INTERVAL 1 DAY) AS t(d)`,
  `SELECT md5(region) AS m, hash(id) IS NOT NULL AS h, base64('ab'::BLOB) AS b FROM sales ORDER BY id LIMIT 2`,
  `SELECT region.upper() AS u, region.left(2) AS s FROM sales ORDER BY id LIMIT 2`,
  `SELECT customer COLLATE NOCASE = 'CUST 1' AS e FROM sales ORDER BY id LIMIT 3`,
  `VALUES (1, 'a'), (2, 'b')`,
  'TABLE sales LIMIT 1',
  `SELECT sum(x) AS s FROM (SELECT unnest([1, 2, 3]) AS x)`,
  `SELECT id AS "the id", amount AS "üñï" FROM sales ORDER BY id LIMIT 1`,
]

const raw = async (sql: string) => {
  const connection = await ledger.instance.connect()
  const result = await connection.runAndReadAll(sql)
  const rows = { names: result.columnNames(), rows: result.getRowsJson() }
  connection.closeSync()
  return rows
}

/** Compares by what DuckDB's own JSON form of a value is, so that only the path of the query differs. */
const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string' && /^-?[0-9.]+(e[+-]?[0-9]+)?$/.test(value)) return String(Number(value))
  if (typeof value === 'string') return value.replace(/^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.0+)?$/, '$1')
  return value
}

const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

test.each(queries)('%s', async (sql) => {
  const [direct, ours] = [await raw(sql), await ledger.select(sql, { db: 'files' })]
  expect(ours.data.length).toBe(direct.rows.length)
  expect(ours.data.length).toBeGreaterThan(0)
  ours.data.forEach((row, i) => {
    row.forEach((value, j) => {
      if (!isMap(value)) expect(comparable(value)).toEqual(comparable(direct.rows[i]?.[j]))
    })
  })
  const written = direct.names.map((name, i) => (/[(]|^col\d|^CASE/.test(name) ? ours.names[i] : name))
  expect(ours.names).toEqual(written)
})

test('there are sixty and more', () => expect(queries.length).toBeGreaterThanOrEqual(60))
