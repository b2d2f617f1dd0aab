import { expect, test } from '@jest/globals'
import { DuckDBInstance } from '@duckdb/node-api'
import { dateHint } from '../../../src/files/tables/date-hint.js'

test.each([
  ['months', ['1749-01', '1981-4'], 'month', '1749-01-01'],
  ['months with the year last', ['4/1981'], 'month', '1981-04-01'],
  ['pairs of years', ['2005-06'], 'season', '2005-06-01'],
  ['days with the day first', ['30/09/2007', '01/10/2007'], 'Order day', '2007-09-30'],
  ['days with the month first', ['09-30-2007'], 'day', '2007-09-30'],
  ['days with the time of day', ['30/09/2007 14:30'], 'day', '2007-09-30 14:30:00'],
  ['days of which one is in no calendar', ['30/09/2007', '31/02/2007'], 'day', '2007-09-30'],
])('the hint for %s is an expression that gives them', async (_, texts, name, first) => {
  const [expression = ''] = dateHint(name, texts).split(' in the SELECT')
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const values = texts.map((text) => `('${text}')`).join(', ')
  const rows = (await connection.runAndReadAll(`SELECT ${expression} FROM (VALUES ${values}) AS t("${name}")`)).getRowsJson()
  expect(rows[0]).toEqual([first])
  connection.closeSync()
})

test('where nobody can tell which is first, the hint has both', () => {
  expect(dateHint('day', ['01/02/2007'])).toContain("'%d/%m/%Y'")
  expect(dateHint('day', ['01/02/2007'])).toContain("'%m/%d/%Y'")
  expect(dateHint('day', ['soon'])).toContain('CAST(day AS DATE)')
})
