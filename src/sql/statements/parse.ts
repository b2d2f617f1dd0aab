import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { atOnce } from '../../basics/long-work.js'
import { insteadOf } from './absent-statements.js'
import { lex, positionOf, splitSingle, type Token } from '../../dialect/lexer.js'
import { offsetOf } from '../../dialect/position.js'
import { spanOf, splitTokens } from './clauses.js'
import { Cursor, Misread } from './cursor.js'
import { takeAlterDatabase, takeCreateDatabase, takeDropDatabase } from './databases.js'
import { takeCreateEngine, takeCreateJob, takeCreateTrigger, takeDropEngine, takeDropJob, takeDropTrigger } from './jobs.js'
import { takeAlterModel, takeCancel, takeCreateModel, takeDropModel, takeEvaluate, takeRetrain } from './models.js'
import { takeIfExists, takeIfNotExists, takeName, nameFollows } from './names.js'
import { takeCreateResource, takeDropResource, takeUpdateResource } from './resources.js'
import { maskSecretsOf } from '../../dialect/secrets.js'
import { takeSet, takeTransaction, takeUse } from './session.js'
import { takeDescribe, takeShow } from './show-grammar.js'
import type { Parameters, ResourceKind, Statement } from './statement.js'
import { readSystemSelect } from './system-select.js'
import { takeAlterView, takeCreateTable, takeCreateView, takeDropTable, takeDropView, takeInsert, takeTableWrite } from './tables.js'

const resourceWords = { SKILL: 'skill', AGENT: 'agent', CHATBOT: 'chatbot' } as const satisfies Record<string, ResourceKind>

/** Takes SKILL, AGENT or CHATBOT when a name follows: a table may be named so, too. */
const takeResource = (cursor: Cursor): ResourceKind | undefined => {
  const word = cursor.takeOneOf('SKILL', 'AGENT', 'CHATBOT')
  return word && resourceWords[word]
}

const takeKnowledgeBase = (cursor: Cursor): boolean => cursor.takeWords('KNOWLEDGE_BASE') || cursor.takeWords('KNOWLEDGE', 'BASE')

/** Knowledge bases are another service's; the statement is known, so that the answer can say what to use instead. */
const knowledgeBase = (cursor: Cursor, verb: string): Statement => {
  if (!takeIfNotExists(cursor)) takeIfExists(cursor)
  takeName(cursor, 'a knowledge base')
  cursor.takeRest()
  return {
    kind: 'unavailable',
    what: `${verb} KNOWLEDGE_BASE`,
    instead: 'a skill that names the tables: CREATE SKILL name USING type = …, tables = […]',
  }
}

const takeCreate = (cursor: Cursor): Statement => {
  const replace = cursor.takeWords('OR', 'REPLACE')
  if (cursor.takeOneOf('PROJECT', 'DATABASE', 'SCHEMA') !== undefined) return takeCreateDatabase(cursor, replace)
  if (cursor.takeOneOf('MODEL', 'PREDICTOR') !== undefined) return takeCreateModel(cursor, replace)
  if (cursor.takeWords('VIEW')) return takeCreateView(cursor, replace)
  if (cursor.takeWords('TABLE')) return takeCreateTable(cursor, replace)
  if (replace) cursor.fail()
  const resource = takeResource(cursor)
  if (resource) return takeCreateResource(cursor, resource)
  if (cursor.takeWords('JOB')) return takeCreateJob(cursor)
  if (cursor.takeWords('TRIGGER')) return takeCreateTrigger(cursor)
  if (cursor.takeWords('ML_ENGINE') || cursor.takeWords('ML', 'ENGINE')) return takeCreateEngine(cursor)
  if (takeKnowledgeBase(cursor)) return knowledgeBase(cursor, 'CREATE')
  if (cursor.takeWords('ANOMALY', 'DETECTION', 'MODEL')) {
    cursor.takeRest()
    return {
      kind: 'unavailable',
      what: 'CREATE ANOMALY DETECTION MODEL',
      instead: 'CREATE MODEL name FROM database (SELECT …) PREDICT column',
    }
  }
  return takeIndex(cursor, 'CREATE')
}

/** Refuses what SQL has behind a verb and this service has not: what to use instead, or what was expected. */
const refuseAbsent = (cursor: Cursor, verb: string): void => {
  const noun = cursor.peek()
  const absent = `${verb} ${noun?.kind === 'word' ? noun.text.toUpperCase() : ''}`
  const instead = insteadOf(absent)
  if (instead !== undefined) cursor.refuse(noun, `this service does not have ${absent}`, `Use ${instead}.`)
}

const takeIndex = (cursor: Cursor, verb: string): Statement => {
  if (!cursor.isWord('ON', 1)) refuseAbsent(cursor, verb)
  cursor.needWords('INDEX')
  cursor.needWords('ON')
  if (!takeKnowledgeBase(cursor)) cursor.fail()
  return knowledgeBase(cursor, `${verb} INDEX ON`)
}

