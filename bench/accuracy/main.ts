import { fixedSplit, measure, readTable, seededSplit, type Measured } from './measure.js'
import { measureSeries } from './series.js'
import { tables, type Table } from './tables.js'

const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

const signed = (difference: number) => `${difference < 0 ? '−' : '+'}${Math.abs(difference).toFixed(4)}`
const percent = (share: number) => `${(share * 100).toFixed(1)} %`

const printRow = ({ name, metric, best }: Table, { train, test, metric: reached, seconds, cpuSeconds, plan, coverage }: Measured) => {
  const times = `${seconds.toFixed(1).padStart(5)} s  ${cpuSeconds.toFixed(1).padStart(5)} s CPU`
  const score = `${metric.padEnd(8)} ${reached.toFixed(4)}  best ${best.toFixed(4)}  ${signed(reached - best)}`
  console.log(`  ${name.padEnd(18)} ${`${train}/${test}`.padStart(10)}  ${score}  ${times}  ${plan}`)
  if (coverage)
    console.log(
      `  ${''.padEnd(18)} 90 % intervals cover ${percent(coverage.all)}, their widest fifth ${percent(coverage.widest)}, the narrowest ${percent(coverage.narrowest)}`,
    )
}

const printMean = async (table: Table, folder: string): Promise<void> => {
  if (table.catboost === undefined) return
  const data = await readTable(table, folder)
  const reached: number[] = []
  for (const seed of seeds) reached.push((await measure(table, data, seededSplit(seed))).metric)
  const mean = reached.reduce((sum, value) => sum + value, 0) / reached.length
  const each = reached.map((value) => value.toFixed(3)).join(' ')
  console.log(
    `  ${table.name.padEnd(18)} ${table.metric.padEnd(8)} ${mean.toFixed(4)}  CatBoost ${table.catboost.toFixed(4)}  ${signed(mean - table.catboost)}  (${each})`,
  )
}

/**
 * Trains the default engine without options on the tables of a folder, measures it on held-out rows, and forecasts a series. With names
 * after the folder, on those tables only.
 */
export const accuracy = async (folder?: string, ...names: readonly string[]): Promise<void> => {
  if (folder === undefined) throw new Error('name the folder of the tables: npm run bench -- accuracy <folder>')
  const wanted = tables.filter(({ name }) => names.length === 0 || names.includes(name))
  console.log('accuracy on a fixed fifth of the rows; the best of scikit-learn, LightGBM, XGBoost and CatBoost beside it')
  for (const table of wanted) printRow(table, await measure(table, await readTable(table, folder), fixedSplit))
  console.log('accuracy of small tables, the mean over ten seeded splits; CatBoost on the same splits beside it')
  for (const table of wanted) await printMean(table, folder)
  if (names.length === 0 || names.includes('air_passengers'))
    console.log(`air_passengers: the last year forecast with a mean absolute percentage error of ${percent(await measureSeries(folder))}`)
}
