/** Room: tokens, names, strings and secrets in SQL text, for both processes. It imports only events, basics and vault. */

import { illFormed } from '../../events/common.js'
import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { badStatement, sourceLocationOf } from './source-location.js'
import { quoteName, quoteText, unescapeText } from './strings.js'

export { badStatement, sourceLocationOf }
export type { SourceLocation } from './source-location.js'

/**
 * `quoted` is in double quotes: a name or a string, depending on its place. `variable` is `@x` or `@@x`; `parameter` is `:x`, `$x` or `?`.
 */
export type TokenKind = 'word' | 'quoted' | 'backquoted' | 'string' | 'number' | 'symbol' | 'parameter' | 'variable'

/** `text` is the source, `value` its meaning (without quotes and escapes); `start` and `end` are offsets in UTF-16 units. */
export type Token = { kind: TokenKind; text: string; value: string; start: number; end: number }

// DuckDB's white space beyond ASCII. Every other character there is a letter of a name.
const spaces = '\\u00a0\\u2000-\\u200b\\u202f\\u205f\\u2060\\u3000\\ufeff'
const letter = `(?:[A-Za-z_]|(?![${spaces}])[\\u0080-\\uffff])`
const nameStart = new RegExp(letter)
const wordAt = new RegExp(`(?:[$0-9]|${letter})+`, 'y')
const spaceAt = new RegExp(`[ \\t\\n\\v\\f\\r${spaces}]+`, 'y')
// A number in all forms of DuckDB: 0xff, 1_000, 1.5, .5, 1e-3.
const numberAt =
  /0[xX][0-9a-fA-F_]+|0[bB][01_]+(?![0-9])|0[oO][0-7_]+(?![0-9])|(?:[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?/y
const digitsAt = /[0-9]+/y
const dollarTagAt = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z_0-9\u0080-\uffff]*)?\$/y
const operators =
  /!~~\*|->>|<=>|<->|<#>|!~~|~~\*|!~\*|::|:=|=>|->|<=|>=|<>|!=|==|\|\||<<|>>|~~|!~|~\*|<@(?![A-Za-z_])|@>|&&|\*\*|\/\/|\^@|./suy

/** The text that a sticky expression matches at a place, or an empty text. */
const matchAt = (expression: RegExp, sql: string, at: number): string => {
  expression.lastIndex = at
  return expression.test(sql) ? sql.slice(at, expression.lastIndex) : ''
}

const tooManyTokens = () =>
  new Problem(
    'bad_statement',
    'The SQL statement is too long',
    `The SQL statement has more than ${limits.statementMaxTokens} words, numbers, texts and signs (statementMaxTokens)`,
    { hint: 'Upload long lists of values as a file (PUT /api/files/<name>), and name it in the statement.' },
  )

const endsValue = (token: Token | undefined): boolean =>
  token !== undefined && (token.kind !== 'symbol' || token.text === ')' || token.text === ']')

class Scanner {
  readonly tokens: Token[] = []
  readonly brackets: string[] = []
  at = 0

  constructor(readonly sql: string) {}

  add(kind: TokenKind, end: number, value?: string): void {
    if (this.tokens.length >= limits.statementMaxTokens) throw tooManyTokens()
    const text = this.sql.slice(this.at, end)
    const token = { kind, text, value: value ?? text, start: this.at, end }
    // Without escapes, a text has only characters of its source.
    const reason = value !== undefined && text.includes('\\') ? illFormed(value) : undefined
    if (reason !== undefined) throw badStatement(this.sql, this.at, `the text ${reason}`)
    this.tokens.push(token)
    this.at = end
  }

  get last(): Token | undefined {
    return this.tokens.at(-1)
  }

  /** Whether the last token ends directly before this place and ends a name. A dot then qualifies the name. */
  get touchesName(): boolean {
    const last = this.last
    return (
      last !== undefined &&
      last.end === this.at &&
      (last.kind === 'word' || last.kind === 'quoted' || last.kind === 'backquoted' || this.isVersion(last))
    )
  }

  private isVersion(token: Token): boolean {
    return token.kind === 'number' && this.tokens.at(-2)?.text === '.' && this.tokens.at(-2)?.end === token.start
  }

  /** Skips white space and comments; block comments nest. */
  skipBlanks(): void {
    for (;;) {
      const here = this.sql.charCodeAt(this.at)
      if (here > 0x2f && here < 0x80) return
      this.at += matchAt(spaceAt, this.sql, this.at).length
      if (this.sql.startsWith('--', this.at)) {
        const end = this.sql.indexOf('\n', this.at)
        this.at = end === -1 ? this.sql.length : end
      } else if (this.sql.startsWith('/*', this.at)) this.at = this.endOfComment()
      else return
    }
  }

