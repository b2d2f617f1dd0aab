import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { isProblem } from '../../../src/basics/errors.js'
import { exactJson } from '../../../src/basics/exact-json.js'
import { nearest } from '../../../src/basics/nearest.js'
import { apiUrl } from '../../../src/chatbots/channels/channel.js'
import { missingTable } from '../../../src/connections/engines/contract/missing-table.js'
import { missingConditions, splitUsing, offsetLimits } from '../../../src/dialect/client-syntax.js'
import { lex } from '../../../src/dialect/lexer.js'
import { similarName } from '../../../src/dialect/names.js'
import { readDuckDBError } from '../../../src/sql/engine/ast/duckdb-error.js'
import { wordsFor } from '../../../src/sql/engine/errors/error-words.js'
import { nativeQueries, nativeSpelling } from '../../../src/sql/engine/resolve/native-queries.js'
import { missingValues, valueQueries } from '../../../src/sql/engine/read/pivots.js'
import { parseStatement, splitStatements } from '../../../src/sql/statements/parse.js'
import { cutSecrets, hiderOf } from '../../../src/dialect/mask-secrets.js'
import { systemAnswer } from '../../../src/sql/facade/server-answers.js'
import { translate } from '../../../src/sql/engine/session/translation.js'

/** What reads a statement in this service. Each takes any text, and refuses what it does not understand. */
const passes: Record<string, (sql: string) => unknown> = {
  statement: (sql) => {
    const statement = parseStatement(sql)
    return statement.kind === 'show' ? systemAnswer(statement, { db: 'mindsdb' }) : splitStatements(sql)
  },
  secrets: (sql) => cutSecrets(sql),
  'what errors hide': (sql) => hiderOf([sql])(`what ${sql.slice(0, 2_000)} says`),
  'query clauses': (sql) => {
    const { query } = splitUsing(lex(sql))
    return [missingConditions(query), missingValues(query), valueQueries(query), offsetLimits(query)]
  },
  spelling: (sql) => {
    const tokens = lex(sql)
    const { after, instead } = nativeSpelling(nativeQueries(tokens))
    return translate(sql, tokens, {}, after, instead)
  },
}

/** Makes a text of about a size out of a part that repeats. */
const repeated =
  (before: string, part: string, after = '') =>
  (size: number): string =>
    before + part.repeat(Math.floor(size / part.length)) + after
const nested =
  (before: string, open: string, inner: string, close: string, after = '') =>
  (size: number): string => {
    const depth = Math.floor(size / (open.length + close.length))
    return before + open.repeat(depth) + inner + close.repeat(depth) + after
  }
const numbered =
  (before: string, part: (n: number) => string) =>
  (size: number): string => {
    let text = before
    for (let n = 0; text.length < size; n++) text += part(n)
    return text
  }

