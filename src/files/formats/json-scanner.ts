import { limits } from '../../basics/limits.js'

/** One member of an object: its name, and the value as the file has it. */
export type Member = { key: string; kind: 'string' | 'number' | 'boolean' | 'null' | 'nested'; source: string }

/** The result of a scan: an object and the place after it, a reason why it is not an object, or `more` when the text ends within it. */
export type ObjectScan = { members: Member[]; end: number } | { reason: string } | 'more'

class UnfinishedJsonError extends Error {}
class MalformedJsonError extends Error {}

const quote = 0x22
const backslash = 0x5c
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]
const scalar = /[^\s,\]}]*/y
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** The place of the next character that is not white space. */
export const skipSpace = (text: string, from: number): number => {
  let at = from
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

/** Checks a piece with `JSON.parse`, which knows every rule; the result is only used for strings. */
const parsed = (source: string): unknown => {
  try {
    return JSON.parse(source)
  } catch {
    throw new MalformedJsonError('it is not well-formed JSON')
  }
}

/** The value of a JSON string. */
export const stringValue = (source: string): string => {
  if (!source.includes('\\')) return source.slice(1, -1)
  const value = parsed(source)
  return typeof value === 'string' ? value : ''
}

const stringEnd = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash) at += 1
    else if (code === quote) return at + 1
    else if (code < 0x20) throw new MalformedJsonError('a line break or control character stands in a string')
  }
  throw new UnfinishedJsonError()
}

const nestedEnd = (text: string, from: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = stringEnd(text, at) - 1
    else if (code === openBrace || code === openBracket) depth += 1
    else if (code === closeBrace || code === closeBracket) depth -= 1
    else continue
    if (depth > limits.jsonMaxDepth) throw new MalformedJsonError(`it is nested deeper than ${limits.jsonMaxDepth}`)
    if (depth === 0) return at + 1
  }
  throw new UnfinishedJsonError()
}

const scalarKind = (source: string): Member['kind'] => {
  if (source === 'null') return 'null'
  if (source === 'true' || source === 'false') return 'boolean'
  if (jsonNumber.test(source)) return 'number'
  throw new MalformedJsonError(source === '' ? 'a value is missing' : `${source.slice(0, 40)} is not a JSON value`)
}

/** The character at a place; it must exist. */
const characterAt = (text: string, at: number): string => {
  if (at >= text.length) throw new UnfinishedJsonError()
  return text.charAt(at)
}

const scanMember = (text: string, from: number): { member: Member; end: number } => {
  if (characterAt(text, from) !== '"') throw new MalformedJsonError('a name in quotes is expected')
  const keyEnd = stringEnd(text, from)
  const colon = skipSpace(text, keyEnd)
  if (characterAt(text, colon) !== ':') throw new MalformedJsonError('a colon is expected after a name')
  const start = skipSpace(text, colon + 1)
  const key = stringValue(text.slice(from, keyEnd))
  const first = characterAt(text, start)
  if (first === '"' || first === '{' || first === '[') {
    const end = first === '"' ? stringEnd(text, start) : nestedEnd(text, start)
    const source = text.slice(start, end)
    if (first !== '"') parsed(source)
    return { member: { key, kind: first === '"' ? 'string' : 'nested', source }, end }
  }
  scalar.lastIndex = start
  const source = scalar.exec(text)?.[0] ?? ''
  const end = start + source.length
  characterAt(text, end)
  return { member: { key, kind: scalarKind(source), source }, end }
}

const scanMembers = (text: string, from: number): { members: Member[]; end: number } => {
  if (characterAt(text, from) !== '{') throw new MalformedJsonError('an object is expected: { "column": value, … }')
  const members: Member[] = []
  let at = skipSpace(text, from + 1)
  if (characterAt(text, at) === '}') return { members, end: at + 1 }
  for (;;) {
    const { member, end } = scanMember(text, at)
    members.push(member)
    if (members.length > limits.fileMaxColumns) throw new MalformedJsonError(`it has more than ${limits.fileMaxColumns} members`)
    const after = skipSpace(text, end)
    const mark = characterAt(text, after)
    if (mark === '}') return { members, end: after + 1 }
    if (mark !== ',') throw new MalformedJsonError('a comma or } is expected after a value')
    at = skipSpace(text, after + 1)
  }
}

/**
 * Reads the object at a place of a text, one level deep. Values stay as they are written, so that no number is rounded.
 *
 * @example scanObject('{"a": 1.50}', 0) // { members: [{ key: 'a', kind: 'number', source: '1.50' }], end: 11 }
 */
export const scanObject = (text: string, from: number): ObjectScan => {
  try {
    return scanMembers(text, from)
  } catch (error) {
    if (error instanceof UnfinishedJsonError) return 'more'
    if (error instanceof MalformedJsonError) return { reason: error.message }
    throw error
  }
}

/** A nested value without the white space between its parts. */
export const compact = (source: string): string =>
  /\s/.test(source) ? source.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g, (_, text: string | undefined) => text ?? '') : source
