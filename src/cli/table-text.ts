const cell = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const maxCellChars = 60
const cut = (text: string) => (text.length > maxCellChars ? `${text.slice(0, maxCellChars - 1)}…` : text).replace(/\s+/g, ' ')

/** A table as text: `| a | b |` under its names. */
export const tableText = (columns: readonly string[], rows: readonly (readonly unknown[])[]): string[] => {
  const cells = [columns, ...rows.map((row) => row.map(cell))].map((row) => row.map(cut))
  const widths = columns.map((_, i) => cells.reduce((most, row) => Math.max(most, (row[i] ?? '').length), 0))
  const line = (row: readonly string[]) =>
    row
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join(' | ')
      .trimEnd()
  const [head = [], ...body] = cells
  return [line(head), widths.map((width) => '-'.repeat(width)).join('-+-'), ...body.map(line)]
}
