import { limits } from '../../src/basics/limits.js'
import { onnxTruth } from '../../test/support/models/onnx-models.js'
import { json, type Body } from './body.js'
import { predictionId } from './prepare.js'
import { values, type Maker } from './texts.js'

/** A row with this many columns. */
export const row = (columns: number) => (n: number) => `{${values(columns, (column) => `"c${column}":${n}`)(1)}}`

const horsepower = (n: number) => `{"Horsepower":${n % 200}}`
const car = (n: number) => `{"Horsepower":${n % 200},"Weight_in_lbs":${2_000 + n},"Origin":"USA"}`
/** A day after the last one of a series. */
const day = (n: number) => `{"day":"2024-04-0${1 + (n % 6)}","shop":"${n % 2 === 0 ? 'a' : 'b'}"}`
const home = (n: number) => JSON.stringify(onnxTruth.rows[n % onnxTruth.rows.length])

const rows =
  (one: (n: number) => string): Maker =>
  (share) =>
    `[${values(limits.predictMaxRows, one)(share)}]`

/** Rows to predict, for a model of each engine that works in its own way. */
export const predictions: readonly Body[] = [
  json('rows', rows(car)),
  json('rows in a text', (share) => JSON.stringify({ data: rows(horsepower)(share) })),
  json('values', rows(row(90))),
  json('columns', (share) => `{"data":{"Horsepower":[${values(limits.predictMaxRows, () => '1')(share)}]}}`),
  json('explained rows', (share) => `{"data":[${values(limits.explainMaxRows, horsepower)(share)}],"params":{"explain":"contributions"}}`),
  { ...json('classes', rows(car)), names: { model: 'origin_model' } },
  { ...json('forecasts', rows(day)), names: { model: 'forecast_model' } },
  { ...json('an imported model', rows(home)), names: { model: 'rent_model' } },
]

const origins = ['USA', 'Europe', 'Japan']
const outcome = (n: number) => `{"request":"${predictionId}","row":${n},"truth":"${origins[n % 3]}"}`

/** The truths of the largest predictions. */
export const outcomes: readonly Body[] = [json('outcomes', (share) => `{"outcomes":[${values(limits.outcomesMaxRows, outcome)(share)}]}`)]
