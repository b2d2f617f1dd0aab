import { scanObject } from '../files/formats/json-scanner.js'
import { ServiceError } from './client.js'

/** One token of a JSON text: a value, a separator or a bracket. The text is known to be well-formed. */
const parts = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g

/** The rows of a list of lists, each cell as its original text. */
function* cellsOf(list: string): Generator<string[]> {
  let depth = 0
  let row: string[] = []
  let start = 0
  for (const { 0: part, index } of list.matchAll(parts)) {
    const isOpening = part === '[' || part === '{'
    const isClosing = part === ']' || part === '}'
    if (isOpening) depth += 1
    if (isOpening && depth === 2) {
      row = []
      start = index + 1
    }
    if (depth === 2 && (part === ',' || isClosing)) {
      const cell = list.slice(start, index).trim()
      if (cell !== '') row.push(cell)
      start = index + 1
    }
    if (isClosing && depth === 2) yield row
    if (isClosing) depth -= 1
  }
}

/**
 * The rows of an SQL answer, each cell as its original text: `1.0` differs from `1`, and large numbers are not rounded.
 *
 * @example
 * [...exactRows('{"type": "table", "column_names": ["n"], "data": [[9007199254740993], [1.0]]}')] // [['9007199254740993'], ['1.0']]
 * @param text an answer that was parsed before
 * @throws ServiceError
 */
export const exactRows = (text: string): Iterable<string[]> => {
  const scanned = scanObject(text.trimStart(), 0)
  const members = scanned !== 'more' && 'members' in scanned ? scanned.members : []
  const data = members.findLast(({ key }) => key === 'data')?.source
  if (data === undefined) throw new ServiceError('its answer has no rows that can be read')
  return cellsOf(data)
}
