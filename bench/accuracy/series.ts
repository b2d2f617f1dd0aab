import { trainForecast } from '../../src/models/engines/forecast/train.js'
import { loadForecast } from '../../src/models/engines/forecast/predictor.js'
import { MatrixBuilder } from '../../src/models/data/matrix.js'
import { outputs } from '../../src/models/engines/tabular/predictor.js'
import { readTable } from './measure.js'

const year = 12
const table = { target: 'passengers', query: "SELECT * FROM read_csv('@/air_passengers.csv') ORDER BY month" }

/** The mean absolute percentage error of the last year of airline passengers, forecast from the years before. */
export const measureSeries = async (folder: string): Promise<number> => {
  const { columns, rows, target } = await readTable(table, folder)
  const builder = new MatrixBuilder(columns)
  for (const row of rows.slice(0, -year)) builder.addRow(row)
  const { artefact } = trainForecast(builder.build(0), { target: 'passengers', order_by: 'month', horizon: year }, () => undefined)
  const model = loadForecast(artefact)
  const features = new Float64Array(year * model.width)
  const out = new Float64Array(year * model.outputWidth)
  const at = columns.findIndex(({ name }) => name === 'month')
  rows.slice(-year).forEach((row, i) => model.encodeRow({ month: row[at] }, i, features, i * model.width))
  model.predictBatch(features, year, out)
  const misses = rows.slice(-year).map((row, i) => Math.abs(out[i * model.outputWidth + outputs.value]! / Number(row[target]) - 1))
  return misses.reduce((sum, miss) => sum + miss, 0) / year
}
