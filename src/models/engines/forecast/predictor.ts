import { wrong } from '../../../basics/errors.js'
import { shown } from '../../../basics/shown.js'
import { columnNamed } from '../../data/columns.js'
import { readCell, readText, sentTwice, unknownColumn, unusable, type ColumnType } from '../../data/values.js'
import { quantileAt } from '../../numerics/quantiles.js'
import type { ColumnVector } from '../tabular/encode.js'
import { outputs, type Predictor, type PredictorInput } from '../tabular/predictor.js'
import { decodeForecast, type ForecastModel } from './artefact.js'
import { FutureRows } from './future.js'
import { stepsTo, timeAfter } from './grid.js'
import type { Key } from './panel.js'
import { timeOfCell, timeText } from './times.js'

/** Why a row has no forecast; the answer holds the index. */
const reasons = [
  'there is no such series',
  'the date is missing',
  'the date is not one of the series',
  'the date is not after the last one of the series',
  'the date is past the horizon',
] as const
const reasonOf = { series: 0, missing: 1, offGrid: 2, past: 3, horizon: 4 } as const

/** The index of the reason, after the four outputs; NaN if there is a forecast. */
const reasonOutput = outputs.probabilities

const width = 2
const outputWidth = reasonOutput + 1

/** The series of a row, and the step after the last time of that series, from 0; or the reason why there is no forecast. */
type Place = { series: number; step: number } | { reason: number; series?: number }

/** Converts values of one key to indexes: -1 for null, undefined for an unknown value, NaN for a value of the wrong type. */
const keyReader = ({ type, values }: Key): ((value: unknown) => number | undefined) => {
  const places = new Map(values.map((value, place) => [value, place]))
  return (value) => {
    const read = type === 'text' ? readText(value) : readCell(type, value)
    if (read === undefined) return NaN
    return read === null || Number.isNaN(read) ? -1 : places.get(read)
  }
}

/** Finds the series and step of a row. */
class Lookup {
  readonly #readers: readonly ((value: unknown) => number | undefined)[]
  readonly #series = new Map<string, number>()

  constructor(private readonly model: ForecastModel) {
    const { keys, codes, last } = model
    this.#readers = keys.map(keyReader)
    for (let i = 0; i < last.length; i++) this.#series.set(codes.subarray(i * keys.length, (i + 1) * keys.length).join(' '), i)
  }

  /** @throws Problem for a value of the wrong type */
  place(time: unknown, keys: readonly unknown[], where: string): Place {
    const { model } = this
    const codes = keys.map((value, i) => {
      const code = this.#readers[i]!(value)
      if (Number.isNaN(code)) throw this.#unfit(model.keys[i]!, value, where)
      return code
    })
    const series = codes.includes(undefined) ? undefined : this.#series.get(codes.join(' '))
    const cell = readCell(model.order.type, time)
    if (cell === undefined) throw this.#unfit(model.order, time, where)
    if (series === undefined) return { reason: reasonOf.series }
    if (Number.isNaN(cell)) return { reason: reasonOf.missing, series }
    const steps = stepsTo(model.grid, { time: model.last[series]!, day: model.day }, timeOfCell(model.order.type, cell))
    if (Number.isNaN(steps)) return { reason: reasonOf.offGrid, series }
    if (steps < 1) return { reason: reasonOf.past, series }
    return steps > model.horizon ? { reason: reasonOf.horizon, series } : { series, step: steps - 1 }
  }

  #unfit({ name, type }: { name: string; type: ColumnType }, value: unknown, where: string) {
    return unusable(`${where}column "${name}"`, value, type)
  }
}

/** The refusal of a single row: the fault of the row, and the dates with forecasts. */
const refused = (
  model: ForecastModel,
  { reason, series }: Extract<Place, { reason: number }>,
  { time, keys }: { time: unknown; keys: readonly unknown[] },
  where: string,
) => {
  const { order, grid, day, horizon, last, frequency } = model
  if (series === undefined)
    return wrong(
      `${where}no series has ${model.keys.map(({ name }, i) => `${name} = ${shown(keys[i] ?? null)}`).join(' and ')}`,
      'Series are those of the training data that were long enough; RETRAIN on data that has this one.',
    )
  const at = (steps: number) => timeText(order.type, timeAfter(grid, { time: last[series]!, day }, steps))
  return wrong(
    `${where}column "${order.name}": ${reason === reasonOf.missing ? '' : `${shown(time)}: `}${reasons[reason]}`,
    `The series has one row a ${frequency}, the last at ${at(0)}; forecasts are from ${at(1)} to ${at(horizon)}.`,
  )
}