const inputs: Record<string, (size: number) => string> = {
  'brackets in a job': nested('CREATE JOB j (SELECT ', '(', '1', ')', ')'),
  'brackets in a view': nested('CREATE VIEW v AS (SELECT ', '(', '1', ')', ')'),
  'brackets that never close': repeated('SELECT ', '('),
  'brackets that never open': repeated('SELECT ', ')'),
  'braces around a secret': nested('SELECT ', '{', 'token: 1', '}'),
  'lists in lists': nested("CREATE SKILL s USING type = 'x', a = ", '[', '', ']'),
  'objects in objects': nested("CREATE DATABASE d WITH ENGINE = 'slack', PARAMETERS = ", '{"a":', '1', '}'),
  settings: numbered("CREATE SKILL s USING type = 'x'", (n) => `, a${n} = 1`),
  'a key of many parts': repeated('CREATE SKILL s USING a', '.a', ' = 1'),
  'an array': repeated("CREATE SKILL s USING type = 'x', a = [", '1,', '1]'),
  'statements in a changed job': repeated('ALTER JOB j (', 'SELECT 1;', 'SELECT 1)'),
  'statements in a job': repeated('CREATE JOB j (', 'SELECT 1;', 'SELECT 1)'),
  semicolons: repeated('SELECT 1', ';'),
  words: repeated('', 'a '),
  signs: repeated('SELECT 1', '+1'),
  numbers: repeated('SELECT ', '1,', '1'),
  dots: repeated('SELECT * FROM ', 'a.', 'a'),
  quotes: repeated('', "'"),
  'double quotes': repeated('', '"'),
  texts: repeated('SELECT ', "'a' ", '1'),
  'comments in comments': repeated('', '/*'),
  comments: repeated('SELECT 1 ', '/**/ '),
  backslashes: repeated("SELECT '", '\\', "'"),
  digits: repeated('SELECT ', '1_'),
  dollars: numbered('SELECT ', (n) => `$a${n}$ `),
  spaces: repeated('SELECT', ' ', '1'),
  lines: repeated('SELECT ', '\n', ')'),
  emoji: repeated("SELECT '", '😀', "' )"),
  urls: repeated("SELECT '", 'a://b:c@ ', "'"),
  'urls without an end': repeated("SELECT '", 'a://b:', "'"),
  'urls outside of texts': repeated('', 'a://b:c@d '),
  'many secrets': numbered('SELECT ', (n) => `token = 'abcd${n}', `),
  'keys in brackets': repeated('', 'token ( '),
  'keys with dots': repeated('', 'token.', 'a'),
  'keys with operators': repeated('', 'token . = ; '),
  'keys before keys': repeated('', 'token '),
  'joined texts': repeated("token = 'a'", "||'a'"),
  'signs in a text': repeated("SELECT '", '=', "'"),
  'keys in a text': repeated("SELECT '", 'password ', "'"),
  'settings in a text': numbered("SELECT '", (n) => `key${n}a = `),
  'a comment of signs': repeated('SELECT 1 /* ', 'a=', ' */'),
  joins: repeated('SELECT * FROM t', ' JOIN t'),
  'joins of brackets': repeated('SELECT * FROM t', ' JOIN (a'),
  'joins of functions': repeated('SELECT * FROM t', ' JOIN a('),
  'joins with AT': repeated('SELECT * FROM t', ' JOIN a AT '),
  pivots: repeated('SELECT * FROM t ', 'PIVOT '),
  'pivots in brackets': repeated('', 'PIVOT ('),
  'pivots with values': repeated('', 'PIVOT t ON x IN (SELECT '),
  'many values of pivots': repeated('PIVOT t ON x ', 'IN (SELECT 1), ', 'y'),
  'pivots with USING': repeated('PIVOT t ON x ', 'USING '),
  'pasts in pasts': repeated('SELECT * FROM ', 't AT (VERSION => '),
  'pasts behind names': nested('SELECT * FROM ', 't AT (VERSION => 1) a (', 't', ')'),
  'queries for connections': repeated('SELECT * FROM ', 'files (SELECT '),
  'SHOW of many places': repeated('SHOW TABLES ', 'FROM a '),
  'a pattern': repeated("SHOW COLLATION LIKE '", '%_', "'"),
  'rows of an INSERT': repeated('INSERT INTO files.t VALUES ', "(1,'a'),", '(1)'),
  'INSERT after INSERT': repeated('', 'INSERT token '),
  'INSERT in INSERT': repeated('', 'INSERT INTO t (token, '),
  'values of INSERT in INSERT': nested('', 'INSERT (token, ', 'VALUES (1)', ')'),
  conditions: repeated('SELECT 1 WHERE a = 1', ' AND a = 1'),
  'IN in IN': repeated('SELECT 1 WHERE a ', 'IN ('),
  aliases: repeated('SELECT ', '(1 AS '),
}

const small = 10_000
const larger = 4
/** Less than this is the noise of a machine that does something else as well. */
const floorMs = 10
const attempts = 30

const millisecondsOf = (work: () => unknown): number => {
  const { user, system } = process.cpuUsage()
  try {
    work()
  } catch (error) {
    if (!isProblem(error)) throw error
  }
  const end = process.cpuUsage()
  return (end.user - user + end.system - system) / 1_000
}

