import type { Column } from '../../../api/sql.js'
import type { ColumnSummary } from '../../../components/summary.js'
import { isNumeric, isTime } from '../../../components/value.js'

/** The kinds of charts. */
export const pictureKinds = ['line', 'bar', 'dots', 'histogram'] as const
export type Picture = { kind: (typeof pictureKinds)[number]; x: string; y: string; by: string }

/** The most colours that are easy to distinguish. */
const coloursMax = 12

/** Columns with few enough values for one colour each. */
export const colourable = (summaries: readonly ColumnSummary[]): string[] =>
  summaries.filter(({ distinct, isDistinctMore }) => distinct <= coloursMax && !isDistinctMore).map(({ column }) => column.name)

/** The best kind of chart for the columns: a line over time, bars by name, dots of two numbers, or the distribution of one number. */
export const proposedPicture = (columns: readonly Column[], coloured: readonly string[]): Picture | undefined => {
  const bounds = /_(?:min|max|confidence|anomaly|original)$/
  const numbers = columns.filter(({ name, type }) => isNumeric(type) && !bounds.test(name)).map(({ name }) => name)
  const times = columns.filter(({ type }) => isTime(type)).map(({ name }) => name)
  const names = columns.filter(({ type }) => /^(?:VARCHAR|ENUM|BOOLEAN)/.test(type)).map(({ name }) => name)
  const series = names.find((name) => coloured.includes(name)) ?? ''
  const [first, second] = numbers
  if (first === undefined) return undefined
  if (times[0] !== undefined) return { kind: 'line', x: times[0], y: first, by: series }
  if (second !== undefined) return { kind: 'dots', x: first, y: second, by: series }
  if (names[0] !== undefined) return { kind: 'bar', x: names[0], y: first, by: '' }
  return { kind: 'histogram', x: first, y: first, by: '' }
}
