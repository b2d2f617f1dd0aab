import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { atOnce } from '../../basics/long-work.js'
import { lex, sourceLocationOf, splitSingle, type Token } from '../../dialect/lexer.js'
import { offsetOf } from '../../dialect/source-location.js'
import { maskSecretsInSqlOf } from '../../dialect/mask-secrets.js'
import { isWord, splitTokens } from '../../dialect/tokens.js'
import { Cursor, StatementSyntaxError } from './cursor.js'
import { nearestUsage } from './forms.js'
import { takeStatement, usages } from './grammar.js'
import type { Parameters, Statement } from './statement.js'

const isEnd = (token: Token | undefined): boolean => token?.kind === 'symbol' && token.text === ';'

// These statements contain queries in brackets. A semicolon in brackets does not end them.
const holdsQueries = (tokens: readonly Token[]): boolean => {
  const first = tokens.find((token) => !isEnd(token) && !isWord(token, 'EXPLAIN'))
  return /^(?:create|alter|retrain|finetune|evaluate)$/i.test(first?.text ?? '')
}

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

/** The lexer's error shows the original line. This removes the secrets from it. */
const withoutSecrets = function* (problem: Problem, sql: string): Generator<void, Problem> {
  const { line, column } = problem.extras
  if (typeof line !== 'number' || typeof column !== 'number') return problem
  yield
  const masked = yield* maskSecretsInSqlOf(sql)
  if (masked === sql) return problem
  return new Problem(
    problem.code,
    problem.title,
    `${problem.detail.split('\n')[0] ?? ''}\n${sourceLocationOf(masked, offsetOf(sql, line, column)).caret}`,
    problem.extras,
  )
}

/** Reads a text. A refusal shows no secrets of the text. */
export const hidingSecrets = function* <T>(sql: string, read: () => T): Generator<void, T> {
  try {
    return read()
  } catch (error) {
    if (error instanceof StatementSyntaxError) throw yield* error.told((words) => nearestUsage(words, usages))
    throw isProblem(error) ? yield* withoutSecrets(error, sql) : error
  }
}

/**
 * The statements of a text, without the semicolons between them. Semicolons inside brackets do not end a statement.
 *
 * @example splitStatements('SELECT 1; CREATE JOB j (SELECT 2; SELECT 3);') // ['SELECT 1', 'CREATE JOB j (SELECT 2; SELECT 3)']
 * @throws Problem bad_statement where the text has no tokens
 */
export const splitStatements = (sql: string): string[] =>
  atOnce(hidingSecrets(sql, () => splitTokens(lex(sql)).map((tokens) => sql.slice(tokens[0]?.start, tokens.at(-1)?.end))))

/** A statement that names a large value many times would become far larger than the text that was sent. */
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
 * Reads one SQL statement as plain data, without a check of which resources exist. `parameters` are the values for `:name`. Throws a
 * `bad_statement` Problem with line, column, caret, the expected words and the nearest existing statement.
 *
 * @example parseStatement("DROP SKILL shop.sales") // { kind: 'drop_resource', resource: 'skill', … }
 */
export const parseStatement = (sql: string, parameters: Parameters = {}): Statement => atOnce(readStatement(sql, parameters))

/** The same as work with pauses: a statement may be long, and a refused statement is read again to hide its secrets. */
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
