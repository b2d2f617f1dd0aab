import { describe, expect, test } from '@jest/globals'
import { isProblem, type Problem } from '../../../../src/basics/errors.js'
import { instead } from '../../../../src/sql/statements/absent-statements.js'
import { usages } from '../../../../src/sql/statements/grammar.js'
import { parseStatement } from '../../../../src/sql/statements/parse.js'

const refusal = (sql: string): Problem => {
  try {
    parseStatement(sql)
  } catch (error) {
    if (isProblem(error)) return error
    throw error
  }
  throw new Error(`was taken: ${sql}`)
}

describe('a refusal shows the place, what was expected there, and the nearest statement', () => {
  const typos: [sql: string, hint: RegExp][] = [
    ['SELEC 1', /Did you mean SELECT columns/],
    ['CREAT AGENT a USING b = 1', /Did you mean CREATE AGENT/],
    ['CREATE AGNET a USING b = 1', /Did you mean CREATE AGENT/],
    ['CREATE CHATBOT c', /Did you mean CREATE CHATBOT/],
    ['DORP MODEL m', /Did you mean DROP MODEL/],
    ['SHOW AGENST', /Did you mean SHOW AGENTS/],
    ['UPDATE SKILL s database = 1', /Did you mean UPDATE SKILL/],
    ['CREATE MODEL m FROM db (SELECT 1)', /PREDICT column/],
    ['RETRIAN m', /Did you mean RETRAIN/],
    // As near to DROP TABLE.
    ['DROP AGTLE a', /Did you mean DROP AGENT/],
    ['CREATE KNOWLEDGE_BSAE k', /Did you mean CREATE KNOWLEDGE_BASE/],
    ['CREATE KNOWLEDGE_BASE k embedding_model = {}', /USING embedding_model/],
    ["ALTER KNOWLEDGE_BASE k storage = 't'", /Did you mean ALTER KNOWLEDGE_BASE/],
    ["UPDATE KNOWLEDGE_BASE k storage = 't'", /Did you mean UPDATE KNOWLEDGE_BASE/],
    ['DROP KNOWLEDGE_BASE', /Did you mean DROP KNOWLEDGE_BASE/],
    ["EVALUATE KNOWLEDGE_BASE k test_table = 't'", /USING test_table/],
    ['SHOW ERORS', /Did you mean SHOW ERRORS/],
    ['SHOW EVENST', /Did you mean SHOW EVENTS/],
    ['SHOW PROCESLIST', /Did you mean SHOW \[FULL\] PROCESSLIST/],
    ['SHOW PRIVILEGS', /Did you mean SHOW PRIVILEGES/],
    ['SHOW SERACH_PATH', /Did you mean SHOW SEARCH_PATH/],
  ]
  test.each(typos)('%s', (sql, hint) => expect(refusal(sql).extras.hint).toMatch(hint))

  test('line, column and caret', () => {
    const problem = refusal("CREATE SKILL s\n  USING type 'x'")
    expect(problem.code).toBe('bad_statement')
    expect(problem.extras).toMatchObject({ line: 2, column: 14, expected: ['='] })
    expect(problem.detail).toContain(">  USING type 'x'\n--------------^")
  })

  test('all that could stand at the place is listed', () => {
    expect(refusal('DROP').extras['expected']).toEqual(expect.arrayContaining(['PROJECT', 'MODEL', 'SKILL', 'VIEW', 'JOB']))
    expect(refusal('CREATE SKILL s type = 1').extras['expected']).toEqual(['USING'])
    expect(refusal('CREATE SKILL USING type = 1').extras['expected']).toContain('a name')
  })

  const bad = [
    '',
    ' ; ;',
    '-- nothing',
    'SELECT 1; SELECT 2',
    'CREATE SKILL s USING',
    "CREATE SKILL s USING type = 'a',",
    'CREATE SKILL a.b.c USING type = 1',
    'CREATE SKILL s USING a = 1, A = 2',
    'CREATE SKILL s USING a = 1, a.b = 2',
    'CREATE SKILL s USING __proto__ = 1',
    'CREATE SKILL s USING a = {"__proto__": 1}',
    'CREATE SKILL s USING a = {"b": 1, "b": 2}',
    'CREATE SKILL s USING a = 1e999',
    'CREATE SKILL s USING a = 9007199254740993',
    'CREATE SKILL s USING a = 9007199254740993.0',
    'CREATE SKILL s USING a = -12345678901234.5678',
    'CREATE SKILL s USING a = 0x20000000000001',
    'CREATE SKILL s USING a = 1e-400',
    'CREATE SKILL s USING a = gpt-4o',
    'CREATE SKILL s USING a = :missing',
    'CREATE SKILL s USING a = {"b": 1',
    'CREATE SKILL s USING type = 1 extra',
    'CREATE DATABASE d PARAMETERS = {}',
    "CREATE DATABASE d WITH PARAMETERS = 'x', ENGINE = 'y'",
    "ALTER DATABASE d COLOUR = 'red'",
    'ALTER JOB j',
    'ALTER JOB j START null END',
    'ALTER JOB j ()',
    'ALTER JOB j EVERY 1 day EVERY 2 days',
    'CREATE MODEL m PREDICT y PREDICT z',
    'CREATE MODEL m FROM db () PREDICT y',
    'CREATE MODEL m FROM db (SELECT 1; SELECT 2) PREDICT y',
    'CREATE MODEL m FROM db (SELECT 1 PREDICT y',
    'CREATE MODEL m PREDICT y WINDOW 1.5',
    'FINETUNE m',
    'SET active p.m',
    'SET active p.m.0',
    'DROP MODEL a.b.c',
    'DROP MODEL m.99999999999999999999',
    'SHOW COLUMNS',
    'SHOW TABLES FROM',
    'SHOW AGENTS WHERE',
    'SHOW FUNCTIONS',
    'COPY t TO x',
    'ATTACH x',
    'PRAGMA x',
    "CREATE SKILL s USING a = 'x",
  ]
  test.each(bad)('%s is refused', (sql) => expect(refusal(sql)).toMatchObject({ code: 'bad_statement', status: 400 }))

  test('a text in a {…} stands in quotes', () => {
    for (const value of ['{"b": word}', '{"b": [word]}', '{"b": {"c": `word`}}', '[{"b": word}]', '{"b": nan}'])
      expect(refusal(`CREATE SKILL s USING a = ${value}`).detail).toContain('a text stands in quotes')
  })

  test('a missing parameter is named', () => expect(refusal('CREATE AGENT a USING k = :v').detail).toContain('Parameter is not set: v'))

  test('values nested too deeply are refused, not a crash', () => {
    expect(refusal(`CREATE AGENT a USING k = ${'['.repeat(50_000)}`).detail).toContain('nested deeper')
    expect(refusal(`CREATE AGENT a USING k = ${'f(k='.repeat(20_000)}`).detail).toContain('nested deeper')
  })

  test.each([
    "CREATE AGENT a USING api_key 'sk-hidden'",
    "CREATE AGENT a USING api_key = 'sk-hidden' 'x",
    'CREATE AGENT a USING api_key = sk-hidden',
    "CREATE DATABASE d WITH ENGINE = 'x', PARAMETERS = {'password': 'sk-hidden' 'b'}",
    "CREAT AGENT a USING api_key = 'sk-hidden'",
    "CREATE AGENT a USING\n\n api_key = 'sk-hidden\n",
  ])('no secret stands in a refusal: %s', (sql) => expect(JSON.stringify([refusal(sql), refusal(sql).message])).not.toContain('hidden'))
})

