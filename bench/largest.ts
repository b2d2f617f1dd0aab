import { limits } from '../src/limits.js'

/** A request that is as large as it may be, in one way. */
export type Largest = { name: string; method: string; path: string; body?: () => string }

const repeated = (before: string, part: string, after = '') => {
  const room = limits.statementMaxChars - before.length - after.length
  return before + part.repeat(Math.floor(room / part.length)) + after
}
/** A part of so many tokens, as often as a statement may have them. */
const manyTokens = (before: string, part: string, tokens: number, after = '') => {
  const most = Math.floor((limits.statementMaxTokens - 200) / tokens)
  const fits = Math.floor((limits.statementMaxChars - before.length - after.length) / part.length)
  return before + part.repeat(Math.min(most, fits)) + after
}
const nested = (before: string, open: string, inner: string, close: string, after = '') => {
  const depth = Math.min(Math.floor((limits.statementMaxTokens - 200) / 2), Math.floor(480_000 / Math.max(open.length, close.length)))
  return before + open.repeat(depth) + inner + close.repeat(depth) + after
}

/** Statements, each with the longest text of its kind. Those that write have a name that is taken, or cannot be carried out. */
export const statements: Record<string, () => string> = {
  'SELECT of brackets': () => nested('SELECT ', '(', '1', ')'),
  'SELECT of a list': () => manyTokens('SELECT ', '1,', 2, '1'),
  'SELECT of texts': () => repeated("SELECT '", 'text ', "'"),
  'SELECT of operators': () => manyTokens('SELECT 1', '+1', 2),
  'SELECT of lists in lists': () => nested('SELECT ', '[', '', ']'),
  'SELECT … IN': () => manyTokens('SELECT 1 WHERE 1 IN (', '1,', 2, '1)'),
  'SELECT of joins': () => manyTokens('SELECT * FROM cars', ' JOIN cars', 2),
  'SELECT of PIVOTs': () => manyTokens('SELECT * FROM cars ', 'PIVOT ', 1),
  'SELECT of a broken text': () => repeated("SELECT '", 'a '),
  'SELECT of lines': () => repeated('SELECT ', '\n', ')'),
  'SELECT of emoji': () => repeated("SELECT '", '😀', "' )"),
  'words that are no statement': () => manyTokens('', 'ab ', 1),
  'words of secrets': () => manyTokens('', 'token = a b, ', 5),
  'settings in a text': () => {
    const parts = Array.from({ length: limits.statementMaxChars / 12 }, (_, n) => `key${n}a= `)
    return `SELECT '${parts.join('').slice(0, limits.statementMaxChars - 20)}' )`
  },
  'comments in comments': () => repeated('', '/*'),
  comments: () => repeated('SELECT 1 ', '/* a = b */ '),
  'EXPLAIN SELECT': () => manyTokens('EXPLAIN SELECT ', '1,', 2, '1'),
  'CREATE JOB': () => nested('CREATE JOB j (SELECT ', '(', '1', ')', ") START '2099-01-01'"),
  'CREATE JOB of statements': () => `CREATE JOB j (${'SELECT 1; '.repeat(200)})`,
  'CREATE JOB of a list': () => manyTokens('CREATE JOB j (SELECT ', "'ab',", 2, "1) START '2099-01-01'"),
  'CREATE VIEW': () => manyTokens('CREATE VIEW v AS (SELECT ', '1,', 2, '1)'),
  'CREATE MODEL': () => manyTokens('CREATE MODEL cars_model FROM files (SELECT ', '1,', 2, '1) PREDICT x'),
  'CREATE SKILL': () => {
    const settings = Array.from({ length: 40_000 }, (_, n) => `, a${n} = 1`)
    return `CREATE SKILL sales USING type = 'x'${settings.join('')}`
  },
  'CREATE SKILL with a list': () => manyTokens("CREATE SKILL sales USING type = 'x', a = [", '1,', 2, '1]'),
  'CREATE DATABASE': () => `CREATE DATABASE chat WITH ENGINE = 'slack', PARAMETERS = {${'"a":{"b":'.repeat(20)}1${'}'.repeat(41)}`,
  'INSERT of rows': () => manyTokens('INSERT INTO files.cars VALUES ', "(1,'a'),", 6, "(1,'a')"),
  'UPDATE of columns': () => manyTokens('UPDATE AGENT nobody SET ', 'a=1,', 4, 'b=1'),
  'DELETE with conditions': () => manyTokens('DELETE FROM files.cars WHERE a = 1', ' AND a = 1', 4),
  'DROP VIEW of many': () => manyTokens('DROP VIEW IF EXISTS v0', ',a', 2),
  'SHOW … LIKE': () => repeated("SHOW COLLATION LIKE '", '%_', "'"),
  'SHOW … WHERE': () => manyTokens('SHOW SKILLS WHERE name = 1', ' AND a = 1', 4),
  'DESCRIBE of a name': () => repeated('DESCRIBE ', 'a'),
  'EVALUATE of brackets': () => nested('EVALUATE r2_score FROM (SELECT ', '(', '1', ')', ')'),
  SET: () => repeated("SET names = '", 'a', "'"),
}