const takeDrop = (cursor: Cursor): Statement => {
  if (cursor.takeOneOf('PROJECT', 'DATABASE', 'SCHEMA', 'DATASOURCE') !== undefined) return takeDropDatabase(cursor)
  if (cursor.takeOneOf('MODEL', 'PREDICTOR') !== undefined) return takeDropModel(cursor)
  const resource = takeResource(cursor)
  if (resource) return takeDropResource(cursor, resource)
  if (cursor.takeWords('VIEW')) return takeDropView(cursor)
  if (cursor.takeOneOf('TABLE', 'DATASET') !== undefined) return takeDropTable(cursor)
  if (cursor.takeWords('JOB')) return takeDropJob(cursor)
  if (cursor.takeWords('TRIGGER')) return takeDropTrigger(cursor)
  if (cursor.takeWords('ML_ENGINE') || cursor.takeWords('ML', 'ENGINE')) return takeDropEngine(cursor)
  if (takeKnowledgeBase(cursor)) return knowledgeBase(cursor, 'DROP')
  return takeIndex(cursor, 'DROP')
}

const takeAlter = (cursor: Cursor): Statement => {
  if (cursor.takeOneOf('DATABASE', 'PROJECT', 'SCHEMA') !== undefined) return takeAlterDatabase(cursor)
  if (cursor.takeWords('VIEW')) return takeAlterView(cursor)
  if (cursor.takeOneOf('MODEL', 'PREDICTOR') !== undefined) return takeAlterModel(cursor)
  const resource = takeResource(cursor)
  if (resource) return takeUpdateResource(cursor, resource)
  if (takeKnowledgeBase(cursor)) return knowledgeBase(cursor, 'ALTER')
  refuseAbsent(cursor, 'ALTER')
  return cursor.fail()
}

// `UPDATE agent SET a = 1` writes to a table with that name; `UPDATE AGENT agent SET a = 1` does not.
const takeUpdate = (cursor: Cursor): Statement => {
  const resource = nameFollows(cursor, 1) ? takeResource(cursor) : undefined
  return resource ? takeUpdateResource(cursor, resource) : takeTableWrite(cursor, 'update')
}

const takeExplain = (cursor: Cursor): Statement => {
  const analyze = cursor.takeWords('ANALYZE')
  if (startsQuery(cursor)) return { kind: 'explain', analyze, span: spanOf(cursor.takeRest()) }
  if (cursor.isWord('EXPLAIN')) {
    cursor.expect('a query or a statement that writes')
    return cursor.fail()
  }
  const isStatement = verbs.some(([word]) => cursor.isWord(word)) || cursor.isWord('INSERT') || cursor.isWord('DELETE')
  // EXPLAIN before a name is MySQL's word for DESCRIBE.
  return isStatement && cursor.peek(1) ? { kind: 'explain_command', statement: takeStatement(cursor) } : takeDescribe(cursor)
}

const queryWords = ['SELECT', 'WITH', 'VALUES', 'FROM', 'TABLE', 'PIVOT', 'PIVOT_WIDER', 'UNPIVOT', 'PIVOT_LONGER', 'SUMMARIZE']

const startsQuery = (cursor: Cursor): boolean =>
  cursor.isSymbol('(') || queryWords.some((word) => cursor.isWord(word)) || describesQuery(cursor)

/** `DESCRIBE SELECT …` tells the columns of a query; DESCRIBE of anything else is about models. */
const describesQuery = (cursor: Cursor): boolean =>
  (cursor.isWord('DESCRIBE') || cursor.isWord('DESC')) &&
  (cursor.isSymbol('(', 1) || ['SELECT', 'WITH', 'FROM', 'VALUES'].some((word) => cursor.isWord(word, 1)))

/** The first word of each statement and what reads the rest of it. */
const verbs: readonly (readonly [word: string, take: (cursor: Cursor) => Statement])[] = [
  ['CREATE', takeCreate],
  ['DROP', takeDrop],
  ['ALTER', takeAlter],
  ['UPDATE', takeUpdate],
  ['SHOW', takeShow],
  ['DESCRIBE', takeDescribe],
  ['DESC', takeDescribe],
  ['EXPLAIN', takeExplain],
  ['USE', takeUse],
  ['SET', takeSet],
  ['RETRAIN', (cursor) => takeRetrain(cursor, 'retrain')],
  ['FINETUNE', (cursor) => takeRetrain(cursor, 'finetune')],
  ['CANCEL', takeCancel],
  ['EVALUATE', (cursor) => (takeKnowledgeBase(cursor) ? knowledgeBase(cursor, 'EVALUATE') : takeEvaluate(cursor))],
]

const takeStatement = (cursor: Cursor): Statement => {
  if (startsQuery(cursor)) {
    const sql = cursor.textOf(cursor.takeRest())
    return readSystemSelect(cursor.tokens, sql) ?? { kind: 'select', sql }
  }
  if (cursor.takeWords('INSERT', 'INTO')) return takeInsert(cursor)
  if (cursor.takeWords('DELETE', 'FROM')) return takeTableWrite(cursor, 'delete')
  const verb = verbs.find(([word]) => cursor.takeWords(word))
  if (verb) return verb[1](cursor)
  const transaction = takeTransaction(cursor)
  if (transaction) return transaction
  const first = cursor.peek()
  const instead = insteadOf(first?.text ?? '')
  const shown = first?.text.slice(0, 60).toUpperCase().toWellFormed() ?? ''
  if (instead !== undefined) return cursor.refuse(first, `this service does not have ${shown}`, `Use ${instead}.`)
  return cursor.refuse(
    first,
    `${shown} begins no statement of this service; ${verbs.map(([word]) => word).join(', ')}, SELECT and BEGIN do`,
  )
}