/** The optional parts of a usage stand in brackets; a bracket before a quote is a list. */
const optional = /\[(?!')([^\]]*)\]/g

/** Makes a statement of a usage: one item of each list, the first alternative, and a number where the usage asks for one. */
const statementOf = (usage: string, optionalParts: '' | '$1'): string =>
  usage
    .replace(/ \|.*/, '')
    .replaceAll(/, …(?=$|\])/g, '')
    .replaceAll(optional, optionalParts)
    .replaceAll(/ +/g, ' ')
    .replaceAll('{…}', '{}')
    .replaceAll('…', '1')
    .replaceAll('.version', '.1')
    .replaceAll(/\bn\b/g, '1')

const all = Object.entries(usages)

test.each(all)('%s is written as its usage says, with the optional parts and without', (_, usage) => {
  for (const parts of ['', '$1'] as const) expect(() => parseStatement(statementOf(usage, parts))).not.toThrow()
})

test.each(all)('the usage under %s begins with these words', (head, usage) =>
  expect(statementOf(usage, '').toUpperCase()).toMatch(new RegExp(`^${head}\\b`)),
)

// DuckDB reads queries. The others are also the first words of statements with refusals of their own.
const otherwiseRefused = new Set(['SELECT', 'WITH', 'SET ACTIVE', 'CREATE INDEX', 'DROP INDEX'])

test.each(all.filter(([head]) => !otherwiseRefused.has(head)))('%s and a wrong sign are answered with their usage', (head, usage) =>
  expect(refusal(`${head} =`).extras.hint).toBe(`Did you mean ${usage}?`),
)

test.each(Object.entries(instead))('%s is no statement of this service, so it is answered with another', (words, use) =>
  expect(refusal(`${words} a`)).toMatchObject({
    detail: expect.stringContaining(`this service does not have ${words} (`),
    extras: { hint: `Use ${use}.` },
  }),
)
