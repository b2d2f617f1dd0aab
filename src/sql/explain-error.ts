import { foldName } from '../../events/common.js'
import { isProblem, Problem, type ProblemCode } from '../errors.js'
import type { ParseFailure } from './ast/duckdb.js'
import { badStatement, positionOf, type Token } from './lexer.js'
import type { Translation } from './translation.js'

/** The user's text of a statement, in which an error has to be shown. */
export type Written = { sql: string; tokens: readonly Token[] }

const kinds: readonly [RegExp, ProblemCode, string][] = [
  [/^(Binder|Catalog|Not implemented) Error: /, 'bad_statement', 'The SQL statement cannot be understood'],
  [/^(Parser|Syntax) Error: /, 'bad_statement', 'The SQL statement cannot be parsed'],
  [/^Out of Memory Error: /, 'query_limit', 'The query needed too much memory'],
  [/^INTERRUPT Error: /i, 'query_limit', 'The query was stopped'],
  [/^(INTERNAL|FATAL) Error: /i, 'internal', 'The query could not be run'],
  [/^(IO|HTTP|Permission|TransactionContext|Transaction) Error: /, 'query_failed', 'The query failed'],
  [/^[A-Z][A-Za-z ]* Error: /, 'query_failed', 'The query failed'],
]

const longestDetail = 1_000
/** A message may repeat a name or a value of the statement, which may be as long as the statement. */
const longestMessage = 20_000

/** Cuts what speaks of the rewritten text: the dump of its line, long lists, names and paths of the inside. */
const cleaned = (message: string): string => {
  const body = message
    .replace(/\n+\s*Candidate functions:[\s\S]*$/, '')
    .replace(/\n+LINE \d+:[\s\S]*$/, '')
    .replace(/\n+Possible solutions:[\s\S]*$/i, '')
  const lines = body.split('\n').filter((line) => !/ledger_|ledger\.|read_parquet|SET /.test(line) || line === body.split('\n')[0])
  const safe = lines
    .join('\n')
    .replace(/"?(?<![^\s"'])[^\s"']*\/[0-9a-f]{64}"?/g, 'its content')
    .replace(/(?:\/[\w.-]+){2,}/g, 'a file')
    .replace(/\bledger\.\w+/g, 'a table')
    .replace(/ledger_\w+/g, 'the model')
  return safe.trim().slice(0, longestDetail)
}

/** `Candidate bindings: "a", "b"` becomes a hint. */
const hintOf = (message: string): string | undefined => {
  const found = /\n+(?:Candidate bindings|Did you mean|Candidate tables): ?(.*)/.exec(message)?.[1]?.trim()
  if (found === undefined || /ledger/.test(found)) return undefined
  return `Did you mean ${found.replace(/\?+$/, '')}?`
}

const withoutHint = (message: string) => message.replace(/\n+(?:Candidate bindings|Did you mean|Candidate tables): ?[^\n]*/, '').trimEnd()

/** The token that an error's quoted name or value stands for. */
const tokenFor = ({ tokens }: Written, message: string): Token | undefined => {
  for (const [, double, single] of message.matchAll(/"([^"\n]{1,255})"|'([^'\n]{1,255})'/g)) {
    const name = (double ?? single ?? '').split(/[.(]/).at(double === undefined ? 0 : -1) ?? ''
    const whole = foldName(double ?? single ?? '')
    const token = tokens.find(
      (known) => known.kind !== 'symbol' && (foldName(known.value) === whole || foldName(known.value) === foldName(name)),
    )
    if (token && name !== '') return token
  }
  const called = /(?:function|Function|column|project or database) (?:with name )?"?(\w+)/.exec(message)?.[1]
  return called === undefined ? undefined : tokens.find((known) => foldName(known.value) === foldName(called))
}

const shown = (written: Written, token: Token | undefined) => {
  if (!token) return undefined
  const { line, column, caret } = positionOf(written.sql, token.start)
  return { text: ` (line ${line}, column ${column})\n${caret}`, line, column }
}

/** Errors of the binding may come from another realm, where `instanceof` says no. */
const messageOf = (error: unknown): string => {
  const message: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : error
  return typeof message === 'string' ? message.slice(0, longestMessage) : 'unknown error'
}

const placeable = new Set<ProblemCode>(['bad_statement', 'refused_statement', 'not_found', 'not_ready'])

/** A refusal of ours that names something: shows where the statement does. */
const placed = (problem: Problem, written: Written): Problem => {
  if (!placeable.has(problem.code) || problem.extras['line'] !== undefined || problem.detail.startsWith('In view ')) return problem
  const place = shown(written, tokenFor(written, problem.detail))
  if (!place) return problem
  return new Problem(problem.code, problem.title, `${problem.detail}${place.text}`, {
    ...problem.extras,
    line: place.line,
    column: place.column,
  })
}

/**
 * An error of DuckDB about the rewritten text, in words about the user's: what is wrong, where, and what to try.
 * Problems pass unchanged. Names of internal tables and paths of files never appear.
 */
export const explainError = (error: unknown, written: Written): Problem => {
  if (isProblem(error)) return placed(error, written)
  const message = messageOf(error)
  const [pattern, code, title] = kinds.find(([kind]) => kind.test(message)) ?? [undefined, 'query_failed' as const, 'The query failed']
  if (code === 'internal') return new Problem('internal', title, 'The query could not be run; this is a fault of the service')
  const body = cleaned(pattern ? message.replace(pattern, '') : message)
  const place = shown(written, tokenFor(written, body))
  const hint = hintOf(body)
  const detail = `${withoutHint(body)}${place?.text ?? ''}`
  return new Problem(code, title, detail, { ...(place && { line: place.line, column: place.column }), ...(hint !== undefined && { hint }) })
}

const statementHint = 'Only SELECT reads data; SHOW and DESCRIBE list what there is.'

/** A text that DuckDB's parser refused, shown in the user's text. */
export const explainParseFailure = (failure: ParseFailure, translation: Translation): Problem => {
  const said = (reason: string, hint: string) => new Problem('refused_statement', 'The SQL statement is not allowed', reason, { hint })
  const isPivot = translation.tokens.some(({ text }) => /^(UN)?PIVOT$/i.test(text))
  if (/Only SELECT statements/.test(failure.message))
    return isPivot
      ? said('PIVOT with a query behind IN is not allowed here', 'List the values: PIVOT … ON x IN (…), or leave IN out.')
      : said('Only SELECT statements are allowed here', statementHint)
  if (failure.statements > 1)
    return new Problem('bad_statement', 'The SQL statement cannot be parsed', 'Only one statement is taken at a time')
  const reason = failure.message.replace(/Use "SET[\s\S]*$/, '').trim() || 'it is not SQL'
  if (failure.bytes === undefined)
    return new Problem('bad_statement', 'The SQL statement cannot be parsed', `The SQL statement cannot be parsed: ${reason}`)
  return badStatement(translation.sql, translation.userOffset(failure.bytes), reason)
}

/** The column that DuckDB did not find, when that is what an error says. */
export const missingColumn = (error: unknown): string | undefined => {
  const message = messageOf(error)
  return /^Binder Error: (?:Referenced column|Column) "([^"]+)"[^"]*(?:not found|does not exist|FROM clause)/.exec(message)?.[1]
}
