import type { Token } from './lexer.js'
import { isNameLike, isSymbol, isWord } from './tokens.js'

const clauseWords = new Set(
  (
    'SELECT FROM WHERE GROUP HAVING QUALIFY ORDER LIMIT OFFSET UNION INTERSECT EXCEPT WINDOW USING SET VALUES RETURNING ON BY WITH ' +
    'CASE WHEN THEN ELSE END AND OR NOT IN BETWEEN LIKE ILIKE SIMILAR IS NULL TRUE FALSE DISTINCT AS ASC DESC ALL ANY EXISTS'
  ).split(' '),
)

/** Whether a token is the name of something of the user's. */
export const isName = (token: Token | undefined): boolean =>
  isNameLike(token) && !(token.kind === 'word' && clauseWords.has(token.text.toUpperCase()))

const endsValue = (token: Token | undefined): boolean =>
  isName(token) ||
  isSymbol(token, ')', ']') ||
  isWord(token, 'END', 'TRUE', 'FALSE', 'NULL') ||
  (token !== undefined && ['string', 'number', 'parameter'].includes(token.kind))

/** One expression of a SELECT's list: its tokens from `start` up to `end`, and the name it is given. */
type Item = { start: number; end: number; alias: string | undefined }

/** The name after AS, or after a value with nothing between them. */
const aliasOf = (tokens: readonly Token[], start: number, end: number): string | undefined => {
  const last = tokens[end - 1]
  if (end - start < 2 || !last || !(isName(last) || (last.kind === 'string' && isWord(tokens[end - 2], 'AS')))) return undefined
  return isWord(tokens[end - 2], 'AS') || endsValue(tokens[end - 2]) ? last.value : undefined
}

/** The expressions of every SELECT's list, those of inner queries too. */
const selectItems = (tokens: readonly Token[]): Item[] => {
  const items: Item[] = []
  /** For each open bracket, where the current expression of a SELECT's list began. */
  const begun: (number | undefined)[] = [undefined]
  const close = (end: number): void => {
    const start = begun.at(-1)
    if (start !== undefined && end > start) items.push({ start, end, alias: aliasOf(tokens, start, end) })
  }
  tokens.forEach((token, i) => {
    if (isSymbol(token, '(', '[', '{')) begun.push(undefined)
    else if (isSymbol(token, ')', ']', '}')) {
      close(i)
      begun.pop()
    } else if (isWord(token, 'SELECT')) begun[begun.length - 1] = i + 1
    else if (begun.at(-1) !== undefined && isSymbol(token, ',')) {
      close(i)
      begun[begun.length - 1] = i + 1
    } else if (isWord(token, 'FROM', 'UNION', 'INTERSECT', 'EXCEPT') && !isWord(tokens[i - 1], 'DISTINCT')) {
      close(i)
      begun[begun.length - 1] = undefined
    }
  })
  close(tokens.length)
  return items
}

/** For each token the name of the innermost expression around it that has one. */
export const aliasesAround = (tokens: readonly Token[]): (string | undefined)[] => {
  const begins = new Map(selectItems(tokens).flatMap((item) => (item.alias === undefined ? [] : [[item.start, item]])))
  const around: Item[] = []
  return tokens.map((_, i) => {
    while ((around.at(-1)?.end ?? Infinity) <= i) around.pop()
    const item = begins.get(i)
    if (item) around.push(item)
    return around.at(-1)?.alias
  })
}

const comparisons = new Set('= == <> != < <= > >= + - * / % || -> ->> ~ !~ <=>'.split(' '))

const isOperator = (token: Token | undefined): boolean => token?.kind === 'symbol' && comparisons.has(token.text)

/** The column that a name before this token ends with; nothing where a bracket ends instead. */
const nameBefore = (tokens: readonly Token[], i: number): string | undefined => {
  const before = isWord(tokens[i - 1], 'NOT') ? tokens[i - 2] : tokens[i - 1]
  return isName(before) ? before?.value : undefined
}

/** The column that a name after this token ends with; nothing for a function. */
const nameAfter = (tokens: readonly Token[], i: number): string | undefined => {
  let last = i + 1
  if (!isName(tokens[last])) return undefined
  while (isSymbol(tokens[last + 1], '.') && isName(tokens[last + 2])) last += 2
  return isSymbol(tokens[last + 1], '(') ? undefined : tokens[last]?.value
}

/** For each token the bracket that it stands in, or -1. */
export const openBrackets = (tokens: readonly Token[]): number[] => {
  const open: number[] = []
  return tokens.map((token, i) => {
    if (isSymbol(token, ')')) open.pop()
    const bracket = open.at(-1) ?? -1
    if (isSymbol(token, '(')) open.push(i)
    return bracket
  })
}

/**
 * The column that a constant is compared or counted with: `total` in `total > 100`, `month` in `1 = month`, `x` in
 * `x BETWEEN 1 AND 5` and `x IN (1, 2)`. `start` and `end` are the constant's first token and the one after it, `open` the
 * bracket that it stands in.
 */
export const comparedWith = (tokens: readonly Token[], start: number, end: number, open: number): string | undefined => {
  const before = tokens[start - 1]
  if (isOperator(before)) {
    const found = nameBefore(tokens, start - 1)
    if (found !== undefined) return found
  }
  if (isWord(before, 'LIKE', 'ILIKE', 'BETWEEN')) return nameBefore(tokens, start - 1)
  if (isWord(before, 'AND') && isWord(tokens[start - 3], 'BETWEEN')) return nameBefore(tokens, start - 3)
  if (isOperator(tokens[end])) {
    const found = nameAfter(tokens, end)
    if (found !== undefined) return found
  }
  const isListed = isSymbol(before, '(', ',') && isWord(tokens[open - 1], 'IN')
  return isListed ? nameBefore(tokens, open - 1) : undefined
}
