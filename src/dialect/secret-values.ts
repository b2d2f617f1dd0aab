import { mask } from '../basics/shown.js'
import { isSecretKey } from '../vault/secret-keys.js'
import { holdsSecret } from '../vault/looks-secret.js'
import type { Token } from './lexer.js'
import { findSecretLiterals } from './secret-literals.js'
import { endsWithSecretKey, inOrder, rawCuts, replaced, secretInText, urlCuts, type Cut } from './secret-cuts.js'
import { isSymbol, isWord } from './tokens.js'

const operators = new Set(['=', ':', ':=', '==', '=>', '!=', '<>', '~', '->', '->>', '<', '>', '<=', '>='])
const operatorWords = new Set(['LIKE', 'ILIKE', 'IN', 'IS', 'NOT'])
const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
/** The number of tokens between two pauses of the work. */
const tokensAtOnce = 2_000
/** The shortest comment has this many characters; most gaps between tokens have fewer. */
const commentMinChars = '/**/'.length

const isText = (token: Token | undefined): boolean => token?.kind === 'string' || token?.kind === 'quoted'
/** Whether a text in quotes has another meaning than the characters between the quotes. */
const hasEscapes = ({ kind, text, value }: Token): boolean => kind !== 'word' && text.length !== value.length + 2
const isKeyKind = (token: Token): boolean =>
  token.kind === 'word' || token.kind === 'quoted' || token.kind === 'backquoted' || token.kind === 'string'
const isOperator = (token: Token | undefined): boolean =>
  token !== undefined &&
  ((token.kind === 'symbol' && operators.has(token.text)) || (token.kind === 'word' && operatorWords.has(token.text.toUpperCase())))

/** An open bracket: the place of its token, and whether it has commas, and whether anything but names and commas. */
type Bracket = { at: number; text: string; hasComma: boolean; hasOthers: boolean }

/** An INSERT whose values have not begun: the place of its token, and the number of brackets around it. */
type Insert = { at: number; depth: number }

/** Finds the values of secret keys among the tokens of one text, whether the text is well-formed or not. */
class ValueFinder {
  readonly cuts: Cut[] = []
  private covered = 0
  private readonly known = new Map<string, boolean>()
  /** The last dotted name of the walk: all its places have the same end. */
  private dotted = { from: 0, end: 0 }
  private lastKey = -1
  private inserts: Insert[] = []
  /** The values that are cut up to the end of their INSERT. */
  private inserted: { start: number; depth: number } | undefined

  constructor(
    private readonly sql: string,
    private readonly tokens: readonly Token[],
    private readonly secretTexts: ReadonlySet<Token>,
  ) {}

