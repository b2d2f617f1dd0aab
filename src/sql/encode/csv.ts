import type { Json } from '../../../events/common.js'
import { csvStyle } from './styles.js'
import { TextBytes } from './text-bytes.js'

const writeText = (out: TextBytes, text: string): void => {
  const bytes = Buffer.from(text)
  csvStyle.text(out, bytes, 0, bytes.length)
}

const writeLine = (out: TextBytes, cells: readonly Json[]): void => {
  cells.forEach((cell, i) => {
    if (i > 0) out.ascii(',')
    if (typeof cell === 'string') writeText(out, cell)
    else if (cell !== null) writeText(out, JSON.stringify(cell))
  })
  out.ascii('\r\n')
}

/** The first line of an answer: the names of its columns. */
export const csvHeader = (columns: readonly { name: string }[]): string => {
  const out = new TextBytes()
  writeLine(
    out,
    columns.map(({ name }) => name),
  )
  return out.written().toString()
}

/** Converts rows in memory from JSON to lines of CSV. */
export const csvOfJson = (chunk: Buffer): Buffer => {
  const out = new TextBytes(chunk.length)
  for (const row of JSON.parse(`[${chunk.toString()}]`) as Json[][]) writeLine(out, row)
  return out.written()
}
