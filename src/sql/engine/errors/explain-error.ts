/**
 * Room: errors in words for users, at their place in the text. It imports only events, basics, dialect, sql/engine/ast and
 * sql/engine/session.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import { foldName } from '../../../../events/common.js'
import { diskFull, isDiskFull, isProblem, Problem, type ProblemCode } from '../../../basics/errors.js'
import type { ParseFailure } from '../ast/checked-text.js'
import { readDuckDBError, type DuckDBError } from '../ast/duckdb-error.js'
import { locationAt, locationOfName, tablesNamed } from './find-node.js'
import { refuseLast } from '../../../dialect/last-places.js'
import { badStatement, sourceLocationOf, type Token } from '../../../dialect/lexer.js'
import type { AstNode } from '../ast/json.js'
import { locationOf, nodeOf, nodesOf } from '../ast/nodes.js'
import { describe } from '../session/describe.js'
import { similarName } from '../../../dialect/names.js'
import { PlacedProblem, RunError, type SourcePlace, type Source, type Sources } from '../session/sources.js'
import { maskSecretsInSql } from '../../../dialect/mask-secrets.js'
import type { Translation } from '../session/translation.js'
import { wordsFor } from './error-words.js'

const kinds: readonly [RegExp, ProblemCode, string][] = [
  [/^(Binder|Catalog|Not implemented)$/, 'bad_statement', 'The SQL statement cannot be understood'],
  [/^(Parser|Syntax)$/, 'bad_statement', 'The SQL statement cannot be parsed'],
  [/^Out of Memory$/, 'query_limit', 'The query needed too much memory'],
  [/^INTERRUPT$/i, 'query_limit', 'The query was stopped'],
  [/^(INTERNAL|FATAL)$/i, 'internal', 'The query could not be run'],
]

/** The token that an error's quoted name or value means. */
const tokenFor = (tokens: readonly Token[], message: string): Token | undefined => {
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

/** Finds the name of a message in the texts of the query, the user's text first. */
const placeByName = (sources: Sources, message: string): SourcePlace | undefined => {
  for (const source of sources) {
    const token = tokenFor(source.translation.tokens, message)
    if (token) return { source, offset: token.start }
  }
  return undefined
}

/** The place of a value that cannot be converted: it is near the conversion, and DuckDB names the place of the conversion. */
const placeOfValue = ({ kind, message }: DuckDBError, place: SourcePlace | undefined): SourcePlace | undefined => {
  const value = kind === 'Conversion' ? /'([^'\n]+)'|"([^"\n]+)"/.exec(message) : null
  if (!value || !place) return undefined
  const { source, offset } = place
  const written = source.translation.tokens.filter((token) => token.kind === 'string' && token.value === (value[1] ?? value[2]))
  const [nearest] = written.sort((a, b) => Math.abs(a.start - offset) - Math.abs(b.start - offset))
  return nearest && { source, offset: nearest.start }
}

/** The words that belong to a few errors without a name. */
const signs: readonly [RegExp, RegExp][] = [
  [/^Set operations can only apply/, /^(UNION|INTERSECT|EXCEPT)$/i],
  [/^VALUES lists must/, /^VALUES$/i],
]

const placeBySign = (source: Source | undefined, message: string): SourcePlace | undefined => {
  const word = signs.find(([said]) => said.test(message))?.[1]
  const token = word && source?.translation.tokens.find(({ kind, text }) => kind === 'word' && word.test(text))
  return source && token && { source, offset: token.start }
}

/** The problem with its place: line and column, the line with a caret, and the view's name if the place is in a view. */
const shownAt = ({ code, title, detail, extras }: Problem, { source, offset }: SourcePlace): Problem => {
  const { line, column, caret } = sourceLocationOf(maskSecretsInSql(source.translation.sql), offset)
  const label = source.view === undefined ? '' : `In view ${source.view}: `
  return new Problem(code, title, `${label}${detail} (line ${line}, column ${column})\n${caret}`, {
    ...extras,
    line,
    column,
    ...(source.view !== undefined && { view: source.view }),
  })
}

const placeable = new Set<ProblemCode>(['bad_statement', 'refused_statement', 'not_found', 'not_ready'])

/** Adds the place in the statement to a refusal of this service. */
const explainProblem = (problem: Problem, sources: Sources): Problem => {
  if (problem.extras['line'] !== undefined || problem.detail.startsWith('In view ')) return problem
  const known = problem instanceof PlacedProblem ? sources.placeOf(problem.location) : undefined
  const place = known ?? (placeable.has(problem.code) ? placeByName(sources, problem.detail) : undefined)
  return place ? shownAt(problem, place) : problem
}

/** The place that DuckDB reports; if there is none, the place of the name in its message. */
const placeOfError = async (connection: DuckDBConnection, fault: RunError, said: DuckDBError, sources: Sources) => {
  const bytes = said.bytes === undefined ? undefined : said.bytes - fault.before
  const { tree } = fault
  if (!tree) return undefined
  const exact = bytes === undefined ? undefined : await locationAt(connection, fault.text, tree, bytes)
  const twice = /^Ambiguous reference to table "([^"]+)"/.exec(said.message)?.[1]
  const second = twice === undefined ? undefined : tablesNamed(tree, twice)[1]
  const name = said.name ?? /"([^"\n]+)"/.exec(said.message)?.[1]
  const location = exact ?? (second && locationOf(second)) ?? (name === undefined ? undefined : locationOfName(tree, name))
  return (location === undefined ? undefined : sources.placeOf(location)) ?? placeBySign(sources.first, said.message)
}