  *find(): Generator<void, Cut[]> {
    const brackets: Bracket[] = []
    for (let i = 0; i < this.tokens.length; i++) {
      const token = this.tokens[i]
      if (!token) break
      if (i % tokensAtOnce === tokensAtOnce - 1) yield
      if (token.kind === 'symbol' && token.text in closers) brackets.push({ at: i, text: token.text, hasComma: false, hasOthers: false })
      else if (token.kind === 'symbol' && /^[)\]}]$/.test(token.text)) {
        this.cutAfterNames(i, brackets.pop())
        this.endInserts(brackets.length + 1, token.start)
      } else if (isSymbol(token, ';')) this.endInserts(brackets.length, token.start)
      this.cutInserted(i, brackets.length)
      const innermost = brackets.at(-1)
      if (innermost && innermost.at < i) {
        innermost.hasComma ||= isSymbol(token, ',')
        innermost.hasOthers ||= !isKeyKind(token) && !isSymbol(token, ',') && !isSymbol(token, '.') && !isSymbol(token, '-')
      }
      // A place inside a value that is already cut is skipped.
      if (token.start < this.covered) continue
      if (this.isKey(i)) {
        this.lastKey = i
        this.cutAfterKey(i, innermost?.text === '(')
      }
      this.cutInside(token, this.isBrokenAfter(i))
      this.cutComment(i)
    }
    this.endInserts(0, this.sql.length)
    return this.cuts
  }

  /** `api_key`, `"api_key"`, `api-key` and `api key` are keys, and so is BY in IDENTIFIED BY. */
  private isKey(i: number): boolean {
    const token = this.tokens[i]
    if (!token || !isKeyKind(token)) return false
    if (this.isSecret(token.value) || (hasEscapes(token) && this.isSecret(token.text))) return true
    if (token.kind !== 'word') return false
    const before = this.tokens[i - 1]
    const first = isSymbol(before, '-') ? this.tokens[i - 2] : before
    if (first?.kind !== 'word') return false
    return this.isSecret(`${first.text}_${token.text}`) || (isWord(first, 'IDENTIFIED') && isWord(token, 'BY'))
  }

  /** Statements repeat their words, so the answers are kept. */
  private isSecret(key: string): boolean {
    const known = this.known.get(key) ?? isSecretKey(key)
    this.known.set(key, known)
    return known
  }

  private cutAfterKey(key: number, inCall: boolean): void {
    let at = this.behindDots(key + 1)
    const operator = at
    while (isOperator(this.tokens[at])) at += 1
    const value = this.tokens[at]
    if (!value) return
    if (at > operator) {
      this.cutValue(at)
      return
    }
    if (isWord(this.tokens[key], 'BY')) {
      this.cutValue(at)
      return
    }
    // The `=` may be missing, or the key may be the argument before its value: `json_object('api_key', 'sk-1')`.
    if (
      isText(value) ||
      value.kind === 'backquoted' ||
      value.kind === 'number' ||
      value.kind === 'parameter' ||
      isSymbol(value, '{') ||
      isSymbol(value, '[')
    ) {
      this.cutValue(at)
      return
    }
    if (isSymbol(value, '(') && this.tokens[key]?.kind === 'word') {
      this.cutValue(at)
      return
    }
    if (isSymbol(value, ',') && inCall && this.tokens[key]?.kind === 'string' && this.tokens[at + 1]) this.cutValue(at + 1)
  }

  /** Cuts the values of `(login, password) = ('ann', 'pw')`, whose names end at the bracket `close`. */
  private cutAfterNames(close: number, bracket: Bracket | undefined): void {
    if (!bracket?.hasComma || bracket.hasOthers || this.lastKey < bracket.at || (this.tokens[close]?.start ?? 0) < this.covered) return
    let at = close + 1
    while (isOperator(this.tokens[at])) at += 1
    if (at > close + 1) this.cutValue(at)
  }

  /** The place after `.name.name`, which begins here. */
  private behindDots(from: number): number {
    if (from <= this.dotted.end && (from - this.dotted.from) % 2 === 0 && from >= this.dotted.from) return this.dotted.end
    let end = from
    while (isSymbol(this.tokens[end], '.') && this.tokens[end + 1]) end += 2
    this.dotted = { from, end }
    return end
  }

  private cutValue(at: number): void {
    const first = this.tokens[at]
    if (!first || isSymbol(first, ',') || isSymbol(first, ';') || (first.kind === 'symbol' && /^[)\]}]$/.test(first.text))) return
    this.covered = this.endOfValue(at)
    this.cuts.push({ start: first.start, end: this.covered, text: masked(first) })
  }

  private touches(i: number): boolean {
    return this.tokens[i - 1]?.end === this.tokens[i]?.start
  }

  private endOfValue(at: number): number {
    const first = this.tokens[at]
    if (!first) return this.sql.length
    if (first.kind === 'symbol' && first.text in closers) return this.endOfBracket(at)
    return isText(first) || first.kind === 'backquoted' ? this.endOfText(at) : this.endOfBare(at)
  }

  private endOfBracket(at: number): number {
    let depth = 0
    for (let i = at; i < this.tokens.length; i++) {
      const token = this.tokens[i]
      if (token?.kind !== 'symbol') continue
      if (token.text in closers) depth += 1
      else if (/^[)\]}]$/.test(token.text)) depth -= 1
      if (depth === 0) return token.end
    }
    return this.sql.length
  }

  /** Texts side by side, or joined by an operator, are one value. If a letter touches a closing quote, the quotes are broken. */
  private endOfText(at: number): number {
    let end = at
    for (let i = at + 1; i < this.tokens.length; i++) {
      const token = this.tokens[i]
      if (!token) break
      if (isText(token) && !this.touches(i)) end = i
      else if (token.kind === 'symbol' && (token.text === '||' || token.text === '+')) end = ++i
      else if (this.touches(i) && token.kind !== 'symbol') return this.sql.length
      else break
    }
    return this.tokens[end]?.end ?? this.sql.length
  }

  /** A value without quotes extends to a comma, a closing bracket, or the next key. */
  private endOfBare(at: number): number {
    let depth = 0
    for (let i = at; i < this.tokens.length; i++) {
      const token = this.tokens[i]
      if (!token) break
      if (token.kind === 'symbol') {
        if (token.text in closers) depth += 1
        else if (/^[)\]}]$/.test(token.text)) depth -= 1
        if (depth < 0 || (depth === 0 && (token.text === ',' || token.text === ';'))) return this.tokens[i - 1]?.end ?? token.start
      }
      const next = this.tokens[i + 1]
      if (i > at && depth === 0 && isKeyKind(token) && !this.touches(i) && (isSymbol(next, '=') || isSymbol(next, ':')))
        return this.tokens[i - 1]?.end ?? token.start
    }
    return this.sql.length
  }

  /** Whether the end of this token touches something that cannot follow a text: then the quotes are not at their apparent places. */
  private isBrokenAfter(i: number): boolean {
    const next = this.tokens[i + 1]
    return next !== undefined && this.touches(i + 1) && !(next.kind === 'symbol' && /^(?:[,;)\]}=:|]|\|\||::)$/.test(next.text))
  }

  /** Connection strings, JSON in a text, URLs. */
  private cutInside(token: Token, brokenAfter: boolean): void {
    if (!isText(token) && token.kind !== 'backquoted') return
    const before = this.cuts.length
    const inner = token.text.slice(0, -1)
    const found = secretInText(inner)
    if (found !== undefined) {
      // The closing quote directly follows the key, so the quotes are broken and the value comes later.
      const broken = brokenAfter || !/[^\s'"`\\]/.test(inner.slice(found))
      this.cuts.push({ start: token.start + found, end: broken ? this.sql.length : token.end - 1, text: mask })
    }
    for (const cut of urlCuts(inner, true)) this.cuts.push({ start: token.start + cut.start, end: token.start + cut.end, text: cut.text })
    if (token.kind !== 'backquoted' && this.hasSecretLeft(token, this.cuts.slice(before)))
      this.cuts.push({ start: token.start, end: token.end, text: masked(token) })
  }

  private hasSecretLeft(token: Token, cuts: readonly Cut[]): boolean {
    if (cuts.length === 0) return this.secretTexts.has(token)
    const { text, start } = token
    const inside = cuts.map((cut) => ({ ...cut, start: cut.start - start, end: Math.min(cut.end - start, text.length) }))
    return holdsSecret(replaced(text, inOrder(inside), (cut) => cut.text).slice(1, -1))
  }

  private cutComment(i: number): void {
    const from = this.tokens[i - 1]?.end ?? 0
    const to = this.tokens[i]?.start ?? this.sql.length
    this.cutGap(from, to, this.tokens[i])
    if (i === this.tokens.length - 1) this.cutGap(this.tokens[i]?.end ?? 0, this.sql.length, undefined)
  }

  private cutGap(from: number, to: number, next: Token | undefined): void {
    if (to - from < commentMinChars) return
    const gap = this.sql.slice(from, to)
    // The key is inside the comment, but its value is not.
    if ((isOperator(next) || next?.kind === 'parameter') && endsWithSecretKey(gap))
      this.cuts.push({ start: to, end: this.sql.length, text: mask })
    const found = secretInText(gap)
    if (found === undefined) return
    const value = this.sql.slice(from + found, to)
    // The comment ends directly after the key: the value is outside of it.
    this.cuts.push({ start: from + found, end: /\S/.test(value.replace('*/', '')) ? to : this.sql.length, text: mask })
  }

  /** In `INSERT INTO t (name, password) VALUES (…)` the place of a value decides its name. */
  private cutInserted(i: number, depth: number): void {
    const token = this.tokens[i]
    if (this.beginsInsert(i)) this.inserts.push({ at: i, depth })
    const beginsValues = isWord(token, 'VALUES', 'SELECT') || (isWord(token, 'VALUE') && isSymbol(this.tokens[i + 1], '('))
    if (this.inserts.length === 0 || !beginsValues) return
    const outermost = this.inserts.find(({ at }) => at < this.lastKey)
    this.inserts = []
    if (token && outermost) this.inserted ??= { start: token.end, depth: outermost.depth }
  }

  /** `INSERT`, or `REPLACE` as a statement of MySQL, not the function, the option of `*`, or the end of `CREATE OR REPLACE`. */
  private beginsInsert(i: number): boolean {
    const token = this.tokens[i]
    if (isWord(token, 'INSERT')) return true
    return isWord(token, 'REPLACE') && !isSymbol(this.tokens[i + 1], '(') && !isWord(this.tokens[i - 1], 'OR')
  }

  /** Ends the statements that are inside at least this many brackets. */
  private endInserts(depth: number, end: number): void {
    while ((this.inserts.at(-1)?.depth ?? -1) >= depth) this.inserts.pop()
    if (!this.inserted || this.inserted.depth < depth) return
    this.cuts.push({ start: this.inserted.start, end, text: ` ${mask}` })
    this.inserted = undefined
  }
}

/** A mask in the quotes of a text. */
const masked = ({ text }: Token): string => (text.startsWith('"') ? `"${mask}"` : `'${mask}'`)

/**
 * The cuts of the secret values among the tokens of a text, as work with pauses: values of keys, texts that are secrets, passwords in URLs.
 *
 * @example atOnce(secretValues(sql, lex(sql))) // for SET token = 'abc': [{ start: 12, end: 17, text: "'******'" }]
 */
export const secretValues = function* (sql: string, tokens: readonly Token[]): Generator<void, Cut[]> {
  const inGaps = tokens.length === 0 ? rawCuts(sql) : []
  const literals = yield* findSecretLiterals(tokens, true)
  const underKeys = literals.flatMap(({ token, key }) =>
    key === undefined ? [] : [{ start: token.start, end: token.end, text: masked(token) }],
  )
  yield
  const found = yield* new ValueFinder(sql, tokens, new Set(literals.map(({ token }) => token))).find()
  return [...found, ...underKeys, ...urlCuts(sql, false), ...inGaps]
}
