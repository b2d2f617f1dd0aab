import { limits } from '../../basics/limits.js'
import type { Token } from '../../dialect/lexer.js'
import { isNameLike } from '../../dialect/tokens.js'
import type { Cursor } from './cursor.js'
import type { ModelName, Name, TableName } from './statement.js'

/** Words that begin a clause. If one of them is in the place of a name, the user forgot the name. */
const clauseWords = new Set(['USING', 'FROM', 'SELECT', 'WHERE', 'SET', 'PREDICT', 'WITH'])

type NameToken = Token & { kind: 'backquoted' | 'quoted' | 'word' }

/** Whether a token may be a name at a place where a clause could also begin. */
const isUnreservedName = (token: Token | undefined): token is NameToken =>
  isNameLike(token) && !(token.kind === 'word' && clauseWords.has(token.text.toUpperCase()))

/** Whether a name begins at this place. */
export const nameFollows = (cursor: Cursor, ahead = 0): boolean => isUnreservedName(cursor.peek(ahead))

const isDigits = (text: string): boolean => /^[0-9]+$/.test(text)

// After a space, `.2` in `m .2` may be one number token that begins with the dot.
const takeGluedPart = (cursor: Cursor): string | undefined => {
  const token = cursor.peek()
  if (token?.kind !== 'number' || !/^\.[0-9]+$/.test(token.text)) return undefined
  cursor.next()
  return token.text.slice(1)
}

const takePartAfterDot = (cursor: Cursor): string => {
  const token = cursor.peek()
  // After a dot any word is a name, because nothing else is possible there.
  const fits = isNameLike(token) || (token?.kind === 'number' && isDigits(token.text))
  if (!fits || token.value === '') {
    cursor.expect('a name')
    cursor.fail()
  }
  cursor.next()
  return token.value
}

/** One name without a dot. */
export const takePart = (cursor: Cursor, what = 'a name'): string => {
  const token = cursor.peek()
  if (!isUnreservedName(token) || token.value === '') {
    cursor.expect(what)
    cursor.fail()
  }
  cursor.next()
  return token.value
}

/**
 * A name of one or more parts, in any quotes. Refuses more parts than the statement can use.
 *
 * @example takeParts(cursor, 3) // at `shop`.Rent.2: ['shop', 'Rent', '2']
 */
export const takeParts = (cursor: Cursor, most: number, what = 'a name'): string[] => {
  const parts = [takePart(cursor, what)]
  for (;;) {
    const dot = cursor.peek()
    const glued = takeGluedPart(cursor)
    if (glued === undefined && !cursor.isSymbol('.')) return parts
    if (glued === undefined) cursor.next()
    parts.push(glued ?? takePartAfterDot(cursor))
    if (parts.length > most) cursor.refuse(dot, `a name has at most ${most} ${most === 1 ? 'part' : 'parts'} here`)
  }
}

/** The dotted key of a setting. Any word is a name here, because `=` follows. */
export const takeKeyPath = (cursor: Cursor): string[] => {
  const token = cursor.peek()
  if (token?.kind !== 'word' || !(cursor.isSymbol('=', 1) || cursor.isSymbol('.', 1))) return takeParts(cursor, 8, 'key = value')
  cursor.next()
  const path = [token.value]
  while (cursor.isSymbol('.')) {
    const dot = cursor.next()
    path.push(takePartAfterDot(cursor))
    if (path.length > limits.jsonMaxDepth) cursor.refuse(dot, `a key has at most ${limits.jsonMaxDepth} parts`)
  }
  return path
}

const lastOf = (parts: readonly string[]): string => parts.at(-1) ?? ''

/** `[project.]name` */
export const takeName = (cursor: Cursor, what = 'a name'): Name => {
  const parts = takeParts(cursor, 2, what)
  return { project: parts.length === 2 ? (parts[0] ?? null) : null, name: lastOf(parts) }
}

/** `[database.]table` */
export const takeTable = (cursor: Cursor): TableName => {
  const parts = takeParts(cursor, 2, 'a table')
  return { database: parts.length === 2 ? (parts[0] ?? null) : null, name: lastOf(parts) }
}

/** `[project.]model[.version]`: digits after a dot are a version, in quotes or not. */
export const takeModel = (cursor: Cursor): ModelName => {
  const start = cursor.peek()
  const parts = takeParts(cursor, 3, 'a model')
  const versioned = parts.length > 1 && isDigits(lastOf(parts))
  const version = versioned ? Number(parts.pop()) : null
  if (version === 0 || (version !== null && !Number.isSafeInteger(version))) cursor.refuse(start, 'a version is a whole number from 1')
  if (parts.length > 2) cursor.refuse(start, 'the third part of a model is its version, a number')
  return { project: parts.length === 2 ? (parts[0] ?? null) : null, name: lastOf(parts), version }
}

/** A list of names with commas between them. */
export const takeNames = (cursor: Cursor, what = 'a name'): string[] => {
  const names = [takePart(cursor, what)]
  while (cursor.takeSymbol(',')) names.push(takePart(cursor, what))
  return names
}

/** Takes IF NOT EXISTS if it follows. */
export const takeIfNotExists = (cursor: Cursor): boolean => cursor.takeWords('IF', 'NOT', 'EXISTS')

/** Takes IF EXISTS if it follows. */
export const takeIfExists = (cursor: Cursor): boolean => cursor.takeWords('IF', 'EXISTS')
