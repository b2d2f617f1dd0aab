import { isObject, type Json, type JsonObject } from '../../../events/common.js'
import { fitsDouble } from '../../basics/exact-json.js'
import { limits } from '../../basics/limits.js'
import type { Token } from '../../dialect/lexer.js'
import type { Cursor } from './cursor.js'
import { takeKeyPath, takeParts } from './names.js'

/** The Python client writes None. */
const constants: Readonly<Record<string, Json>> = { TRUE: true, FALSE: false, NULL: null, NONE: null }

/** A whole number, also in hexadecimal digits, which may have an E. */
const whole = /^0[xX]|^[^.eE]*$/

const takeNumber = (cursor: Cursor, sign: number): number => {
  const token = cursor.next()
  const written = token.value.replaceAll('_', '')
  const value = sign * Number(written)
  // JSON cannot hold other numbers, and the log must not keep rounded ones.
  const isExact = whole.test(written) ? Number.isSafeInteger(value) : fitsDouble(written)
  if (!isExact) cursor.refuse(token, 'the number cannot be kept exactly; write it in quotes')
  return value === 0 ? 0 : value
}

const takeParameter = (cursor: Cursor): Json => {
  const token = cursor.next()
  return structuredClone(cursor.parameterOf(token))
}

const addMember = (cursor: Cursor, object: Map<string, Json>, key: Token, name: string, value: Json): void => {
  if (name === '__proto__') cursor.refuse(key, 'this key is not allowed')
  if (object.has(name)) cursor.refuse(key, 'this key is given twice')
  refuseManyKeys(cursor, key, object.size + 1)
  object.set(name, value)
}

/** A statement has the same limits as a body. */
const refuseManyKeys = (cursor: Cursor, key: Token | undefined, keys: number): void => {
  if (keys > limits.objectMaxKeys)
    cursor.refuse(
      key,
      `this is key ${keys} here; at most ${limits.objectMaxKeys} are taken (objectMaxKeys)`,
      'Give a list of objects instead.',
    )
}

const takeMembers = (cursor: Cursor, depth: number): JsonObject => {
  const object = new Map<string, Json>()
  cursor.needSymbol('{')
  if (cursor.takeSymbol('}')) return {}
  do {
    const key = cursor.peek()
    if (key?.kind !== 'string' && key?.kind !== 'quoted' && key?.kind !== 'word' && key?.kind !== 'backquoted') {
      cursor.expect('a key in quotes')
      cursor.fail()
    }
    cursor.next()
    cursor.needSymbol(':')
    addMember(cursor, object, key, key.value, takeValue(cursor, depth + 1, true))
  } while (cursor.takeSymbol(','))
  cursor.needSymbol('}')
  return Object.fromEntries(object)
}

const takeItems = (cursor: Cursor, depth: number, inObject: boolean): Json[] => {
  const items: Json[] = []
  cursor.needSymbol('[')
  if (cursor.takeSymbol(']')) return items
  do items.push(takeValue(cursor, depth + 1, inObject))
  while (cursor.takeSymbol(','))
  cursor.needSymbol(']')
  return items
}

// `encoder(dims = 3)` is an object with its name as a member.
const takeCall = (cursor: Cursor, depth: number): JsonObject => {
  const type = cursor.next().value
  cursor.needSymbol('(')
  const args = cursor.isSymbol(')') ? {} : takeSettings(cursor, depth + 1)
  cursor.needSymbol(')')
  return { type, args }
}

const takeWordValue = (cursor: Cursor, token: Token, depth: number, inObject: boolean): Json => {
  const constant = token.kind === 'word' && !cursor.isSymbol('.', 1) ? constants[token.text.toUpperCase()] : undefined
  if (constant !== undefined) {
    cursor.next()
    return constant
  }
  if (cursor.isSymbol('(', 1)) return takeCall(cursor, depth)
  if (inObject) cursor.refuse(token, 'a text stands in quotes')
  const text = takeParts(cursor, 8, 'a value').join('.')
  if (cursor.isSymbol('-') || cursor.isSymbol(':') || cursor.isSymbol('/'))
    cursor.refuse(cursor.peek(), 'a text with this character stands in quotes')
  return text
}

