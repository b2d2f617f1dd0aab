import type { AstNode } from './ast/json.js'
import { isColumnRef, isQuery, locationOf, nodeOf, nodesOf, textOf, walk } from './ast/nodes.js'
import type { Token } from './lexer.js'
import type { Translation } from './translation.js'

type Item = { start: number; end: number; text: string }

const ends = new Set('FROM WHERE GROUP HAVING ORDER LIMIT OFFSET UNION INTERSECT EXCEPT QUALIFY WINDOW SAMPLE USING'.split(' '))
const upper = (token: Token | undefined) => (token?.kind === 'word' ? token.text.toUpperCase() : '')
const isSymbol = (token: Token | undefined, text: string) => token?.kind === 'symbol' && text.includes(token.text)

/** `a IS DISTINCT FROM b` holds a FROM that ends no list. */
const endsList = (tokens: Token[], index: number): boolean => ends.has(upper(tokens[index])) && upper(tokens[index - 1]) !== 'DISTINCT'

const behindDistinct = (tokens: Token[], start: number): number => {
  if (upper(tokens[start]) === 'ALL') return start + 1
  if (upper(tokens[start]) !== 'DISTINCT') return start
  if (upper(tokens[start + 1]) !== 'ON') return start + 1
  let depth = 0
  for (let i = start + 2; i < tokens.length; i++) {
    if (isSymbol(tokens[i], '(')) depth++
    if (isSymbol(tokens[i], ')') && --depth === 0) return i + 1
  }
  return tokens.length
}

/** The items of the list behind one SELECT, as they stand in the user's text. */
const itemsAt = (sql: string, tokens: Token[], select: number): Item[] => {
  const items: Item[] = []
  let first = behindDistinct(tokens, select + 1)
  let depth = 0
  const close = (index: number) => {
    const [from, to] = [tokens[first], tokens[index - 1]]
    if (from && to && index > first)
      items.push({ start: from.start, end: to.end, text: sql.slice(from.start, to.end).replace(/\s+/g, ' ') })
    first = index + 1
  }
  let i = first
  for (; i < tokens.length; i++) {
    if (isSymbol(tokens[i], '([{')) depth++
    else if (isSymbol(tokens[i], ')]}') && --depth < 0) break
    else if (depth > 0) continue
    else if (isSymbol(tokens[i], ',')) close(i)
    else if (endsList(tokens, i)) break
  }
  close(i)
  return items
}

const placesOf = (translation: Translation, item: AstNode): number[] => {
  const places: number[] = []
  walk(item, (node) => {
    const location = locationOf(node)
    if (location !== undefined) places.push(translation.userOffset(location))
    return places.length === 0
  })
  return places
}

const holdsStar = (item: AstNode): boolean => {
  let found = false
  walk(item, (node) => {
    if (textOf(node, 'class') === 'STAR') found = true
    return !found && !isQuery(node)
  })
  return found
}

const functionOf = (item: AstNode): string | undefined => {
  const kind = textOf(item, 'class')
  // What the grammar itself turns into a function, such as [1, 2], stands in the schema main.
  if (kind !== 'WINDOW' && (kind !== 'FUNCTION' || item['is_operator'] === true || textOf(item, 'schema') !== '')) return undefined
  const name = textOf(item, 'function_name').toLowerCase()
  return name === 'count_star' ? 'count' : name
}

const longestName = 200

const nameOf = (item: AstNode, text: string | undefined, counts: Map<string, number>): string | undefined => {
  const made = functionOf(item)
  if (made !== undefined) {
    const count = counts.get(made) ?? 0
    counts.set(made, count + 1)
    return `${made}_${count}`
  }
  const value = textOf(item, 'class') === 'CONSTANT' ? nodeOf(item, 'value')?.['value'] : undefined
  if (typeof value === 'string') return value
  return text !== undefined && text.length <= longestName ? text : undefined
}

const keepsItsName = (item: AstNode): boolean =>
  textOf(item, 'alias') !== '' ||
  isColumnRef(item) ||
  textOf(item, 'class') === 'POSITIONAL_REFERENCE' ||
  holdsStar(item) ||
  textOf(item, 'function_name').toLowerCase() === 'unnest'

/** The written items that belong to a list: as many, and each around the place of its expression. */
const writtenFor = (lists: Item[][], places: (number | undefined)[]): Item[] | undefined =>
  lists.findLast(
    (items) =>
      items.length === places.length &&
      places.some((place) => place !== undefined) &&
      items.every((item, i) => {
        const place = places[i]
        return place === undefined || (place >= item.start && place < item.end)
      }),
  )

const nameList = (select: AstNode, lists: Item[][], translation: Translation): void => {
  const list = nodesOf(select, 'select_list')
  if (list.every(keepsItsName)) return
  const written = writtenFor(
    lists,
    list.map((item) => placesOf(translation, item)[0]),
  )
  const counts = new Map<string, number>()
  list.forEach((item, index) => {
    if (keepsItsName(item)) return
    const name = nameOf(item, written?.[index]?.text, counts)
    if (name !== undefined && name !== '') item['alias'] = name
  })
}

/**
 * Gives every item of a SELECT list that has no alias the name that the user expects: a function its name and a number
 * (`count_0`), a text its value, anything else what was written. Done before any rewriting, which would change the names.
 *
 * @example SELECT count(*), a + 1, 'x' FROM t // count_0, a + 1, x
 */
export const nameItems = (tree: AstNode, translation: Translation): void => {
  const { sql, tokens } = translation
  const lists = tokens.flatMap((token, index) =>
    upper(token) === 'SELECT' && tokens[index - 1]?.text !== '.' ? [itemsAt(sql, tokens, index)] : [],
  )
  walk(tree, (node) => {
    if (!isQuery(node) || textOf(node, 'type') !== 'SELECT_NODE') return true
    nameList(node, lists, translation)
    return true
  })
}
