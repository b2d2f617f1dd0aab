import { isProblem, Problem } from '../../basics/errors.js'
import { inTurns } from '../../basics/long-work.js'
import { sourceLocationOf, tokensIn } from '../../dialect/lexer.js'
import { offsetOf } from '../../dialect/source-location.js'
import { maskSecretsInSqlOf } from '../../dialect/mask-secrets.js'

const shownPlace = / \(line \d+, column \d+\)\n>[^\n]*\n-*\^/

/**
 * Translates an error about a SELECT that was made from a statement (`SHOW AGENTS WHERE …`) into an error about the statement itself. The
 * error has the place of its word in the statement, or no place if the statement does not have the word. Reading a long statement takes
 * long, so other work runs between the readings.
 */
export const inStatement = (error: unknown, made: string, query: string): Promise<unknown> => inTurns(placed(error, made, query))

function* placed(error: unknown, made: string, query: string): Generator<void, unknown> {
  if (!isProblem(error) || error.extras['view'] !== undefined) return error
  const { line, column, ...extras } = error.extras
  if (typeof line !== 'number' || typeof column !== 'number') return error
  const offset = offsetOf(made, line, column)
  const wrong = tokensIn(made)?.find(({ start, end }) => start <= offset && offset < end)
  yield
  // In the statement, the words that go into the SELECT come after the statement's own words.
  const tokens = tokensIn(query)
  const own = wrong && tokens?.findLast(({ text }) => text === wrong.text)
  if (!own) return new Problem(error.code, error.title, error.detail.replace(shownPlace, ''), extras)
  yield
  const place = sourceLocationOf(yield* maskSecretsInSqlOf(query, tokens), own.start)
  const detail = error.detail.replace(shownPlace, () => ` (line ${place.line}, column ${place.column})\n${place.caret}`)
  return new Problem(error.code, error.title, detail, { ...extras, line: place.line, column: place.column })
}