/**
 * A value: text in either quotes, a number, true, false, null or None, a `{…}` or `[…]` literal, a bare name (which means its text, except
 * in a `{…}`), `name(key = value)`, or a parameter.
 */
const takeValue = (cursor: Cursor, depth = 0, inObject = false): Json => {
  const token = cursor.peek()
  if (depth >= limits.jsonMaxDepth) cursor.refuse(token, `values are nested deeper than ${limits.jsonMaxDepth} levels`)
  switch (token?.kind) {
    case 'string':
    case 'quoted':
      return cursor.next().value
    case 'number':
      return takeNumber(cursor, 1)
    case 'parameter':
      return takeParameter(cursor)
    case 'word':
    case 'backquoted':
      return takeWordValue(cursor, token, depth, inObject)
    case 'symbol':
      if (token.text === '{') return takeMembers(cursor, depth)
      if (token.text === '[') return takeItems(cursor, depth, inObject)
      if ((token.text === '-' || token.text === '+') && cursor.peek(1)?.kind === 'number') {
        cursor.next()
        return takeNumber(cursor, token.text === '-' ? -1 : 1)
      }
      break
    case 'variable':
    case undefined:
      break
  }
  cursor.expect('a value')
  return cursor.fail()
}

/** A constant in a condition: a text, a number, true, false or null. */
export const takeConstant = (cursor: Cursor): Json => takeValue(cursor)

/** Puts a value under a dotted key: `a.b` is the member b of the object a. */
const put = (cursor: Cursor, object: JsonObject, key: Token, path: readonly string[], value: Json): void => {
  const [name = '', ...rest] = path
  if (name === '__proto__') cursor.refuse(key, 'this key is not allowed')
  const present = Object.hasOwn(object, name) ? object[name] : undefined
  if (rest.length > 0 && (present === undefined || isObject(present))) {
    const inner = present ?? {}
    object[name] = inner
    put(cursor, inner, key, rest, value)
    return
  }
  if (present !== undefined) cursor.refuse(key, 'this key is given twice')
  object[name] = value
}

const settingFollows = (cursor: Cursor): boolean => {
  const kind = cursor.peek()?.kind
  return (kind === 'word' || kind === 'backquoted' || kind === 'quoted') && (cursor.isSymbol('=', 1) || cursor.isSymbol('.', 1))
}

/**
 * `key = value, …`: keys become lower case, and dotted keys make nested objects. A comma may be missing where the next key is clear.
 *
 * @example takeSettings(cursor) // at Model = 'm', `a`.b = 1: { model: 'm', a: { b: 1 } }
 */
export const takeSettings = (cursor: Cursor, depth = 0): JsonObject => {
  const settings: JsonObject = {}
  let keys = 0
  do {
    const key = cursor.peek()
    refuseManyKeys(cursor, key, ++keys)
    const path = takeKeyPath(cursor).map((part) => part.toLowerCase())
    cursor.needSymbol('=')
    if (key) put(cursor, settings, key, path, takeValue(cursor, depth))
  } while (cursor.takeSymbol(',') || settingFollows(cursor))
  return settings
}

/** A `{…}` literal and nothing else. */
export const takeObject = (cursor: Cursor): JsonObject => {
  if (cursor.isSymbol('{')) return takeMembers(cursor, 0)
  const token = cursor.peek()
  const value = token?.kind === 'parameter' ? takeParameter(cursor) : undefined
  if (isObject(value)) return value
  cursor.expect('{…}')
  return cursor.fail()
}

/** A text in either quotes, or a bare word that means its text. */
export const takeText = (cursor: Cursor, what: string): string => {
  const token = cursor.peek()
  if (token?.kind === 'string' || token?.kind === 'quoted' || token?.kind === 'word' || token?.kind === 'backquoted')
    return cursor.next().value
  cursor.expect(what)
  return cursor.fail()
}

/** A whole number that is not negative. */
export const takeWhole = (cursor: Cursor, what: string): number => {
  const token = cursor.peek()
  if (token?.kind !== 'number' || !/^[0-9]+$/.test(token.text)) {
    cursor.expect(what)
    return cursor.fail()
  }
  return takeNumber(cursor, 1)
}
