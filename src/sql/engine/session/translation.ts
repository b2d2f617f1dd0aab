import { Problem } from '../../../basics/errors.js'
import { badStatement, tokenToDuckDB, type Token } from '../../../dialect/lexer.js'
import { offsetOfCharacters } from '../../../dialect/source-location.js'
import { serverVariable } from '../../../dialect/server-variables.js'
import { quoteName, quoteText } from '../../../dialect/strings.js'
import { aliasesBehindAt } from '../../../dialect/client-syntax.js'

/** A part of DuckDB's text, and the part of the user's text that it replaces; `same` says that both have the same letters. */
type Piece = { from: number; length: number; start: number; end: number; same: boolean }

/** The text between two tokens, without comments. DuckDB's time for nested comments grows with the square of their depth. */
const gapOf = (gap: string): string => {
  if (!/--|\/\*/.test(gap)) return gap
  return gap.includes('\n') ? '\n' : ' '
}

/** A statement in DuckDB's spelling with the place of each part in the user's text. */
export class Translation {
  text = ''
  private readonly pieces: Piece[] = []
  private starts: number[] | undefined

  constructor(
    readonly sql: string,
    readonly tokens: Token[],
    spell: (token: Token, index: number) => string,
    after: ReadonlyMap<number, string>,
  ) {
    let at = tokens[0]?.start ?? 0
    const aliases = aliasesBehindAt(tokens)
    const moved = new Set([...aliases.values()].flatMap(({ from, to }) => tokens.slice(from, to)))
    tokens.forEach((token, index) => {
      this.add(gapOf(sql.slice(at, token.start)), at, token.start)
      at = token.end
      const alias = aliases.get(index)
      for (const part of alias ? tokens.slice(alias.from, alias.to) : []) {
        this.add(tokenToDuckDB(part), part.start, part.end)
        this.add(' ', part.end, part.end)
      }
      if (!moved.has(token)) this.add(spell(token, index), token.start, token.end)
      this.add(after.get(index) ?? '', token.end, token.end)
    })
  }

  private add(text: string, start: number, end: number): void {
    if (text === '') return
    this.pieces.push({ from: this.text.length, length: text.length, start, end, same: text === this.sql.slice(start, end) })
    this.text += text
  }

  // DuckDB counts UTF-8 bytes: the byte at which each piece begins is computed once.
  private charAt(bytes: number): number {
    if (this.starts === undefined) {
      const starts: number[] = []
      let offset = 0
      for (const character of this.text) {
        for (let i = Buffer.byteLength(character); i > 0; i--) starts.push(offset)
        offset += character.length
      }
      this.starts = starts
    }
    return this.starts[bytes] ?? this.text.length
  }

  /** The last piece that begins at or before a place. */
  private pieceAt(at: number): number {
    let [low, high] = [0, this.pieces.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.pieces[middle]?.from ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The offset in the user's text of a byte offset in DuckDB's text. */
  userOffset(bytes: number): number {
    return this.offsetOf(this.charAt(bytes))
  }

  /** The same for the number of characters (code points) before a place. */
  userOffsetOfCharacter(characters: number): number {
    return this.offsetOf(offsetOfCharacters(this.text, 0, characters))
  }

  private offsetOf(at: number): number {
    const piece = this.pieces[this.pieceAt(at)]
    if (!piece) return 0
    if (at >= piece.from + piece.length) return piece.end
    return piece.same ? piece.start + (at - piece.from) : piece.start
  }
}

const literal = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
      return quoteText(value)
    case 'number':
      return Number.isFinite(value) ? String(value) : 'NULL'
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'object':
      if (value === null) return 'NULL'
      return Array.isArray(value) ? `[${value.map(literal).join(', ')}]` : quoteText(JSON.stringify(value))
    default:
      throw new Problem('wrong_arguments', 'Wrong arguments', 'A parameter must be a JSON value')
  }
}

const parameterOf = (sql: string, token: Token, count: number, params: Record<string, unknown>): string => {
  const name = token.value === '' ? String(count) : token.value
  if (Object.hasOwn(params, name)) return ` ${literal(params[name])} `
  throw badStatement(sql, token.start, `Parameter is not set: ${name}`, 'Send it with the statement, under "params".')
}

const variableOf = (sql: string, token: Token): string => {
  const value = token.text.startsWith('@@') ? serverVariable(token.value).value : undefined
  if (value !== undefined) return /^\d+$/.test(value) ? value : quoteText(value)
  throw badStatement(sql, token.start, `there is no variable ${token.text}`)
}

/** Whether a number is the third part of `project.model.2`, or the second of `model.2`. */
const isModelVersion = (tokens: Token[], index: number): boolean => {
  const token = tokens[index]
  const dot = tokens[index - 1]
  return token?.kind === 'number' && /^[0-9]+$/.test(token.text) && dot?.text === '.' && dot.end === token.start
}

/**
 * The statement as DuckDB's parser takes it: names and strings in its spelling, parameters and variables as literals, a model's version as
 * a quoted name. `after` holds text to insert behind tokens, `instead` text that replaces tokens.
 *
 * @example translate(sql, tokens, { n: 3 }).text
 */
export const translate = (
  sql: string,
  tokens: Token[],
  params: Record<string, unknown>,
  after: ReadonlyMap<number, string> = new Map(),
  instead: ReadonlyMap<number, string> = new Map(),
): Translation => {
  let positional = 0
  const spell = (token: Token, index: number): string => {
    if (token.kind === 'parameter' && token.value === '') positional++
    const replaced = instead.get(index)
    if (replaced !== undefined) return replaced
    if (token.kind === 'parameter') return parameterOf(sql, token, positional, params)
    if (token.kind === 'variable') return variableOf(sql, token)
    return isModelVersion(tokens, index) ? quoteName(token.text) : tokenToDuckDB(token)
  }
  return new Translation(sql, tokens, spell, after)
}
