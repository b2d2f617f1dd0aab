import { limits } from '../../basics/limits.js'
import { isWhole, type DescribedTable } from './describe.js'
import { cutText } from '../../llm/tokens/estimates.js'

const cellMaxChars = 60
const commentMaxChars = 300

const quoted = (comment: string): string => JSON.stringify(cutText(comment, commentMaxChars))

const listed = (what: string, type: string, values: readonly string[]): string =>
  values.length > 0 ? `, ${what}: ${values.map((value) => (isWhole(type) ? value : JSON.stringify(value))).join(', ')}` : ''

const written = new WeakMap<DescribedTable, string>()

/**
 * The description of a table for a language model: a line for each column, and the first rows, each cut to a length. It is written once.
 */
export const tableText = (table: DescribedTable): string => {
  const known = written.get(table)
  if (known !== undefined) return known
  const text = textOf(table)
  written.set(table, text)
  return text
}

const textOf = ({ name, columns, rows, comment: about, problem, late }: DescribedTable): string => {
  const shown = columns.slice(0, limits.agentColumnsShownMax)
  const lines = shown.map(({ name: column, type, values, some_values: some = [], comment }) => {
    return `  ${JSON.stringify(column)} ${type}${listed('values', type, values)}${listed('some values', type, some)}${comment === undefined ? '' : `, comment: ${quoted(comment)}`}`
  })
  const more = columns.length > shown.length ? [`  … and ${columns.length - shown.length} other columns`] : []
  const cells = rows.map(
    (row) =>
      `  ${JSON.stringify(row.slice(0, shown.length).map((cell) => (typeof cell === 'string' ? cutText(cell, cellMaxChars) : cell)))}`,
  )
  const first = cells.length > 0 ? ['first rows:', ...cells.map((line) => cutText(line, 2_000))] : []
  return [
    `table ${name}${about === undefined ? '' : `, comment: ${quoted(about)}`}`,
    ...(late === undefined ? [] : [`  its first rows could not be read (${late}); it can be queried, and a query may take longer`]),
    ...(problem === undefined ? [] : [`  it cannot be read now: ${problem}`]),
    ...lines,
    ...more,
    ...first,
  ].join('\n')
}