const values = (count: number, value: (n: number) => string) => Array.from({ length: count }, (_, n) => value(n)).join(',')
const wrapped = (kind: string, rest: string) => (params: string) => `{"${kind}":{"name":"taken",${rest}"params":${params}}}`
const resource = (kind: string, path: string, rest: string): Largest[] => {
  const of = wrapped(kind, rest)
  const most = limits.resourceBodyMaxValues - 100
  const ways: Record<string, () => string> = {
    keys: () => of(`{${values(limits.objectMaxKeys, (n) => `"k${n}":1`)}}`),
    objects: () => of(`{"a":[${values(most >> 1, (n) => `{"k${n}":1}`)}]}`),
    texts: () => of(`{"a":[${values(most - 100, () => '"a b=c d"')}]}`),
    secrets: () => of(`{"a":[${values(limits.secretsMaxPerCommand, () => '{"token":"x"}')}]}`),
    'one text': () => of(`{"a":"${'a b = c '.repeat(250_000)}"}`),
    'a text of URLs': () => of(`{"a":"${'a://b:c '.repeat(250_000)}"}`),
    'JSON in a text': () => of(`{"a":${JSON.stringify(`[${'1,'.repeat(990_000)}1]`)}}`),
  }
  return Object.entries(ways).map(([name, body]) => ({ name: `${kind} of ${name}`, method: 'POST', path, body }))
}

const rows = (count: number, columns: number) => values(count, (n) => `{${values(columns, (column) => `"c${column}":${n}`)}}`)

/** Bodies of rows, and of every kind of resource. */
export const bodies: readonly Largest[] = [
  { name: 'login', method: 'POST', path: '/api/login', body: () => `{"password":"${'x'.repeat(limits.smallBodyMaxBytes - 100)}"}` },
  ...resource('skill', '/api/projects/mindsdb/skills', '"type":"sql",'),
  ...resource('agent', '/api/projects/mindsdb/agents', '"model_name":"m",'),
  ...resource('chatbot', '/api/projects/mindsdb/chatbots', '"database_name":"chat",'),
  {
    name: 'database of keys',
    method: 'POST',
    path: '/api/databases',
    body: () => `{"database":{"name":"taken","engine":"slack","parameters":{${values(limits.objectMaxKeys, (n) => `"k${n}":1`)}}}}`,
  },
  {
    name: 'agent of skills',
    method: 'POST',
    path: '/api/projects/mindsdb/agents',
    body: () => `{"agent":{"name":"x","model_name":"m","skills":[${values(limits.resourceBodyMaxValues - 100, () => '"s"')}]}}`,
  },
  {
    name: 'view',
    method: 'POST',
    path: '/api/projects/mindsdb/views',
    body: () => JSON.stringify({ view: { name: 'w', query: manyTokens('SELECT ', '1,', 2, '1') } }),
  },
  {
    name: 'job',
    method: 'POST',
    path: '/api/projects/mindsdb/jobs',
    body: () => JSON.stringify({ job: { name: 'w', query: manyTokens('SELECT ', "'ab',", 2, '1'), start_at: '2099-01-01' } }),
  },
  {
    name: 'rows to predict',
    method: 'POST',
    path: '/api/projects/mindsdb/models/cars_model/predict',
    body: () =>
      `[${values(limits.predictMaxRows, (n) => `{"Horsepower":${n % 200},"Weight_in_lbs":${2000 + n},"Origin":"USA","Year":"1970-01-01"}`)}]`,
  },
  {
    name: 'rows in a text to predict',
    method: 'POST',
    path: '/api/projects/mindsdb/models/cars_model/predict',
    body: () => JSON.stringify({ data: `[${values(limits.predictMaxRows, (n) => `{"Horsepower":${n % 200}}`)}]` }),
  },
  {
    name: 'values to predict',
    method: 'POST',
    path: '/api/projects/mindsdb/models/cars_model/predict',
    body: () => `[${rows(limits.predictMaxRows, 90)}]`,
  },
  {
    name: 'columns to predict',
    method: 'POST',
    path: '/api/projects/mindsdb/models/cars_model/predict',
    body: () => `{"data":{"Horsepower":[${values(900_000, () => '1')}]}}`,
  },
  {
    name: 'explained rows',
    method: 'POST',
    path: '/api/projects/mindsdb/models/cars_model/predict',
    body: () => `{"data":[${values(limits.explainMaxRows, (n) => `{"Horsepower":${n % 200}}`)}],"params":{"explain":"contributions"}}`,
  },
  {
    name: 'outcomes',
    method: 'POST',
    path: '/api/projects/mindsdb/models/cars_model/outcomes',
    body: () => `{"outcomes":[${values(limits.outcomesMaxRows, (n) => `{"position":1,"row":${n},"truth":1}`)}]}`,
  },
  {
    name: 'rows to learn from',
    method: 'POST',
    path: '/api/projects/mindsdb/models',
    body: () => `{"query":"CREATE MODEL wide_model PREDICT c0","data":[${rows(60_000, 10)}]}`,
  },
  {
    name: 'parameters of a statement',
    method: 'POST',
    path: '/api/sql/query',
    body: () => `{"query":"SELECT 1","params":[${values(limits.statementMaxParams, () => '1')}]}`,
  },
  {
    name: 'a large parameter',
    method: 'POST',
    path: '/api/sql/query',
    body: () => `{"query":"SELECT length(:a)","params":{"a":"${'x'.repeat(9_000_000)}"}}`,
  },
  {
    name: 'values in a context',
    method: 'POST',
    path: '/api/sql/query',
    body: () => `{"query":"SELECT 1","context":{"x":[${values(900_000, () => '1')}]}}`,
  },
  {
    name: 'constants of a statement',
    method: 'POST',
    path: '/api/sql/query/utils/parametrize_constants',
    body: () => JSON.stringify({ query: manyTokens('SELECT ', '1,', 2, '1') }),
  },
  ...Object.entries(statements).map(([name, query]) => ({
    ...{ name, method: 'POST', path: '/api/sql/query' },
    body: () => JSON.stringify({ query: query() }),
  })),
]
