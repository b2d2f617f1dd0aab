import { isProblem, Problem } from '../../basics/errors.js'
import { inTurns } from '../../basics/long-work.js'
import { positionOf, tokensIn } from '../../dialect/lexer.js'
import { offsetOf } from '../../dialect/position.js'
import { maskSecretsOf } from '../../dialect/secrets.js'

const shownPlace = / \(line \d+, column \d+\)\n>[^\n]*\n-*\^/

/**
 * An error about a SELECT that a statement was made into (`SHOW AGENTS WHERE …`), in the statement's own text: at the word that
 * the error is about where the statement has it, and without a place where it has not. Each of the readings takes long where the
 * statement is: others have their turn between them.
 */
export const inStatement = (error: unknown, made: string, query: string): Promise<unknown> => inTurns(placed(error, made, query))

function* placed(error: unknown, made: string, query: string): Generator<void, unknown> {
  if (!isProblem(error) || error.extras['view'] !== undefined) return error
  const { line, column, ...extras } = error.extras
  if (typeof line !== 'number' || typeof column !== 'number') return error
  const offset = offsetOf(made, line, column)
  const wrong = tokensIn(made)?.find(({ start, end }) => start <= offset && offset < end)
  yield
  // What a statement takes over into its SELECT stands behind its own words.
  const tokens = tokensIn(query)
  const own = wrong && tokens?.findLast(({ text }) => text === wrong.text)
  if (!own) return new Problem(error.code, error.title, error.detail.replace(shownPlace, ''), extras)
  yield
  const place = positionOf(yield* maskSecretsOf(query, tokens), own.start)
  const detail = error.detail.replace(shownPlace, () => ` (line ${place.line}, column ${place.column})\n${place.caret}`)
  return new Problem(error.code, error.title, detail, { ...extras, line: place.line, column: place.column })
}