const write = (place: Place, into: Float64Array, at: number): void => {
  into[at] = 'reason' in place ? -1 - place.reason : place.series
  into[at + 1] = 'reason' in place ? 0 : place.step
}

const predict = (model: ForecastModel, features: Float64Array, rows: number, out: Float64Array, confidence: number): void => {
  const { horizon, forecasts, spreads, least, quantiles } = model
  const factor = quantileAt(quantiles, confidence)
  for (let row = 0; row < rows; row++) {
    const [series, at] = [features[row * width]!, row * outputWidth]
    if (series < 0) {
      out.fill(NaN, at, at + outputWidth)
      out[at + reasonOutput] = -1 - series
      continue
    }
    const place = series * horizon + features[row * width + 1]!
    const [value, half] = [forecasts[place]!, factor * spreads[place]!]
    out[at + outputs.value] = value
    out[at + outputs.confidence] = confidence
    out[at + outputs.min] = Math.max(value - half, least[series]!)
    out[at + outputs.max] = value + half
    out[at + reasonOutput] = NaN
  }
}

/**
 * Makes a series artefact ready to predict: a row is a date and the values of the keys. A single row (`encodeRow`) without a forecast is a
 * `wrong_arguments` problem; in the rows of a table (`encodeColumns`) all its numbers are NaN, and an index into `reasons` says why.
 *
 * @example
 * const predictor = loadForecast(artefact)
 * predictor.encodeRow({ month: '1961-01-01' }, 0, features, 0)
 * predictor.predictBatch(features, 1, out)
 */
export const loadForecast = (artefact: Uint8Array): Predictor => {
  const model = decodeForecast(artefact)
  const lookup = new Lookup(model)
  const { order, keys, target, confidence } = model
  const inputs: PredictorInput[] = [
    { name: order.name, type: order.type, used: true },
    ...keys.map(({ name, type, values }) => ({ name, type, used: true, ...(type === 'text' && { categories: values.map(String) }) })),
  ]
  const columns = [...inputs, target]
  const nameOf = (sent: string, rowIndex: number): string => {
    const found = columnNamed(columns, sent)
    if (found) return found.name
    throw unknownColumn(
      rowIndex,
      sent,
      inputs.map(({ name }) => name),
    )
  }
  return {
    kind: 'regression',
    inputs,
    target,
    width,
    outputWidth,
    confidence,
    partial: true,
    reasons,
    future: new FutureRows(model),
    nameOf,
    encodeRow(row, rowIndex, into, offset) {
      const values = new Map<string, unknown>()
      for (const sent of Object.keys(row)) {
        const name = nameOf(sent, rowIndex)
        if (values.has(name)) throw sentTwice(rowIndex, name)
        values.set(name, row[sent])
      }
      const where = `Row ${rowIndex}, `
      const asked = keys.map(({ name }) => values.get(name))
      const time = values.get(order.name)
      const place = lookup.place(time, asked, where)
      if ('reason' in place) throw refused(model, place, { time, keys: asked }, where)
      write(place, into, offset)
    },
    encodeColumns(columns: readonly (ColumnVector | undefined)[], rows, into) {
      const valueAt = (column: number, row: number): unknown => {
        const vector = columns[column]
        return vector && (!vector.valid || vector.valid[row]) ? vector.values[row] : null
      }
      for (let row = 0; row < rows; row++) {
        const asked = keys.map((_, i) => valueAt(i + 1, row))
        write(lookup.place(valueAt(0, row), asked, `Row ${row}, `), into, row * width)
      }
    },
    predictBatch: (features, rows, out, level = confidence) => predict(model, features, rows, out, level),
    predictPoints: (features, rows, out) => predict(model, features, rows, out, confidence),
  }
}
