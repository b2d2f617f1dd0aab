import type { Table } from './queries.js'

/** Three small tables with missing values, and names and values in each of them that meet those of the others. */
export const tableSources: Readonly<Record<string, string>> = {
  orders: `SELECT i AS id, CASE WHEN i % 9 <> 4 THEN i % 7 END AS customer, CASE WHEN i % 8 <> 3 THEN (i * 37 % 101) / 4.0::DOUBLE END AS amount,
    DATE '2024-01-01' + CAST(i * 3 % 60 AS INTEGER) AS day, ['first', 'north', NULL, 'it''s', 'o"o', 'é🦆'][i % 6 + 1] AS note,
    CASE WHEN i % 5 = 0 THEN NULL ELSE [i % 3, NULL, i % 4] END AS tags FROM range(40) AS t(i)`,
  customers: `SELECT i::INT AS cid, 'Name ' || chr((97 + i % 5)::INT) AS name, ['north', 'south', NULL][i % 3 + 1] AS region,
    {'a': (i % 4)::INT, 'b': CASE WHEN i % 4 <> 1 THEN 'b' || i END} AS info,
    CASE WHEN i <> 5 THEN json_object('k', [i, i % 2], 'n', i % 3, 'o', json_object('v', 'x')) END AS doc, i % 2 = 0 AS vip FROM range(12) AS t(i)`,
  events: `SELECT i AS eid, TIMESTAMP '2024-01-01 00:00:00' + to_hours((i * 7 % 90)::INT) AS moment, ['north', 'a', 'click'][i % 3 + 1] AS kind,
    CASE WHEN i % 6 <> 2 THEN i * i % 23 END AS value, ['x' || i % 3, 'y'] AS words, (i % 7) / 2.0::DOUBLE AS score FROM range(30) AS t(i)`,
}

export const randomTables: readonly Table[] = [
  {
    name: 'orders',
    columns: [
      { name: 'id', kind: 'int' },
      { name: 'customer', kind: 'int' },
      { name: 'amount', kind: 'num' },
      { name: 'day', kind: 'date' },
      { name: 'note', kind: 'text' },
      { name: 'tags', kind: 'ints' },
    ],
  },
  {
    name: 'customers',
    columns: [
      { name: 'cid', kind: 'int' },
      { name: 'name', kind: 'text' },
      { name: 'region', kind: 'text' },
      { name: 'info', kind: 'struct' },
      { name: 'doc', kind: 'json' },
      { name: 'vip', kind: 'bool' },
    ],
  },
  {
    name: 'events',
    columns: [
      { name: 'eid', kind: 'int' },
      { name: 'moment', kind: 'time' },
      { name: 'kind', kind: 'text' },
      { name: 'value', kind: 'int' },
      { name: 'words', kind: 'texts' },
      { name: 'score', kind: 'num' },
    ],
  },
]
