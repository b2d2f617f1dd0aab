import { cutToWidth, padToWidth, textWidth, withoutControls } from './text-width.js'

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const maxCellWidth = 60
/** Columns are not cut below this width to make room for others. */
const minCellWidth = 12
const between = 3

const inOneLine = (text: string): string => withoutControls(text.replace(/\s+/g, ' '))

const lineOf = (cells: readonly string[], widths: readonly number[], glue: string): string =>
  cells
    .map((text, i) => padToWidth(cutToWidth(text, widths[i] ?? 0), widths[i] ?? 0))
    .join(glue)
    .trimEnd()

/** The widths of columns that fit the room; the widest are cut first. Undefined if cells would become too short to be distinguished. */
const fitting = (natural: readonly number[], room: number): number[] | undefined => {
  const widths = [...natural]
  for (let over = widths.reduce((sum, width) => sum + width, between * (widths.length - 1)) - room; over > 0; over--) {
    const widest = Math.max(...widths)
    if (widest <= minCellWidth) return undefined
    widths[widths.indexOf(widest)] = widest - 1
  }
  return widths
}

/** A table with one line per cell, for tables that are too wide. */
export const verticalText = (columns: readonly string[], rows: readonly (readonly unknown[])[]): string[] => {
  const names = columns.map(inOneLine)
  const width = Math.max(0, ...names.map(textWidth))
  return rows.flatMap((row, n) => [
    `-- row ${n + 1}`,
    ...names.map((name, i) => {
      const [first = '', ...more] = cell(row[i]).split('\n').map(withoutControls) // prettier-ignore
      return [`${padToWidth(name, width)} | ${first}`, ...more.map((line) => `${' '.repeat(width)} | ${line}`)].join('\n')
    }),
  ])
}

/**
 * A table as text: `a | b` under its names. If it is wider than the `room`, long cells are cut; if that is not enough, each cell gets
 * a line of its own.
 */
export const tableText = (columns: readonly string[], rows: readonly (readonly unknown[])[], room = Infinity): string[] => {
  const cells = [columns, ...rows.map((row) => row.map(cell))].map((row) => row.map((text) => cutToWidth(inOneLine(text), maxCellWidth)))
  const natural = columns.map((_, i) => cells.reduce((most, row) => Math.max(most, textWidth(row[i] ?? '')), 0))
  const widths = fitting(natural, room)
  if (!widths) return verticalText(columns, rows)
  const [head = [], ...body] = cells.map((row) => lineOf(row, widths, ' | '))
  return [head, widths.map((width) => '-'.repeat(width)).join('-+-'), ...body].map(String)
}
