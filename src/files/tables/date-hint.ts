import { dateShape } from '../types/date-shape.js'
import { shapes } from '../types/shapes.js'
import { sqlName } from './staged-table.js'

const { dayMonth, monthDay, eitherDay, sameDay, yearMonth, season, monthYear, noDay, timed } = shapes

/**
 * How a SELECT turns a text column into dates, judged by the column's values.
 *
 * @example dateHint('month', ['1749-01', '1749-02']) // "CAST(strptime(month || '-01', '%Y-%m-%d') AS DATE) AS month in the SELECT."
 */
export const dateHint = (name: string, texts: readonly string[]): string => {
  const column = /^[a-z_]\w*$/i.test(name) ? name : sqlName(name)
  const seen = texts.reduce((bits, text) => bits | dateShape(text.trim()), 0)
  const only = (allowed: number) => texts.length > 0 && (seen & ~(allowed | noDay | timed)) === 0
  const has = (shape: number) => (seen & shape) !== 0
  const mark =
    texts
      .find((text) => /^\d+[-/]/.test(text.trim()))
      ?.trim()
      .match(/[-/]/)?.[0] ?? '-'
  const clock = has(timed) ? ' %H:%M' : ''
  // If one value is not a valid date, the others can still be read.
  const read = has(noDay) ? 'try_strptime' : 'strptime'
  const made = (text: string, format: string) =>
    `CAST(${read}(${text}, '${format}') AS ${has(timed) ? 'TIMESTAMP' : 'DATE'}) AS ${column} in the SELECT`
  const [dayFirst, monthFirst] = [`%d${mark}%m${mark}%Y${clock}`, `%m${mark}%d${mark}%Y${clock}`]
  if (only(dayMonth | monthDay | eitherDay | sameDay)) {
    if (has(dayMonth) === has(monthDay))
      return `${made(column, dayFirst)} where the day comes first, or '${monthFirst}' where the month does.`
    return `${made(column, has(dayMonth) ? dayFirst : monthFirst)}.`
  }
  if (only(yearMonth | season)) return `${made(`${column} || '${mark}01'`, `%Y${mark}%m${mark}%d`)}.`
  if (only(monthYear)) return `${made(`'01${mark}' || ${column}`, dayFirst)}.`
  return `CAST(${column} AS DATE) AS ${column} in the SELECT, or strptime(${column}, '%d.%m.%Y').`
}
