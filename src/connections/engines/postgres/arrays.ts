import type { Items } from '../../batch/lists.js'
import { ValueError } from '../../batch/value-error.js'

const withoutBounds = (text: string): string => (text.startsWith('[') ? text.slice(text.indexOf('=') + 1) : text)

/** How many dimensions an array has; an empty one has none. `depthOf('{{1,2}}')` → 2 */
export const depthOf = (text: string): number => {
  const body = withoutBounds(text)
  if (body === '{}') return 0
  let depth = 0
  while (body[depth] === '{') depth++
  return depth
}

/**
 * Reads an array as PostgreSQL writes it.
 *
 * @example parseArray('[0:1]={1,NULL}', ',') // ['1', null]
 * @throws ValueError for texts that are not arrays
 */
export const parseArray = (given: string, delimiter: string): Items => {
  const text = withoutBounds(given)
  let at = 0
  const quoted = (): string => {
    let item = ''
    for (at++; at < text.length && text[at] !== '"'; at++) {
      if (text[at] === '\\') at++
      item += text[at] ?? ''
    }
    at++
    return item
  }
  const bare = (): string | null => {
    const from = at
    while (at < text.length && text[at] !== delimiter && text[at] !== '}') at++
    const item = text.slice(from, at)
    return item.toUpperCase() === 'NULL' ? null : item
  }
  const list = (): Items => {
    const items: Items = []
    at++
    if (text[at] === '}') {
      at++
      return items
    }
    while (at < text.length) {
      items.push(text[at] === '{' ? list() : text[at] === '"' ? quoted() : bare())
      const sign = text[at++]
      if (sign === '}') return items
      if (sign !== delimiter) break
    }
    throw new ValueError('an array comes in a form that is not known')
  }
  if (text[0] !== '{') throw new ValueError('an array comes in a form that is not known')
  return list()
}

/** The items of all dimensions. */
export const flat = (items: Items): (string | null)[] =>
  items.flatMap((item) => (item === null || typeof item === 'string' ? [item] : flat(item)))