  private endOfComment(): number {
    const marks = /\/\*|\*\//g
    marks.lastIndex = this.at
    let depth = 0
    for (let mark = marks.exec(this.sql); mark; mark = marks.exec(this.sql)) {
      depth += mark[0] === '/*' ? 1 : -1
      if (depth === 0) return marks.lastIndex
    }
    throw badStatement(this.sql, this.at, 'a comment begins here and never ends', 'Close it with */.')
  }

  /** The end of a text in quotes: after the quote that is neither doubled nor after a backslash. */
  quotedEnd(quote: string, open: number, backslashes: boolean): number {
    for (let i = open + 1; i < this.sql.length; i++) {
      const here = this.sql[i]
      if (here === '\\' && backslashes) i++
      else if (here === quote) {
        if (this.sql[i + 1] !== quote) return i + 1
        i++
      }
    }
    const hint =
      this.sql.includes(`\\${quote}`) && backslashes
        ? `A backslash escapes the quote after it: write \\\\ for a backslash. A statement of a connected database can stand between $$ and $$.`
        : `Close it with ${quote}.`
    throw badStatement(this.sql, this.at, `a text begins here with ${quote} and never ends`, hint)
  }

  /** In `LIKE 'a|b' ESCAPE '…'` the last text is one character, and may be a backslash alone. */
  private get isEscapeMark(): boolean {
    return this.sql.startsWith("'\\'", this.at) && this.sql[this.at + 3] !== "'" && /^escape$/i.test(this.last?.text ?? '')
  }

  string(prefix: number): void {
    const open = this.at + prefix
    const escapes = prefix === 0 ? !this.isEscapeMark : /[eE]/.test(this.sql.charAt(this.at))
    const end = this.quotedEnd("'", open, escapes)
    this.add('string', end, unescapeText(this.sql.slice(open + 1, end - 1), "'"))
  }

  quoted(): void {
    const end = this.quotedEnd('"', this.at, true)
    this.add('quoted', end, unescapeText(this.sql.slice(this.at + 1, end - 1), '"'))
  }

  backquoted(): void {
    const end = this.quotedEnd('`', this.at, false)
    this.add('backquoted', end, this.sql.slice(this.at + 1, end - 1).replaceAll('``', '`'))
  }

  dollar(): void {
    const tag = matchAt(dollarTagAt, this.sql, this.at)
    if (tag === '') {
      if (matchAt(wordAt, this.sql, this.at + 1) === '') this.symbol()
      else this.marked('parameter', 1)
      return
    }
    const close = this.sql.indexOf(tag, this.at + tag.length)
    if (close === -1) throw badStatement(this.sql, this.at, `a text begins here with ${tag} and never ends`, `Close it with ${tag}.`)
    this.add('string', close + tag.length, this.sql.slice(this.at + tag.length, close))
  }

  /** In `p.m.2`, 2 is a version of a model, and `2024_sales` is a name: digits after a qualifying dot are no fraction. */
  number(): void {
    const afterDot = this.last?.text === '.' && this.last.end === this.at && endsValue(this.tokens.at(-2))
    const text = matchAt(afterDot ? digitsAt : numberAt, this.sql, this.at)
    const word = matchAt(wordAt, this.sql, this.at)
    const isName = word.length > text.length && !text.includes('.')
    this.add(isName ? 'word' : 'number', this.at + (isName ? word : text).length)
  }

  variable(): void {
    const at = this.sql.startsWith('@@', this.at) ? 2 : 1
    let end = this.at + at
    end += matchAt(wordAt, this.sql, end).length
    while (this.sql[end] === '.' && nameStart.test(this.sql.charAt(end + 1))) end += 1 + matchAt(wordAt, this.sql, end + 1).length
    this.add('variable', end, this.sql.slice(this.at + at, end))
  }

  /** In `{'a':b}` and `[x:y]` a colon separates two values; elsewhere `:b` is a parameter. */
  get partsValues(): boolean {
    const bracket = this.brackets.at(-1)
    return (bracket === '{' || bracket === '[') && endsValue(this.last)
  }

  symbol(): void {
    const text = matchAt(operators, this.sql, this.at)
    if (text === '(' || text === '[' || text === '{') this.brackets.push(text)
    if (text === ')' || text === ']' || text === '}') this.brackets.pop()
    this.add('symbol', this.at + text.length)
  }

  /** A name after a mark such as `@` or `:`. */
  marked(kind: TokenKind, mark: number): void {
    const name = matchAt(wordAt, this.sql, this.at + mark)
    this.add(kind, this.at + mark + name.length, name)
  }

