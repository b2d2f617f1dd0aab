import { perLine } from '../../../support/sql/twins.js'

const doc = `'{"name": "x", "tags": ["a", "b"], "n": 3, "deep": {"list": [{"v": 1}, {"v": 2}]}, "nil": null}'::JSON`

export const json = perLine(String.raw`
SELECT j->'$.name' AS a, j->>'$.name' AS b, j->'tags' AS c, j->>'n' AS d, j.deep AS e FROM (SELECT ${doc} AS j)
SELECT json_extract(j, '$.tags[0]') AS a, json_extract_string(j, '$.tags[1]') AS b, j->'$.deep.list[*].v' AS c, j->'$.deep.list[#-1].v' AS d FROM (SELECT ${doc} AS j)
SELECT json_extract(j, ['$.n', '$.name']) AS both, json_extract_path_text(j, 'name') AS t, json_value(j, '$.n') AS v, json_exists(j, '$.zip') AS z FROM (SELECT ${doc} AS j)
SELECT json_type(j) AS a, json_type(j, '$.tags') AS b, json_array_length(j, '$.tags') AS c, json_keys(j) AS d, json_valid('{') AS e, json_structure(j) AS f FROM (SELECT ${doc} AS j)
SELECT (j->>'n')::INT + 1 AS n, CAST(j->'tags' AS VARCHAR[]) AS tags, (j->'tags')::VARCHAR[] AS again, j->>'nil' IS NULL AS nil FROM (SELECT ${doc} AS j)
SELECT json_transform(j, '{"name": "VARCHAR", "n": "INTEGER"}') AS t, from_json(j, '{"tags": ["VARCHAR"]}') AS f, json_transform_strict('{"a": 1}', '{"a": "BIGINT"}') AS s FROM (SELECT ${doc} AS j)
SELECT key, value, type, path FROM json_each('{"a": 1, "b": [2]}') ORDER BY key
SELECT fullkey, type, atom FROM json_tree('{"a": {"b": [1, null]}}') ORDER BY id
SELECT e.key, e.value FROM (SELECT ${doc} AS j) AS t, json_each(t.j) AS e ORDER BY e.key
SELECT unnest(json_extract_string(j, '$.tags[*]')) AS tag FROM (SELECT ${doc} AS j)
SELECT to_json({'a': 1, 'b': [1, 2]}) AS a, row_to_json({'x': Name}) AS b, json_object('n', Name, 'h', Horsepower) AS c, json_array(1, 'x', NULL) AS d FROM cars ORDER BY Name, Year LIMIT 2
SELECT json_group_array(Name) AS a, json_group_object(Name, Cylinders) AS o FROM (FROM cars WHERE Cylinders = 5 ORDER BY Name, Year)
SELECT Origin, to_json(list({'n': Name, 'h': Horsepower} ORDER BY Name, Year)) AS j FROM cars WHERE Cylinders = 3 GROUP BY Origin ORDER BY Origin
SELECT json_merge_patch('{"a": 1, "b": 2}', '{"b": null, "c": 3}') AS m, json_contains('{"a": [1]}', '1') AS c, json_quote('a"b') AS q, json('{"a":  1}') AS min, json_pretty('[1]') AS p
SELECT j->>'$.a' AS a FROM (VALUES ('{"a": 1}'), ('{"a": "x"}'), ('{}')) AS t(j) ORDER BY a NULLS FIRST
SELECT CAST('{"a": 1}' AS JSON)->>'a' = '1' AS eq, '[1, 2]'::JSON->0 AS first, '[1, 2]'::JSON->>-1 AS last, TRY_CAST('{bad' AS JSON) AS bad
SELECT array_to_json([1, 2]) AS a, json_array_length('[1, 2]') AS n, json_group_structure(j) AS s FROM (VALUES ('{"a": 1}'::JSON), ('{"b": "x"}'::JSON)) AS t(j)
SELECT to_json(c) AS j FROM cars AS c ORDER BY Name, Year LIMIT 2
SELECT to_json(MAP {'k': 1}) AS m, to_json(DATE '2024-01-01') AS d, to_json(1.50) AS n, to_json(NULL) AS z, to_json('x') AS s
`)