const takenArguments = 5

/** The arguments of a function call with wrong arguments. */
const signaturesOf = ({ message, candidates }: DuckDBError): string | undefined => {
  if (!message.startsWith('No function matches')) return undefined
  const taken = candidates.filter((candidate) => candidate.includes('(') && !candidate.includes('ledger_'))
  return taken.length === 0
    ? undefined
    : `It takes ${taken.slice(0, takenArguments).join(', ')}${taken.length > takenArguments ? ', …' : ''}.`
}

const hintOf = (said: DuckDBError, columns: readonly string[]): string | undefined => {
  const { kind, name, candidates } = said
  const taken = signaturesOf(said)
  if (taken !== undefined) return taken
  const known = [...new Set([...candidates, ...columns])].filter((candidate) => candidate !== '' && !/ledger_|\(/.test(candidate))
  if (known.length === 0) return undefined
  const like = name === undefined ? undefined : similarName(name, known)
  if (like === undefined && kind === 'Catalog') return undefined
  if (like !== undefined) return `Did you mean "${like}"?`
  return `Nearest: ${known
    .slice(0, 10)
    .map((column) => `"${column}"`)
    .join(', ')}.`
}

/** The columns of a table of the query, to find the column that the user meant; none if the table cannot be planned by itself. */
const columnsOf = async (connection: DuckDBConnection, tree: AstNode | undefined, table: string): Promise<string[]> => {
  const ref = tree && tablesNamed(tree, table)[0]
  if (!ref) return []
  const entries = nodesOf(nodeOf(tree, 'cte_map') ?? {}, 'map')
  const columns = await describe(connection, ref, { entries }).catch(() => [])
  return columns.map(({ name }) => name)
}

/**
 * Explains an error about a query in terms of the user's text: the fault, its place, and a remedy. DuckDB's message is about the rewritten
 * text. It is translated back to the text that the user, or the author of a view, wrote. It never shows names of internal tables or paths
 * of files.
 */
export const explainError = async (error: unknown, connection: DuckDBConnection, sources: Sources): Promise<Problem> => {
  if (isProblem(error)) return explainProblem(error, sources)
  const cause = error instanceof RunError ? error.cause : error
  if (isDiskFull(cause)) return diskFull(cause)
  const said = readDuckDBError(cause)
  const [, code, title] = kinds.find(([kind]) => kind.test(said.kind)) ?? [undefined, 'query_failed' as const, 'The query failed']
  if (code === 'internal') return new Problem('internal', title, 'The query could not be run; this is a fault of the service')
  const words = wordsFor(said)
  const last = refuseLast(missingColumn(error) ?? '')
  const place = error instanceof RunError ? await placeOfError(connection, error, said, sources) : undefined
  const columns = error instanceof RunError && words.table !== undefined ? await columnsOf(connection, error.tree, words.table) : []
  const elsewhere = words.name === undefined ? [] : sources.columns
  const hint = hintOf({ ...said, name: said.name ?? words.name, candidates: words.candidates }, [...columns, ...elsewhere])
  const problem = last ?? new Problem(code, title, words.detail, hint === undefined ? {} : { hint })
  const named = said.name === undefined ? undefined : placeByName(sources, `"${said.name}"`)
  const found = placeOfValue(said, place) ?? place ?? named ?? placeByName(sources, words.detail)
  return found ? shownAt(problem, found) : problem
}

/** The message of DuckDB's parser without the parts that are meant for its authors. */
const reasonOf = (message: string): string => {
  if (message.startsWith('NameListToString')) return 'a name has too many parts: at most project.model.version'
  if (message.endsWith('NOT IMPLEMENTED')) return 'it is not SQL that this service reads'
  return message.replace(/Use "SET[\s\S]*$/, '').trim() || 'it is not SQL'
}

const statementHint = 'Only SELECT reads data; SHOW and DESCRIBE list what there is.'

/** The refusal of a text by DuckDB's parser, at its place in the user's text. */
export const explainParseFailure = (failure: ParseFailure, translation: Translation): Problem => {
  const said = (reason: string, hint: string) => new Problem('refused_statement', 'The SQL statement is not allowed', reason, { hint })
  const isPivot = translation.tokens.some(({ text }) => /^(UN)?PIVOT$/i.test(text))
  if (/Only SELECT statements/.test(failure.message))
    return isPivot
      ? said('PIVOT with a query behind IN is not allowed here', 'List the values: PIVOT … ON x IN (…), or leave IN out.')
      : said('Only SELECT statements are allowed here', statementHint)
  if (failure.statements > 1)
    return new Problem('bad_statement', 'The SQL statement cannot be parsed', 'Only one statement is taken at a time')
  const reason = reasonOf(failure.message)
  if (failure.characters === undefined)
    return new Problem('bad_statement', 'The SQL statement cannot be parsed', `The SQL statement cannot be parsed: ${reason}`)
  return badStatement(translation.sql, translation.userOffsetOfCharacter(failure.characters), reason)
}

/** The column that DuckDB did not find, if the error is of this kind. */
export const missingColumn = (error: unknown): string | undefined => {
  const { kind, message } = readDuckDBError(error instanceof RunError ? error.cause : error)
  if (kind !== 'Binder') return undefined
  return /^(?:Referenced column|Column) "([^\n]+?)"[^"\n]*(?:not found|does not exist|FROM clause)/.exec(message)?.[1]
}
