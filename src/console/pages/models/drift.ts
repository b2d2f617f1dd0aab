import { memberOf, select, streamOf, type Value } from '../../api/sql.js'
import { timeOf } from '../../basics/time.js'
import { percentText, shown } from '../../components/value.js'
import type { Feature, ModelName } from './reports.js'
import type { TrainingRows } from './training-rows.js'

/** The difference between the current values of an input and those of the training. */
export type Drift = {
  column: string
  /** From 0 (the same) to 1 (nothing in common): half the sum of the differences between the shares of all parts. */
  distance: number
  /** A description of the part whose share grew most. */
  about: string
}

/** The least number of recorded inputs that are compared: the shares of fewer differ from those of the training by chance. */
export const askedMin = 50
const sampleRows = 2_000
const partsOfNumbers = 10

type Rows = readonly Record<string, Value>[]

/**
 * How a feature of numbers or times is divided into parts: a value as a number, and a border as a text. A time may be written in several ways,
 * as in JSON and as in SQL. Undefined for a feature without an order.
 */
const orderOf = ({ type }: Feature): { numberOf: (value: Value) => number; textOf: (border: number) => string } | undefined => {
  if (type === 'integer' || type === 'number') return { numberOf: Number, textOf: String }
  if (type !== 'date' && type !== 'timestamp') return undefined
  const textOf = (border: number): string =>
    new Date(border)
      .toISOString()
      .slice(0, type === 'date' ? 10 : 19)
      .replace('T', ' ')
  return { numberOf: (value) => Number(timeOf(shown(value))), textOf }
}

/** The borders of parts with equally many values. */
const bordersOf = (values: readonly number[]): number[] => {
  if (values.length === 0) return []
  const sorted = values.toSorted((a, b) => a - b)
  const borders = Array.from({ length: partsOfNumbers - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / partsOfNumbers)] ?? 0)
  return [...new Set(borders)]
}

const sharesOf = (parts: readonly string[]): Map<string, number> => {
  const shares = new Map<string, number>()
  for (const part of parts) shares.set(part, (shares.get(part) ?? 0) + 1 / parts.length)
  return shares
}

/** The part of a value: a range for numbers and times, the value itself for others. */
const partsWith = (feature: Feature, then: Rows): ((row: Record<string, Value>) => string) => {
  const of = (row: Record<string, Value>): Value => memberOf(row, feature.column) ?? null
  const order = orderOf(feature)
  if (!order) return (row) => (of(row) === null ? 'no value' : shown(of(row)))
  const { numberOf, textOf } = order
  const known = then.flatMap((row) => (of(row) === null ? [] : [numberOf(of(row))]))
  const borders = bordersOf(known.filter((value) => !Number.isNaN(value)))
  const text = (i: number): string => textOf(borders[i] ?? 0)
  return (row) => {
    const value = of(row)
    if (value === null) return 'no value'
    const number = numberOf(value)
    if (Number.isNaN(number)) return shown(value)
    if (borders.length === 0) return 'any value'
    const at = borders.findIndex((border) => number < border)
    if (at === 0) return `below ${text(0)}`
    return at < 0 ? `from ${text(borders.length - 1)} on` : `${text(at - 1)} to ${text(at)}`
  }
}

/**
 * Compares the inputs of two sets of rows.
 *
 * @example driftOf([{ column: 'size', type: 'integer', … }], [{ size: 1 }], [{ size: 9 }]) // [{ column: 'size', distance: 1, … }]
 */
const driftOf = (features: readonly Feature[], then: Rows, now: Rows): Drift[] =>
  features
    .map((feature) => {
      const part = partsWith(feature, then)
      const [before, after] = [sharesOf(then.map(part)), sharesOf(now.map(part))]
      const gaps = [...new Set([...before.keys(), ...after.keys()])].map((name) => ({
        name,
        was: before.get(name) ?? 0,
        is: after.get(name) ?? 0,
      }))
      const [most] = gaps.toSorted((a, b) => b.is - b.was - (a.is - a.was))
      return {
        column: feature.column,
        distance: gaps.reduce((sum, { was, is }) => sum + Math.abs(is - was), 0) / 2,
        about: most && most.is - most.was >= 0.05 ? `${most.name}: ${percentText(most.is)}, was ${percentText(most.was)}` : '',
      }
    })
    .toSorted((a, b) => b.distance - a.distance)

/** Compares rows of the training with the latest recorded inputs of a version, if there are enough of them. @throws ApiError */
export const loadDrift = async (
  of: ModelName,
  { version, training }: { version: number; training: TrainingRows },
  features: readonly Feature[],
  at: string | undefined,
  signal: AbortSignal,
): Promise<{ drift: Drift[]; asked: number }> => {
  const wanted = features.filter(({ role }) => role !== 'target')
  const [then, recorded] = await Promise.all([
    select<Record<string, Value>>({
      query: `SELECT * FROM ${training.rows} AS rows_of_training USING SAMPLE ${sampleRows} ROWS`,
      ...{ at: training.at, readsOnly: true, signal },
    }),
    select<{ input: string }>({
      query: `SELECT input FROM log.predictions WHERE model_id = ${streamOf('model')} AND version = :version AND readable
        ORDER BY position DESC LIMIT ${sampleRows}`,
      params: { project: of.project, name: of.model, version },
      ...{ at, signal },
    }),
  ])
  const now = recorded.map(({ input }) => JSON.parse(input) as Record<string, Value>)
  return { drift: now.length < askedMin ? [] : driftOf(wanted, then, now), asked: now.length }
}
