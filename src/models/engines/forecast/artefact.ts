import { ByteReader, ByteWriter } from '../../numerics/bytes.js'
import { quantileLevels } from '../../numerics/quantiles.js'
import type { Grid } from './grid.js'
import type { Key, Panel } from './panel.js'

/** The magic of series artefacts. */
export const forecastMagic = 'MLSERIES'
const version = 1

/** All data for forecasts: they are computed in training, and only looked up later. */
export type ForecastModel = {
  engineVersion: string
  target: Panel['target']
  order: Panel['order']
  keys: readonly Key[]
  grid: Grid
  /** The name of the grid: `month`. */
  frequency: string
  /** The usual day of the month in the grid, if its steps are months. */
  day: number
  horizon: number
  confidence: number
  /** The indexes of the keys' values, one series after the other. */
  codes: Int32Array
  /** The last time of each series. */
  last: Float64Array
  /** The lower bound of each series: 0, or minus infinity. */
  least: Float64Array
  /** Values and spreads of the steps of each series, `horizon` numbers per series. */
  forecasts: Float64Array
  spreads: Float64Array
  /** Quantiles of the errors divided by their spread, for the levels .001, .002 … .999. */
  quantiles: Float64Array
}

const headerOf = (model: ForecastModel) => ({
  engineVersion: model.engineVersion,
  target: { name: model.target.name, type: model.target.type },
  order: { name: model.order.name, type: model.order.type },
  keys: model.keys.map(({ name, type, values }) => ({ name, type, values })),
  grid: { unit: model.grid.unit, size: model.grid.size },
  frequency: model.frequency,
  day: model.day,
  horizon: model.horizon,
  confidence: model.confidence,
  series: model.last.length,
})

/**
 * Encodes a model: magic `MLSERIES`, version (u16), a JSON header (length u32, UTF-8), then the arrays in the order of the type, including
 * 999 quantiles. Little endian. The same data and engine version give the same bytes.
 */
export const encodeForecast = (model: ForecastModel): Uint8Array => {
  const writer = new ByteWriter()
  writer.raw(new TextEncoder().encode(forecastMagic))
  writer.u16(version)
  writer.text(JSON.stringify(headerOf(model)))
  for (const numbers of [model.codes, model.last, model.least, model.forecasts, model.spreads, model.quantiles]) writer.array(numbers)
  return writer.finish()
}

/** Decodes what `encodeForecast` wrote; other bytes are an `internal` problem that says why. */
export const decodeForecast = (bytes: Uint8Array): ForecastModel => {
  const reader = new ByteReader(bytes, 'model artefact')
  reader.expect(forecastMagic, version)
  // The header has the version that wrote it, and the artefact's hash was checked before.
  const { series, ...header } = JSON.parse(reader.text()) as ReturnType<typeof headerOf>
  const model = {
    ...header,
    codes: reader.array(Int32Array, series * header.keys.length),
    last: reader.array(Float64Array, series),
    least: reader.array(Float64Array, series),
    forecasts: reader.array(Float64Array, series * header.horizon),
    spreads: reader.array(Float64Array, series * header.horizon),
    quantiles: reader.array(Float64Array, quantileLevels),
  }
  reader.end()
  return model
}