const isEnd = (token: Token | undefined): boolean => token?.kind === 'symbol' && token.text === ';'

// These hold queries in brackets, and a semicolon in brackets ends no statement.
const holdsQueries = (tokens: readonly Token[]): boolean =>
  /^(?:create|alter|retrain|finetune|evaluate)$/i.test(tokens.find((token) => !isEnd(token))?.text ?? '')

const withoutInnerEnds = (tokens: readonly Token[]): Token[] => {
  let depth = 0
  return tokens.filter((token) => {
    if (token.kind === 'symbol' && token.text === '(') depth += 1
    if (token.kind === 'symbol' && token.text === ')') depth -= 1
    return depth <= 0 || !isEnd(token)
  })
}

const oneStatement = (tokens: Token[], sql: string): readonly Token[] => {
  if (!holdsQueries(tokens)) return splitSingle(tokens, sql)
  const outer = splitSingle(withoutInnerEnds(tokens), sql)
  const from = tokens.findIndex((token) => token === outer[0])
  return tokens.slice(from, tokens.findLastIndex((token) => token === outer.at(-1)) + 1)
}

/** The lexer shows the line it stopped in as it was typed; what may be secret in it goes. */
const withoutSecrets = function* (problem: Problem, sql: string): Generator<void, Problem> {
  const { line, column } = problem.extras
  if (typeof line !== 'number' || typeof column !== 'number') return problem
  yield
  const masked = yield* maskSecretsOf(sql)
  if (masked === sql) return problem
  return new Problem(
    problem.code,
    problem.title,
    `${problem.detail.split('\n')[0] ?? ''}\n${positionOf(masked, offsetOf(sql, line, column)).caret}`,
    problem.extras,
  )
}

/** Reads a text; a refusal tells nothing secret of it. */
const hidingSecrets = function* <T>(sql: string, read: () => T): Generator<void, T> {
  try {
    return read()
  } catch (error) {
    if (error instanceof Misread) throw yield* error.told()
    throw isProblem(error) ? yield* withoutSecrets(error, sql) : error
  }
}

/**
 * The statements of a text, without the semicolons between them; those inside brackets end none.
 *
 * @example splitStatements('SELECT 1; CREATE JOB j (SELECT 2; SELECT 3);') // ['SELECT 1', 'CREATE JOB j (SELECT 2; SELECT 3)']
 * @throws Problem bad_statement where the text has no tokens
 */
export const splitStatements = (sql: string): string[] =>
  atOnce(hidingSecrets(sql, () => splitTokens(lex(sql)).map((tokens) => sql.slice(tokens[0]?.start, tokens.at(-1)?.end))))

/** A statement that names a large value many times would be far larger than anything that was sent. */
const refuseLargeParameters = (tokens: readonly Token[], parameters: Parameters): void => {
  const sizes = new Map<string, number>()
  const sizeOf = (name: string): number => {
    const size = sizes.get(name) ?? (Object.hasOwn(parameters, name) ? JSON.stringify(parameters[name]).length : 0)
    sizes.set(name, size)
    return size
  }
  let chars = 0
  for (const { kind, value } of tokens) if (kind === 'parameter' && value !== '') chars += sizeOf(value)
  if (chars <= limits.statementParamsMaxChars) return
  throw new Problem(
    'bad_statement',
    'The parameters are too large',
    `The statement names parameters of ${chars} characters in all; at most ${limits.statementParamsMaxChars} are taken (statementParamsMaxChars)`,
    { hint: 'Name a large value once.' },
  )
}

/**
 * Reads one SQL statement into plain data; decides nothing about what exists. `parameters` are the values for `:name`.
 * Throws a `bad_statement` Problem with line, column, caret, what was expected and the nearest statement there is.
 *
 * @example parseStatement("DROP SKILL shop.sales") // { kind: 'drop_resource', resource: 'skill', … }
 */
export const parseStatement = (sql: string, parameters: Parameters = {}): Statement => atOnce(readStatement(sql, parameters))

/** The same as work that may pause: a statement may be long, and one that is refused is read again for what its refusal may show. */
export const readStatement = function* (sql: string, parameters: Parameters = {}): Generator<void, Statement> {
  const tokens = yield* hidingSecrets(sql, () => oneStatement(lex(sql), sql))
  yield
  refuseLargeParameters(tokens, parameters)
  const statement = yield* hidingSecrets(sql, () => {
    const cursor = new Cursor(sql, tokens, parameters)
    const taken = takeStatement(cursor)
    cursor.needEnd()
    return taken
  })
  yield
  return statement
}
