import { isProblem, Problem } from '../../basics/errors.js'
import { inTurns } from '../../basics/long-work.js'
import { positionOf, tokensIn } from '../../dialect/lexer.js'
import { offsetOf } from '../../dialect/position.js'
import { maskSecretsOf } from '../../dialect/secrets.js'

const shownPlace = / \(line \d+, column \d+\)\n>[^\n]*\n-*\^/

/**
 * An error about a SELECT that a statement was made into (`SHOW AGENTS WHERE …`), told of the statement's own text: with the place
 * of the word that the error is about, or without a place where the statement does not have the word. A long statement takes long
 * to read: others have their turn between the readings.
 */
export const inStatement = (error: unknown, made: string, query: string): Promise<unknown> => inTurns(placed(error, made, query))

function* placed(error: unknown, made: string, query: string): Generator<void, unknown> {
  if (!isProblem(error) || error.extras['view'] !== undefined) return error
  const { line, column, ...extras } = error.extras
  if (typeof line !== 'number' || typeof column !== 'number') return error
  const offset = offsetOf(made, line, column)
  const wrong = tokensIn(made)?.find(({ start, end }) => start <= offset && offset < end)
  yield
  // The words that a statement puts into its SELECT stand behind its own.
  const tokens = tokensIn(query)
  const own = wrong && tokens?.findLast(({ text }) => text === wrong.text)
  if (!own) return new Problem(error.code, error.title, error.detail.replace(shownPlace, ''), extras)
  yield
  const place = positionOf(yield* maskSecretsOf(query, tokens), own.start)
  const detail = error.detail.replace(shownPlace, () => ` (line ${place.line}, column ${place.column})\n${place.caret}`)
  return new Problem(error.code, error.title, detail, { ...extras, line: place.line, column: place.column })
}
