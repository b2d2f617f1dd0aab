import { Problem } from '../../errors.js'
import { limits } from '../../limits.js'

/**
 * A number as the text it was written in: DuckDB's trees hold 2^64-1, 50.0 and 1e400, which JavaScript's numbers do not keep.
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

const tokenAt = /\s*(?:("(?:[^"\\]|\\.)*")|([{}[\],:])|(-?(?:Infinity|NaN|[0-9][0-9.eE+-]*)|true|false|null))/y

class Reader {
  private at = 0
  constructor(private readonly text: string) {}

  private token(): string {
    tokenAt.lastIndex = this.at
    const found = tokenAt.exec(this.text)
    if (!found) throw new TypeError(`a syntax tree has an unexpected character at ${this.at}`)
    this.at = tokenAt.lastIndex
    return found[1] ?? found[2] ?? found[3] ?? ''
  }

  value(depth: number, first = this.token()): AstValue {
    // Deeper trees come from statements that nobody writes, and could exhaust a stack.
    if (depth > limits.sqlTreeMaxDepth) throw tooDeep()
    if (first === '{') return this.object(depth)
    if (first === '[') return this.array(depth)
    if (first.startsWith('"')) return JSON.parse(first) as string
    if (first === 'true' || first === 'false') return first === 'true'
    return first === 'null' ? null : new NumberText(first)
  }

  private object(depth: number): AstNode {
    const node: AstNode = {}
    for (let token = this.token(); token !== '}'; token = this.token()) {
      if (token === ',') continue
      const key = JSON.parse(token) as string
      this.token()
      node[key] = this.value(depth + 1)
    }
    return node
  }

  private array(depth: number): AstValue[] {
    const items: AstValue[] = []
    for (let token = this.token(); token !== ']'; token = this.token()) if (token !== ',') items.push(this.value(depth + 1, token))
    return items
  }
}

/** Reads a tree that DuckDB wrote. Numbers stay text. */
export const parseAst = (text: string): AstValue => new Reader(text).value(0)

/** Writes a tree for DuckDB; the inverse of `parseAst`. */
export const printAst = (value: AstValue): string => {
  if (value instanceof NumberText) return value.text
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(printAst).join(',')}]`
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${printAst(member)}`)
    .join(',')}}`
}

/** A copy that shares nothing with the original. */
export const cloneAst = <T extends AstValue>(value: T): T => {
  if (value === null || typeof value !== 'object' || value instanceof NumberText) return value
  if (Array.isArray(value)) return value.map(cloneAst) as T
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cloneAst(member)])) as T
}