  next(): void {
    const here = this.sql.charAt(this.at)
    const after = this.sql.charAt(this.at + 1)
    if (here === "'") this.string(0)
    else if (after === "'" && /[eExXbB]/.test(here)) this.string(1)
    else if (here === '"') this.quoted()
    else if (here === '`') this.backquoted()
    else if (here === '$') this.dollar()
    else if (nameStart.test(here)) this.marked('word', 0)
    else if (/[0-9]/.test(here) || (here === '.' && /[0-9]/.test(after) && !this.touchesName)) this.number()
    else if (here === '@' && /@?[A-Za-z_]/y.test(this.sql.slice(this.at + 1, this.at + 3))) this.variable()
    else if (here === '?') this.add('parameter', this.at + 1, '')
    else if (here === ':' && nameStart.test(after) && !this.partsValues) this.marked('parameter', 1)
    else this.symbol()
  }
}

const checkText = (sql: string): void => {
  if (sql.length > limits.statementMaxChars)
    throw new Problem(
      'bad_statement',
      'The SQL statement is too long',
      `The SQL statement has ${sql.length} characters; at most ${limits.statementMaxChars} are taken (statementMaxChars)`,
    )
  const reason = illFormed(sql)
  if (reason !== undefined) throw new Problem('bad_statement', 'The SQL statement cannot be parsed', `The SQL statement ${reason}`)
}

/**
 * Cuts a statement into tokens, without comments and white space. Strings can have both escapes, `''` and `\'`, with MySQL's meanings of a
 * backslash. Names are in back-quotes or double quotes. Throws a `bad_statement` Problem with line, column and caret for a text without an
 * end.
 *
 * @example lex('SELECT `a` FROM t').map(({ kind }) => kind) // ['word', 'backquoted', 'word', 'word']
 */
export const lex = (sql: string): Token[] => {
  checkText(sql)
  const scanner = new Scanner(sql)
  scanner.skipBlanks()
  while (scanner.at < sql.length) {
    scanner.next()
    scanner.skipBlanks()
  }
  return scanner.tokens
}

/**
 * The tokens of a text that may be no statement at all; undefined if it cannot be cut into tokens.
 *
 * @example tokensIn("SELECT 'never ends") // undefined
 */
export const tokensIn = (text: string): Token[] | undefined => {
  try {
    return lex(text)
  } catch {
    return undefined
  }
}

/**
 * The tokens of a statement of a connected database: as they are read here, and as they are where a backslash is an ordinary character.
 * Empty if neither reading has an end.
 *
 * @example foreignTokens(String.raw`SELECT '\'`).length // 1
 */
export const foreignTokens = (text: string): Token[][] =>
  (text.includes('\\') ? [text, text.replaceAll('\\', ' ')] : [text]).flatMap((reading) => {
    const tokens = tokensIn(reading)
    return tokens ? [tokens] : []
  })

const isEnd = (token: Token) => token.kind === 'symbol' && token.text === ';'

/**
 * The tokens of the one statement in a text, without the semicolons around it. A text without a statement or with several is refused. With
 * the source, the refusal shows the place of the second statement.
 *
 * @example splitSingle(lex('SELECT 1;')).length // 2
 */
export const splitSingle = (tokens: Token[], sql?: string): Token[] => {
  const first = tokens.findIndex((token) => !isEnd(token))
  if (first === -1)
    throw new Problem('bad_statement', 'The SQL statement cannot be parsed', 'The SQL statement cannot be parsed: it is empty')
  const rest = tokens.slice(first)
  const end = rest.findIndex(isEnd)
  const second = end === -1 ? undefined : rest.slice(end).find((token) => !isEnd(token))
  if (second === undefined) return end === -1 ? rest : rest.slice(0, end)
  const reason = 'only one statement is taken at a time, and a second one begins here'
  const hint = 'Send each statement in a request of its own.'
  if (sql !== undefined) throw badStatement(sql, second.start, reason, hint)
  throw new Problem(
    'bad_statement',
    'The SQL statement cannot be parsed',
    `The SQL statement cannot be parsed: ${reason} (character ${second.start + 1})`,
    { hint },
  )
}

/** A token in the form of DuckDB's own lexer; the text only changes for other quotes and escapes. */
export const tokenToDuckDB = (token: Token): string => {
  switch (token.kind) {
    case 'backquoted':
      return quoteName(token.value)
    case 'quoted':
      return token.text.includes('\\') ? quoteName(token.value) : token.text
    case 'string':
      return token.text.startsWith("'") && token.text.includes('\\') ? quoteText(token.value) : token.text
    case 'word':
      return /^[0-9]/.test(token.text) ? quoteName(token.text) : token.text
    default:
      return token.text
  }
}
