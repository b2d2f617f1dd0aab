import { prepareChecked, printSelect } from '../ast/duckdb.js'
import type { AstNode } from '../ast/json.js'
import { columnRef } from '../ast/nodes.js'
import type { Scope } from '../session/scope.js'
import type { PredictedRows } from '../../contract/select.js'
import type { Session } from '../session/session.js'
import { running } from '../session/sources.js'
import { standalone } from '../session/describe.js'
import { isRemote } from '../../../models/engines/contract/remote.js'
import type { BoundModel } from '../scoring/scoring-model.js'

const finite = (number: number | undefined): number | null => (number === undefined || !Number.isFinite(number) ? null : number)

const plain = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return value instanceof Date ? value.toISOString() : value
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
  const items = inputs.map((name) => columnRef(alias, name))
  const tree = standalone(items, ref, null, scope)
  const text = await printSelect(connection, tree)
  const prepared = await running(text, tree, () => prepareChecked(connection, text))
  const result = await running(text, tree, () => prepared.run()).finally(() => prepared.destroySync())
  const { target, outputWidth } = bound.model
  const given = (await result.getRowsJS()).map((values): Record<string, unknown> =>
    Object.fromEntries(inputs.flatMap((name, i) => (values[i] === null ? [] : [[name, plain(values[i])]]))),
  )
  const numbers = await numbersOf(bound, given)
  const rows = given.map((input, index) => {
    const [first, confidence, min, max] = numbers.subarray(index * outputWidth)
    const value = target.classes ? (target.classes[first ?? NaN] ?? null) : finite(first)
    return { input, output: { value, confidence: finite(confidence), min: finite(min), max: finite(max) } }
  })
  return { model: bound.stream, version: bound.version, rows }
}
