import type { DuckDBConnection } from '@duckdb/node-api'
import { LongWork } from '../../../basics/long-work.js'
import { checkAborted } from '../duckdb-connection/duckdb-connection.js'
import { prepareChecked, printSelect } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { cast, columnRef } from '../ast/nodes.js'
import { expressionTemplate } from '../ast/templates.js'
import type { Leaf, LeafColumn, Scope } from '../session/scope.js'
import type { PredictedRows } from '../../contract/select.js'
import type { Session } from '../session/session.js'
import { withText } from '../session/sources.js'
import { standalone } from '../session/describe.js'
import { doubleOf, formOf } from './mapping.js'
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

/** A value that WHERE gives, in the form of a request. The model reads the same value from it as from the form of `argumentOf`. */
const sentValue = async (connection: DuckDBConnection, input: ScoringInput, value: AstNode, kind: LeafColumn['kind']): Promise<AstNode> => {
  const form = formOf(input, kind)
  if (form === 'date' || form === 'timestamp') return expressionTemplate(connection, timeTexts[form], { x: value })
  if (form === 'text') return cast(value, 'VARCHAR')
  // Whole numbers keep all their digits, and inputs of booleans get booleans unchanged.
  return form === 'float' || (kind === 'boolean' && input.type !== 'boolean') ? doubleOf(value, form) : value
}

/** The numbers of rows of plain values, row by row. Other queries of this process run in between. */
const numbersOf = async (
  { signal }: Session,
  { model, level }: BoundModel,
  inputs: readonly Readonly<Record<string, unknown>>[],
): Promise<Float64Array> => {
  if (isRemote(model)) return model.predictRows(inputs)
  const features = new Float64Array(model.width)
  const out = new Float64Array(inputs.length * model.outputWidth)
  const work = new LongWork()
  for (const [index, input] of inputs.entries()) {
    model.encodeRow(input, index, features, 0)
    model.predictBatch(features, 1, out.subarray(index * model.outputWidth), level)
    await work.pause()
    checkAborted(signal)
  }
  return out
}

/**
 * Predicts the rows that WHERE gives, like a request over REST. The result is recorded before it is answered. The leaf is the table
 * that was made from the WHERE; its columns are the inputs.
 */
export const predictGivenRows = async (
  session: Session,
  bound: BoundModel,
  { ref, alias, columns }: Leaf,
  scope: Scope,
): Promise<PredictedRows> => {
  const { connection } = session
  const items: AstNode[] = []
  for (const { name, kind } of columns) {
    const input = bound.model.inputs.find((each) => each.name === name)
    if (!input) throw new TypeError(`the model has no input ${name}`)
    items.push(await sentValue(connection, input, columnRef(alias, name), kind))
  }
  const tree = standalone(items, ref, null, scope)
  const text = await printSelect(connection, tree)
  const prepared = await withText(text, tree, () => prepareChecked(connection, text))
  const result = await withText(text, tree, () => prepared.run()).finally(() => prepared.destroySync())
  const { target, outputWidth } = bound.model
  const sent = (await result.getRowsJS()).map((values): Record<string, unknown> =>
    Object.fromEntries(columns.flatMap(({ name }, i) => (values[i] === null ? [] : [[name, plain(values[i])]]))),
  )
  const numbers = await numbersOf(session, bound, sent)
  const rows = sent.map((input, index) => {
    const [first, confidence, min, max] = numbers.subarray(index * outputWidth)
    const value = target.classes ? (target.classes[first ?? NaN] ?? null) : finite(first)
    return { input, output: { value, confidence: finite(confidence), min: finite(min), max: finite(max) } }
  })
  return { model: bound.stream, version: bound.version, rows }
}
