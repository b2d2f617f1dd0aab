import { dirname, join } from 'node:path'
import { createRequire } from 'node:module'

const data = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '../data')
const from = (file: string) => `FROM '${join(data, file)}'`

/** The analysts' tables, each as a SELECT over a published file. */
export const vegaTables: Readonly<Record<string, string>> = {
  movies: `SELECT * REPLACE ("Title"->>'$' AS "Title") ${from('movies.json')}`,
  cars: `SELECT * ${from('cars.json')}`,
  penguins: `SELECT * ${from('penguins.json')}`,
  weather: `SELECT * ${from('seattle-weather.csv')}`,
  flights: `SELECT * REPLACE (strptime(date, '%Y/%m/%d %H:%M') AS date, delay::BIGINT AS delay) ${from('flights-2k.json')}`,
  stocks: `SELECT * REPLACE (strptime(date, '%b %-d %Y')::DATE AS date) ${from('stocks.csv')}`,
  gapminder: `SELECT * ${from('gapminder.json')}`,
  barley: `SELECT * ${from('barley.json')}`,
  airports: `SELECT * ${from('airports.csv')}`,
  population: `SELECT * ${from('population.json')}`,
}