/**
 * How many times as long the larger text takes, at best of some attempts; four of what grows with the text, sixteen of a square.
 * Node makes code fast in a thread beside, which a busy machine may keep waiting: later attempts give it time.
 */
const growth = async (pass: (sql: string) => unknown, make: (size: number) => string): Promise<number> => {
  const [short, long] = [make(small), make(small * larger)]
  let [least, ratio] = [Infinity, Infinity]
  for (let attempt = 0; attempt < attempts && ratio > larger * 2; attempt++) {
    if (attempt > 2) await sleep(10 * attempt)
    least = Math.min(
      least,
      Math.max(
        floorMs,
        millisecondsOf(() => pass(short)),
      ),
    )
    ratio = Math.min(ratio, millisecondsOf(() => pass(long)) / least)
  }
  return ratio
}

test.each(Object.entries(passes))('reading the %s takes time that grows with the text', async (_, pass) => {
  const tooSlow: string[] = []
  for (const [name, make] of Object.entries(inputs)) {
    const ratio = await growth(pass, make)
    if (ratio > larger * 2) tooSlow.push(`${name}: ${ratio.toFixed(1)} times as long for ${larger} times the text`)
  }
  expect(tooSlow).toEqual([])
})

test('texts that repeat what an expression begins with end, however long they are', () => {
  const many = 50_000
  expect(
    wordsFor({ kind: 'Binder', message: `no "${'\n'.repeat(20_000)}" here`, bytes: undefined, name: undefined, candidates: [] }).detail,
  ).toMatch(/^no "/)
  expect(
    wordsFor({ kind: 'Binder', message: 'no\n\nCandidate functions:\n\tf(x)', bytes: undefined, name: undefined, candidates: [] }).detail,
  ).toBe('no')
  expect(() => exactJson(`1234567890123456 ${'"\\'.repeat(many)}`)).toThrow(SyntaxError)
  expect(exactJson('{"a\\"1234567890123456":[9007199254740993,"9007199254740993"]}')).toEqual({
    'a"1234567890123456': ['9007199254740993', '9007199254740993'],
  })
  expect(apiUrl({ api_url: `http://h${'/'.repeat(many)}x//` }, '')).toBe(`http://h${'/'.repeat(many)}x`)
  expect(readDuckDBError(new Error(JSON.stringify({ candidates: '('.repeat(many) }))).candidates).toHaveLength(0)
})

test('a nearest name among very many long ones is looked for with bounds', () => {
  const known = Array.from({ length: 200_000 }, (_, i) => `${'n'.repeat(90)}${i}`)
  expect(similarName(`${'n'.repeat(90)}_1`, known)).toBe(`${'n'.repeat(90)}1`)
  expect(nearest('x'.repeat(255), known)).toBe(known[0])
  expect([similarName('skils', ['agents', 'skills']), nearest('sqfeet', ['location', 'sqft']), nearest('a', [])]).toEqual([
    'skills',
    'sqft',
    '',
  ])
})

test('the table nearest to a missing one is looked for with bounds, also among very many', () => {
  const long = 'n'.repeat(90)
  const tables = Array.from({ length: 50_000 }, (_, i) => ({
    schema: 'public',
    name: `${long}${i}`,
    isUsual: true,
    type: 'table' as const,
  }))
  const there = [...tables, { schema: 'shop', name: 'orders', isUsual: false, type: 'table' as const }]
  const hintOf = (schema: string | undefined, table: string) => missingTable({ schema, table }, { tables: there, isCut: false }).extras.hint
  expect(millisecondsOf(() => hintOf(undefined, 'x'.repeat(120)))).toBeLessThan(1_000)
  expect(hintOf(undefined, `${long}_1`)).toBe(`Did you mean "${long}1"?`)
  // The same name in another schema is nearer than any other name, wherever it stands.
  expect([hintOf(undefined, 'Orders'), hintOf('public', 'orders')]).toEqual(Array(2).fill('Did you mean "shop.orders"?'))
  expect(missingTable({ table: 'x' }, { tables: [], isCut: false }).extras.hint).toBe('It has no tables that this user may see.')
})
