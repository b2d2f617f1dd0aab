import type { DuckDBConnection } from '@duckdb/node-api'
import { prepareChecked, printSelect } from '../ast/duckdb.js'
import type { AstNode } from '../ast/json.js'
import { cast, columnRef } from '../ast/nodes.js'
import { expressionTemplate } from '../ast/templates.js'
import type { Scope } from '../session/scope.js'
import type { PredictedRows } from '../../contract/select.js'
import type { Session } from '../session/session.js'
import { running } from '../session/sources.js'
import type { LeafColumn } from '../session/scope.js'
import { describe, standalone } from '../session/describe.js'
import { isRemote } from '../../../models/engines/contract/remote.js'
import type { BoundModel, ScoringInput } from '../scoring/scoring-model.js'

const finite = (number: number | undefined): number | null => (number === undefined || !Number.isFinite(number) ? null : number)

const plain = (value: unknown): unknown =>
  typeof value === 'bigint' ? (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)) : value

/** Times as texts of a request. Models know no endless times. */
const timeTexts = {
  date: 'CASE WHEN isfinite(CAST($x AS TIMESTAMP)) THEN CAST(CAST($x AS DATE) AS VARCHAR) END',
  timestamp: "CASE WHEN isfinite(CAST($x AS TIMESTAMP)) THEN CAST(date_trunc('milliseconds', CAST($x AS TIMESTAMP)) AS VARCHAR) END",
}

/** A value that WHERE gives, in the form of a request: the model reads in it what it reads in `argumentOf` of the same value. */
const sentValue = async (
  connection: DuckDBConnection,
  { type }: ScoringInput,
  value: AstNode,
  kind: LeafColumn['kind'],
): Promise<AstNode> => {
  if (kind === 'time' && (type === 'date' || type === 'timestamp')) return expressionTemplate(connection, timeTexts[type], { x: value })
  if (type === 'text' || kind === 'text' || kind === 'time') return cast(value, 'VARCHAR')
  if (kind === 'float') return cast(cast(value, 'VARCHAR'), 'DOUBLE')
  return kind === 'boolean' && type !== 'boolean' ? cast(value, 'DOUBLE') : value
}

/** The numbers of rows of plain values, row by row. */
const numbersOf = async ({ model, level }: BoundModel, inputs: readonly Readonly<Record<string, unknown>>[]): Promise<Float64Array> => {
  if (isRemote(model)) return model.predictRows(inputs)
  const features = new Float64Array(model.width)
  const out = new Float64Array(inputs.length * model.outputWidth)
  inputs.forEach((input, index) => {
    model.encodeRow(input, index, features, 0)
    model.predictBatch(features, 1, out.subarray(index * model.outputWidth), level)
  })
  return out
}

/**
 * Predicts the rows that WHERE gives, like a request over REST. The result is recorded before it is answered. `ref` is the table that was
 * made from the WHERE.
 */
export const predictGivenRows = async (
  session: Session,
  bound: BoundModel,
  ref: AstNode,
  inputs: string[],
  alias: string,
  scope: Scope,
): Promise<PredictedRows> => {
  const { connection } = session
  const given = bound.model.inputs.filter(({ name }) => inputs.includes(name))
  const columns = await describe(
    connection,
    ref,
    scope,
    given.map(({ name }) => columnRef(alias, name)),
  )
  const items: AstNode[] = []
  for (const input of given) {
    const kind = columns.find(({ name }) => name === input.name)?.kind ?? 'text'
    items.push(await sentValue(connection, input, columnRef(alias, input.name), kind))
  }
  const tree = standalone(items, ref, null, scope)
  const text = await printSelect(connection, tree)
  const prepared = await running(text, tree, () => prepareChecked(connection, text))
  const result = await running(text, tree, () => prepared.run()).finally(() => prepared.destroySync())
  const { target, outputWidth } = bound.model
  const sent = (await result.getRowsJS()).map((values): Record<string, unknown> =>
    Object.fromEntries(given.flatMap(({ name }, i) => (values[i] === null ? [] : [[name, plain(values[i])]]))),
  )
  const numbers = await numbersOf(bound, sent)
  const rows = sent.map((input, index) => {
    const [first, confidence, min, max] = numbers.subarray(index * outputWidth)
    const value = target.classes ? (target.classes[first ?? NaN] ?? null) : finite(first)
    return { input, output: { value, confidence: finite(confidence), min: finite(min), max: finite(max) } }
  })
  return { model: bound.stream, version: bound.version, rows }
}
