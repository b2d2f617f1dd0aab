import { printSelect } from '../ast/duckdb.js'
import type { AstNode } from '../ast/json.js'
import { columnRef } from '../ast/nodes.js'
import type { Scope } from '../scope.js'
import type { Served, Session } from '../session.js'
import { running } from '../sources.js'
import { standalone } from './describe.js'
import type { BoundModel } from './scoring-model.js'

const finite = (number: number | undefined): number | null => (number === undefined || !Number.isFinite(number) ? null : number)

const plain = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return value instanceof Date ? value.toISOString() : value
}

/**
 * Answers given rows directly, as a request over REST would be: what is recorded of a prediction before it is answered.
 * The rows are those of the table that WHERE was read as.
 */
export const serve = async (
  session: Session,
  bound: BoundModel,
  ref: AstNode,
  inputs: string[],
  alias: string,
  scope: Scope,
): Promise<Served> => {
  const { connection } = session
  const items = inputs.map((name) => columnRef(alias, name))
  const tree = standalone(items, ref, null, scope)
  const text = await printSelect(connection, tree)
  const result = await running(text, tree, () => connection.run(text))
  const { model } = bound
  const features = new Float64Array(model.width)
  const out = new Float64Array(model.outputWidth)
  const given = await result.getRowsJS()
  const rows = given.map((values, index) => {
    const input = Object.fromEntries(inputs.flatMap((name, i) => (values[i] === null ? [] : [[name, plain(values[i])]])))
    model.encodeRow(input, index, features, 0)
    model.predictBatch(features, 1, out, bound.level)
    const value = model.target.classes ? model.target.classes[out[0] ?? 0] : finite(out[0])
    return { input, output: { value, confidence: out[1] ?? 0, min: finite(out[2]), max: finite(out[3]) } }
  })
  return { model: bound.stream, version: bound.version, rows }
}
