import type { Json } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import { badStatement, type Token } from '../../dialect/lexer.js'
import { quoteText } from '../../dialect/strings.js'
import type { Parameters } from './statement.js'
import { maskSecretsInSqlOf } from '../../dialect/mask-secrets.js'

const show = (token: Token | undefined): string => (token === undefined ? 'the end' : `"${token.text.slice(0, 60).toWellFormed()}"`)

/** A value in the notation of our own statements, where a backslash is an escape. */
export const literalOf = (value: Json): string => {
  if (typeof value === 'string') return quoteText(value.replaceAll('\\', '\\\\'))
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`
  return typeof value === 'object' && value !== null ? literalOf(JSON.stringify(value)) : String(value)
}

/** A space between a value and a character that could become a part of it, as in `LIMIT:n` and `1-:n`. */
const spaceBeside = (character: string): string => (/^[^\s(),]/.test(character) ? ' ' : '')

/** A syntax error of a statement: its token, the expected words, the reason, and a hint. */
type Misreading = { token: Token | undefined; expected: readonly string[]; reason: string | undefined; hint: string | undefined }

/** A statement with a syntax error. `told` makes the message for the sender, which shows the text without its secrets. */
export class StatementSyntaxError extends Error {
  constructor(
    private readonly sql: string,
    private readonly tokens: readonly Token[],
    private readonly place: Misreading,
  ) {
    super('a statement is not understood')
  }

  /** As work with pauses, because a long statement is read again in full. `usageNear` finds the usage nearest to the first words. */
  *told(usageNear: (words: readonly string[]) => string | undefined): Generator<void, Problem> {
    const { token, expected, reason, hint: given } = this.place
    yield
    const offset = token?.start ?? this.tokens.at(-1)?.end ?? this.sql.length
    const masked = yield* maskSecretsInSqlOf(this.sql, this.tokens)
    const seen = token && { ...token, text: masked.slice(token.start, token.end) }
    const list = expected.length === 0 ? '' : `; expected ${expected.length === 1 ? '' : 'one of '}${expected.join(', ')}`
    const usage = usageNear(this.tokens.slice(0, 8).map(({ kind, text }) => (kind === 'word' ? text : '')))
    const hint = given ?? (usage === undefined ? undefined : `Did you mean ${usage}?`)
    const problem = badStatement(masked, offset, reason ?? `${show(seen)} is not understood here${list}`, hint)
    return new Problem(problem.code, problem.title, hint === undefined ? problem.detail : `${problem.detail}\n${hint}`, {
      ...problem.extras,
      ...(expected.length > 0 && { expected }),
    })
  }
}

/** The words of a statement that have been taken, in capitals; `noun` is empty if the verb has none. */
export type LeadingWords = { verb: string; noun: string; replace: boolean }

/**
 * Walks over the tokens of one statement. It remembers what it expected and did not find at the furthest place. So a refusal can list the
 * expected words, and the grammar need not repeat them.
 */
export class Cursor {
  private at = 0
  private furthest = 0
  private readonly expected = new Set<string>()
  /** Each `?` of the statement, with its number from 1. */
  private readonly questions: ReadonlyMap<Token, number>

  constructor(
    readonly sql: string,
    readonly tokens: readonly Token[],
    readonly parameters: Parameters = {},
  ) {
    const questions = tokens.filter(({ kind, value }) => kind === 'parameter' && value === '')
    this.questions = new Map(questions.map((token, i) => [token, i + 1]))
  }

  /** The token at the cursor or some tokens after it; undefined at the end. The cursor does not move. */
  peek(ahead = 0): Token | undefined {
    return this.tokens[this.at + ahead]
  }

  get position(): number {
    return this.at
  }

  get done(): boolean {
    return this.at >= this.tokens.length
  }

  /** Takes the token at the cursor. @throws StatementSyntaxError at the end */
  next(): Token {
    const token = this.peek()
    if (!token) this.fail()
    this.at += 1
    return token
  }

  /** Notes a correct continuation at a place, for a possible refusal. */
  expect(what: string, at = this.at): void {
    if (at < this.furthest) return
    if (at > this.furthest) this.expected.clear()
    this.furthest = at
    this.expected.add(what)
  }

  /** Whether the token is this word (given in capitals), in upper or lower case. The cursor does not move. */
  isWord(word: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token?.kind === 'word' && token.text.toUpperCase() === word
  }

  /** Whether the token is this symbol. The cursor does not move. */
  isSymbol(text: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token?.kind === 'symbol' && token.text === text
  }

  /** Takes these words if all of them follow, in upper or lower case. */
  takeWords(...words: string[]): boolean {
    const missing = words.findIndex((word, i) => !this.isWord(word, i))
    if (missing !== -1) {
      // After the first word of `IF NOT EXISTS` the others must follow. Without the first word, something else may follow.
      this.expect(missing === 0 ? words.join(' ') : words.slice(missing).join(' '), this.at + missing)
      return false
    }
    this.at += words.length
    return true
  }

  /** Takes one of these words and returns it in upper case. */
  takeOneOf<W extends string>(...words: W[]): W | undefined {
    return words.find((word) => this.takeWords(word))
  }

  /** Takes this symbol if it follows. */
  takeSymbol(text: string): boolean {
    if (!this.isSymbol(text)) {
      this.expect(text)
      return false
    }
    this.at += 1
    return true
  }

  /** Takes these words. @throws StatementSyntaxError when they do not follow */
  needWords(...words: string[]): void {
    if (!this.takeWords(...words)) this.fail()
  }

  /** Takes this symbol. @throws StatementSyntaxError when it does not follow */
  needSymbol(text: string): void {
    if (!this.takeSymbol(text)) this.fail()
  }

  /** Requires the end of the statement. @throws StatementSyntaxError when something follows */
  needEnd(): void {
    if (this.done) return
    this.expect('the end of the statement')
    this.fail()
  }

  /** The tokens inside the bracket that opens here, without the two brackets; the cursor is then after it. */
  takeBracket(): Token[] {
    this.needSymbol('(')
    const from = this.at
    for (let depth = 1; depth > 0;) {
      const token = this.peek()
      if (!token) {
        this.expect(')')
        this.fail()
      }
      if (token.kind === 'symbol' && token.text === '(') depth += 1
      if (token.kind === 'symbol' && token.text === ')') depth -= 1
      this.at += 1
    }
    return this.tokens.slice(from, this.at - 1)
  }

  /** Takes all tokens to the end. */
  takeRest(): Token[] {
    const rest = this.tokens.slice(this.at)
    this.at = this.tokens.length
    return rest
  }

  /** The statement's own text from the first to the last of these tokens, unchanged. */
  textOf(tokens: readonly Token[]): string {
    return this.sql.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0)
  }

  /** The value of a parameter in the request: `:name` by its name, the n-th `?` by n. */
  parameterOf(token: Token): Json {
    const name = token.value === '' ? String(this.questions.get(token)) : token.value
    const value = Object.hasOwn(this.parameters, name) ? this.parameters[name] : undefined
    if (value === undefined) this.refuse(token, `Parameter is not set: ${name}`, 'Send it with the statement, under "params".')
    return value
  }

  /** The same text with the values of its parameters in it, because it is stored or run later without them. */
  boundTextOf(tokens: readonly Token[]): string {
    let text = ''
    let at = tokens[0]?.start ?? 0
    for (const token of tokens) {
      if (token.kind !== 'parameter') continue
      const [before, after] = [this.sql.charAt(token.start - 1), this.sql.charAt(token.end)]
      text += this.sql.slice(at, token.start) + spaceBeside(before) + literalOf(this.parameterOf(token)) + spaceBeside(after)
      at = token.end
    }
    return text + this.sql.slice(at, tokens.at(-1)?.end ?? 0)
  }

  /** Refuses at the furthest place that could be read. */
  fail(): never {
    const place = Math.max(this.at, this.furthest)
    return this.failAt(this.tokens[place], place === this.furthest ? [...this.expected] : [])
  }

  /** Refuses at a token for a reason outside of the grammar. Without a hint, the nearest statement is the hint. */
  refuse(token: Token | undefined, reason: string, hint?: string): never {
    return this.failAt(token, [], reason, hint)
  }

  private failAt(token: Token | undefined, expected: readonly string[], reason?: string, hint?: string): never {
    throw new StatementSyntaxError(this.sql, this.tokens, { token, expected, reason, hint })
  }
}
