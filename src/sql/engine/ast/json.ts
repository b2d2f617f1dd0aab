import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'

/**
 * A number as its original text: DuckDB's trees hold 2^64-1, 50.0 and 1e400, and JavaScript's numbers cannot hold these exactly.
 */
export class NumberText {
  constructor(readonly text: string) {}
}

export type AstValue = string | boolean | null | NumberText | AstValue[] | AstNode
export type AstNode = { [key: string]: AstValue }

const tooDeep = (): Problem =>
  new Problem(
    'refused_statement',
    'The SQL statement is nested too deeply',
    'The SQL statement is nested too deeply; split it into simpler parts, for example with WITH',
  )

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

const wordAt = /-?(?:Infinity|NaN|[0-9][0-9.eE+-]*)|true|false|null/y

/** Reads character by character: a list of a hundred thousand constants is a tree of 16 MB. */
class Reader {
  private at = 0
  constructor(private readonly text: string) {}

  /** Moves to the next character that is no space, and returns it. */
  private next(): number {
    let code = this.text.charCodeAt(this.at)
    while (code === 0x20 || (code >= 0x09 && code <= 0x0d)) code = this.text.charCodeAt(++this.at)
    return code
  }

  private unexpected(): TypeError {
    return new TypeError(`a syntax tree has an unexpected character at ${this.at}`)
  }

  value(depth: number): AstValue {
    // No user writes statements with deeper trees, and such a tree could exhaust the stack.
    if (depth > limits.sqlTreeMaxDepth) throw tooDeep()
    const code = this.next()
    if (code === openBrace) return this.object(depth)
    if (code === openBracket) return this.array(depth)
    return code === quote ? this.string() : this.word()
  }

  private word(): NumberText | boolean | null {
    wordAt.lastIndex = this.at
    const word = wordAt.exec(this.text)?.[0]
    if (word === undefined) throw this.unexpected()
    this.at = wordAt.lastIndex
    if (word === 'true' || word === 'false') return word === 'true'
    return word === 'null' ? null : new NumberText(word)
  }

  private string(): string {
    const from = this.at
    let end = this.text.indexOf('"', from + 1)
    // A quote after an odd number of backslashes belongs to the text.
    for (; end !== -1; end = this.text.indexOf('"', end + 1)) {
      let before = end
      while (this.text.charCodeAt(before - 1) === backslash) before -= 1
      if ((end - before) % 2 === 0) break
    }
    if (end === -1) throw this.unexpected()
    this.at = end + 1
    const inner = this.text.slice(from + 1, end)
    return inner.includes('\\') ? (JSON.parse(this.text.slice(from, end + 1)) as string) : inner
  }

  private object(depth: number): AstNode {
    const node: AstNode = {}
    this.at += 1
    for (let code = this.next(); code !== closeBrace; code = this.next()) {
      if (code === comma) {
        this.at += 1
        continue
      }
      if (code !== quote) throw this.unexpected()
      const key = this.string()
      if (this.next() !== colon) throw this.unexpected()
      this.at += 1
      node[key] = this.value(depth + 1)
    }
    this.at += 1
    return node
  }

  private array(depth: number): AstValue[] {
    const items: AstValue[] = []
    this.at += 1
    for (let code = this.next(); code !== closeBracket; code = this.next())
      if (code === comma) this.at += 1
      else items.push(this.value(depth + 1))
    this.at += 1
    return items
  }
}

/** Reads a tree that DuckDB wrote. Numbers stay text. */
export const parseAst = (text: string): AstValue => new Reader(text).value(0)

const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/
const quoted = (text: string): string => (needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`)

/** The replacement of a text, which is under a key of its holder. */
export type TextReplacer = (text: string, key: string, holder: AstNode) => string

const asItIs: TextReplacer = (text) => text

/** Writes a tree for DuckDB and replaces its texts. Without replacements it is the inverse of `parseAst`. */
export const printAst = (value: AstValue, respell: TextReplacer = asItIs, key = '', holder: AstNode = {}): string => {
  if (typeof value === 'string') return quoted(respell(value, key, holder))
  if (value instanceof NumberText) return value.text
  if (value === null || typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => printAst(item, respell, key, holder)).join(',')}]`
  // This joins the parts, because one long concatenation would keep a million parts in memory.
  const members: string[] = []
  for (const name in value) members.push(`${quoted(name)}:${printAst(value[name] ?? null, respell, name, value)}`)
  return `{${members.join(',')}}`
}

/** A copy that shares no part with the original. */
export const cloneAst = <T extends AstValue>(value: T): T => {
  if (value === null || typeof value !== 'object' || value instanceof NumberText) return value
  if (Array.isArray(value)) return value.map(cloneAst) as T
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cloneAst(member)])) as T
}
