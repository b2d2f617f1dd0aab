import { perLine } from '../../../support/sql/twins.js'

export const lists = perLine(String.raw`
SELECT Origin, list(Horsepower ORDER BY Horsepower DESC NULLS LAST)[1:3] AS top FROM cars GROUP BY Origin ORDER BY Origin
SELECT list_transform([1, 2, 3], lambda x: x * 2) AS a, list_filter([1, 2, 3], lambda x: x > 1) AS b, list_reduce([1, 2, 3], lambda a, b: a + b) AS c
SELECT list_transform(['a', 'b'], lambda x, i: x || i) AS a, list_reduce([1, 2, 3], lambda a, x, i: a + x * i) AS r, list_reduce([1, 2], lambda a, x: a + x, 100) AS s
SELECT [x * 2 FOR x IN [1, 2, 3] IF x <> 2] AS a, [upper(x) FOR x IN string_split('a b', ' ')] AS b, [x + i FOR x, i IN [10, 20]] AS c
SELECT list_sort([3, 1, 2]) AS a, list_reverse_sort([3, 1, 2]) AS b, list_distinct([1, 1, 2]).list_sort() AS c, list_unique([1, 1, 2]) AS d, list_position([1, 2], 2) AS e
SELECT list_sum([1, 2]) AS a, list_avg([1, 2]) AS b, list_min([1, 2]) AS c, list_max([1, 2]) AS d, list_aggregate([1, 2, 3], 'median') AS e, list_aggr([1, 2], 'string_agg', '-') AS f
SELECT list_concat([1], [2]) AS a, [1] || [2] AS b, list_append([1], 2) AS c, list_prepend(0, [1]) AS d, list_contains([1], 1) AS e, list_has_any([1, 2], [2, 3]) AS f, list_has_all([1, 2], [2]) AS g
SELECT list_intersect([1, 2], [2, 3]) AS a, list_zip([1, 2], ['a', 'b']) AS b, list_slice([1, 2, 3], 2, 3) AS c, [1, 2, 3, 4][2:-1] AS d, [1, 2, 3, 4][:-:2] AS e, flatten([[1], [2]]) AS f
SELECT list_resize([1], 3, 0) AS a, list_grade_up([3, 1, 2]) AS b, list_where([1, 2], [true, false]) AS c, list_select([4, 5, 6], [1, 3]) AS d, range(3) AS e, generate_series(1, 3) AS f
SELECT list_cosine_similarity([1.0, 2.0], [2.0, 4.0]) AS a, list_dot_product([1, 2], [3, 4]) AS b, list_distance([0, 0], [3, 4]) AS c, list_histogram([1, 1, 2]) AS h, list_any_value([NULL, 3]) AS v
SELECT [1, NULL, 3] AS a, len([1, NULL]) AS b, list_count([1, NULL]) AS c, [] AS d, [[1, 2], [3]] AS e, [1, 2] = [1, 2] AS f, [1, 2] < [1, 3] AS g
SELECT array_value(1, 2, 3) AS a, [1, 2, 3]::INTEGER[3] AS b, array_distance([1, 2]::FLOAT[2], [3, 4]::FLOAT[2]) AS c, array_cross_product([1, 0, 0]::FLOAT[3], [0, 1, 0]::FLOAT[3]) AS d
SELECT unnest([1, 2, 3]) AS x, unnest(['a', 'b']) AS y
SELECT Origin, unnest(list(DISTINCT Cylinders ORDER BY Cylinders)) AS c FROM cars GROUP BY Origin ORDER BY ALL
SELECT u.w, count(*) AS n FROM cars AS c, unnest(string_split(c.Name, ' ')) AS u(w) GROUP BY u.w ORDER BY n DESC, u.w LIMIT 8
SELECT c.Name, u.w, u.ordinality AS place FROM cars AS c, unnest(string_split(c.Name, ' ')) WITH ORDINALITY AS u(w, ordinality) ORDER BY c.Name, c.Year, place LIMIT 8
SELECT Name, (SELECT max(length(w)) FROM unnest(string_split(Name, ' ')) AS t(w)) AS longest FROM cars ORDER BY Name, Year LIMIT 5
SELECT c.Name, u.w FROM cars AS c CROSS JOIN LATERAL (SELECT unnest(string_split(c.Name, ' ')) AS w) AS u WHERE c.Cylinders = 3 ORDER BY ALL
SELECT {'a': 1, 'b': 'x'} AS s, {'a': 1}.a AS f, {'a': {'b': 2}}.a.b AS deep, struct_extract({'k': 5}, 'k') AS e, row(1, 'x') AS r, {'a': 1}['a'] AS i
SELECT struct_pack(name := Name, hp := Horsepower) AS s FROM cars ORDER BY Name, Year LIMIT 3
SELECT s.name, s.hp FROM (SELECT struct_pack(name := Name, hp := Horsepower) AS s FROM cars) ORDER BY s.hp DESC NULLS LAST, s.name LIMIT 3
SELECT s.* FROM (SELECT {'name': Name, 'hp': Horsepower} AS s FROM cars ORDER BY Name, Year LIMIT 3)
SELECT unnest({'a': 1, 'b': [2, 3]}) FROM range(2)
SELECT unnest([{'a': 1, 'b': 2}, {'a': 3, 'b': 4}], recursive := true)
SELECT unnest([[{'a': 1}], [{'a': 2}]], max_depth := 3)
SELECT struct_insert({'a': 1}, b := 2) AS a, struct_keys({'a': 1, 'b': 2}) AS k, struct_concat({'a': 1}, {'b': 2}) AS c, struct_update({'a': 1}, a := 5) AS u
SELECT list({'o': Origin, 'c': Cylinders} ORDER BY Name, Year)[1:2] AS l FROM cars
SELECT list_transform(list(s ORDER BY s.n), lambda x: x.n * 2) AS l FROM (SELECT {'n': i} AS s FROM range(4) AS t(i))
SELECT map {'a': 1, 'b': 2} AS m, map {'a': 1}['a'] AS v, map_keys(map {'a': 1}) AS k, map_values(map {'a': 1}) AS w, map_entries(map {'a': 1}) AS e
SELECT map(['x', 'y'], [1, 2]) AS m, map_from_entries([('k', 1)]) AS f, map_concat(map {'a': 1}, map {'b': 2}) AS c, cardinality(map {'a': 1}) AS n, map_contains(map {'a': 1}, 'a') AS h
SELECT map_from_entries(list((Species, n) ORDER BY Species)) AS m FROM (SELECT Species, count(*) AS n FROM penguins GROUP BY Species)
SELECT element_at(map {'a': 1}, 'a') AS e, map_extract(map {'a': 1}, 'z') AS z, histogram(Origin)['USA'] AS usa FROM cars
SELECT union_value(num := 3) AS u, union_tag(union_value(num := 3)) AS t, union_extract(union_value(num := 3), 'num') AS e
SELECT list_transform(list(price ORDER BY date), lambda p: round(p)::INT)[1:5] AS first, symbol FROM stocks GROUP BY symbol ORDER BY symbol
SELECT symbol, list_filter(list(price ORDER BY date), lambda p: p > 500) AS high FROM stocks GROUP BY symbol ORDER BY symbol
SELECT list_transform([1, 2, 3], lambda x: list_transform([10, 20], lambda y: x * y)) AS nested
SELECT list_apply([1, 2], lambda x: x + Cylinders) AS l FROM cars ORDER BY Name, Year LIMIT 3
SELECT (1, 'a') = (1, 'a') AS eq, (1, 2) < (1, 3) AS lt, (Origin, Cylinders) IN (('USA', 8), ('Japan', 3)) AS isin FROM cars ORDER BY Name, Year LIMIT 4
SELECT apply([1, 2], lambda x: CASE WHEN x > 1 THEN 'big' ELSE 'small' END) AS a, array_filter([1, 2], lambda x: x IN (2, 3)) AS b
SELECT list_contains(list(Cylinders), 5) AS five, 8 IN (SELECT Cylinders FROM cars WHERE Origin = 'Japan') AS eight, 3 = ANY (SELECT Cylinders FROM cars) AS any3, 3 = ANY ([1, 2, 3]) AS l FROM cars
`)
