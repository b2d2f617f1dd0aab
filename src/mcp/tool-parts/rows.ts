import type { Json } from '../../../events/common.js'
import { exactJson } from '../../basics/exact-json.js'

const quote = 0x22
const backslash = 0x5c
const [open, close] = [0x5b, 0x5d]
const [openBrace, closeBrace] = [0x7b, 0x7d]

/** The end of a text that begins at `at`, after its closing quote; -1 if it does not end here. */
const endOfText = (bytes: Buffer, at: number): number => {
  for (let i = at + 1; i < bytes.length; i++) {
    if (bytes[i] === backslash) i += 1
    else if (bytes[i] === quote) return i
  }
  return -1
}

/** The places of the rows in a chunk of comma-joined JSON arrays. */
function* rowsIn(chunk: Buffer): Generator<{ from: number; to: number }> {
  let [depth, from] = [0, 0]
  for (let i = 0; i < chunk.length; i++) {
    const byte = chunk[i]
    if (byte === quote) {
      i = endOfText(chunk, i)
      if (i < 0) return
    } else if (byte === open || byte === openBrace) {
      if (depth === 0) from = i
      depth += 1
    } else if (byte === close || byte === closeBrace) {
      depth -= 1
      if (depth === 0) yield { from, to: i + 1 }
    }
  }
}

/** Rows as values, and whether there were more. */
export type FirstRows = { rows: Json[][]; isCut: boolean }

/** The limits for the rows of an answer. With `toEnd` the other rows are also read, and dropped. */
type RowBudget = { rows: number; bytes: number; toEnd?: boolean }

/**
 * The first rows of an answer in chunks of JSON, up to a number of rows and of bytes. The other rows are not read, which ends the query.
 * Whole numbers that JavaScript would round are texts.
 *
 * @example const { rows, isCut } = await firstRows(answer.rows, { rows: 100, bytes: 65_536 })
 */
export const firstRows = async (chunks: AsyncIterable<Buffer>, wanted: RowBudget): Promise<FirstRows> => {
  const rows: Json[][] = []
  let bytes = 0
  let isCut = false
  for await (const chunk of chunks) {
    if (isCut) continue
    for (const { from, to } of rowsIn(chunk)) {
      bytes += to - from
      isCut = rows.length === wanted.rows || bytes > wanted.bytes
      if (isCut) break
      rows.push(exactJson(chunk.toString('utf8', from, to)) as Json[])
    }
    if (isCut && wanted.toEnd !== true) break
  }
  return { rows, isCut }
}
