import { isDoubtfulKey, isSecretKey } from '../vault/secret-keys.js'
import { holdsSecret, looksSecret } from '../vault/looks-secret.js'
import type { Token } from './lexer.js'
import { isSymbol, isWord } from './tokens.js'

/** A secret text in a statement, by its place among the tokens; `key` is the name that makes it a secret, if there is one. */
export type SecretLiteral = { token: Token; key: string | undefined }

const comparing = new Set(['=', '==', ':', ':=', '=>', '!=', '<>', '~', '!~', '~~', '~~*', '<=>'])
const comparingWords = new Set(['LIKE', 'ILIKE', 'IN', 'IS', 'NOT', 'SIMILAR', 'GLOB'])
/** The other words of `IS DISTINCT FROM` and `SIMILAR TO`, and values that are no texts. */
const furtherWords = ['DISTINCT', 'FROM', 'TO', 'NULL', 'TRUE', 'FALSE']
const nameKinds: ReadonlySet<string> = new Set(['word', 'quoted', 'backquoted', 'string'])
const valueKinds: ReadonlySet<string> = new Set(['string', 'quoted', 'number'])
const columnKinds: ReadonlySet<string> = new Set(['word', 'quoted', 'backquoted'])

const isComparison = (token: Token | undefined): boolean =>
  token !== undefined &&
  ((token.kind === 'symbol' && comparing.has(token.text)) || (token.kind === 'word' && comparingWords.has(token.text.toUpperCase())))

const isKey = (name: string): boolean => isSecretKey(name) || isDoubtfulKey(name)

/** Every text under `password` is a secret. `token` is also a word of linguistics, and may be compared with plain words. */
const isSecretUnder = (key: string, text: string): boolean => {
  if (text === '' || /^\*+$/.test(text)) return false
  return isDoubtfulKey(key) || /tokens?$/i.test(key) ? looksSecret(text) : true
}

/**
 * Whether a text that is compared with a column is a secret, by its form or by the name of the column.
 *
 * @example isSecretOf('password', 'hunter2') // true
 */
export const isSecretOf = (column: string, text: string): boolean => holdsSecret(text) || (isKey(column) && isSecretUnder(column, text))

/** The effect of a key on a place after it: whether the key's value is at this place, and whether more values may follow a comma. */
type Place = { key: string | undefined; isValue: boolean; isList: boolean }
const nowhere: Place = { key: undefined, isValue: false, isList: false }

/**
 * The meaning of the tokens before a text: the last key, and whether the text is its value. A key remains valid through operations on it
 * (`params->>'password'`, `lower(password)`, `password::VARCHAR`) up to a comparison. Then the texts in the comparison follow.
 */
class Subject {
  #before: Token | undefined
  #place = nowhere
  readonly #around: Place[] = []

  /** The key whose value is at this place. */
  get key(): string | undefined {
    return this.#place.isValue ? this.#place.key : undefined
  }

  pass(token: Token, next: Token | undefined): void {
    this.#place = this.#after(token, next)
    this.#before = token
  }

  #after(token: Token, next: Token | undefined): Place {
    const place = this.#place
    if (isSymbol(token, '(', '[', '{')) {
      this.#around.push(place)
      return place.isValue && token.text !== '{' ? { ...place, isList: true } : nowhere
    }
    if (isSymbol(token, ')', ']', '}')) {
      const outer = this.#around.pop() ?? nowhere
      return outer.isValue || place.isValue ? outer : { ...outer, key: place.key }
    }
    if (place.isValue ? isPartOfValue(token, next, place) : this.#reads(token)) return place
    if (place.key !== undefined && !place.isValue && isComparison(token)) return { ...place, isValue: true }
    return { ...nowhere, key: namedBy(token, next) }
  }

  /** Whether a token is between a key and its comparison. */
  #reads(token: Token): boolean {
    if (this.#place.key === undefined || namedBy(token, undefined) !== undefined) return false
    if (token.kind === 'symbol') return /^(?:\.|::|->>?)$/.test(token.text)
    return isSymbol(this.#before, '.', '::', '->', '->>') || isWord(token, 'COLLATE') || isWord(this.#before, 'COLLATE')
  }
}

/** The key that a token names. A word before a bracket is the name of a function. */
const namedBy = (token: Token, next: Token | undefined): string | undefined =>
  nameKinds.has(token.kind) && isKey(token.value) && !(token.kind === 'word' && isSymbol(next, '(')) ? token.value : undefined

const isPartOfValue = (token: Token, next: Token | undefined, { isList }: Place): boolean =>
  valueKinds.has(token.kind) ||
  isComparison(token) ||
  isWord(token, ...furtherWords) ||
  isSymbol(token, '||', ...(isList ? [','] : [])) ||
  (token.kind === 'word' && isSymbol(next, '('))

/** The name after a text, as its alias or in a comparison: `'x' AS password`, `'x' = t.password`. */
const keyAfter = (tokens: readonly Token[], i: number): string | undefined => {
  let at = i + 1
  if (isSymbol(tokens[at], '::')) at += 2
  if (isWord(tokens[at], 'AS') || isComparison(tokens[at])) at += 1
  else if (!columnKinds.has(tokens[at]?.kind ?? '')) return undefined
  while (isSymbol(tokens[at + 1], '.') || isSymbol(tokens[at + 1], '->>') || isSymbol(tokens[at + 1], '->')) at += 2
  const name = tokens[at]
  return name && nameKinds.has(name.kind) && isKey(name.value) && !isSymbol(tokens[at + 1], '(') ? name.value : undefined
}

/**
 * `json_object('api_key', 'k3y')`: the name is the previous argument. A list of names looks similar, so the text must look like a secret.
 */
const keyBefore = (tokens: readonly Token[], i: number): string | undefined => {
  const [name, comma] = [tokens[i - 2], tokens[i - 1]]
  return isSymbol(comma, ',') && name?.kind === 'string' && isKey(name.value) ? name.value : undefined
}

/** `{"name": "token", "value": "k3y"}`: the value belongs to the neighbouring name. */
const keyBeside = (tokens: readonly Token[], i: number): string | undefined => {
  if (!isSymbol(tokens[i - 1], ':')) return undefined
  const [nameWord, colon, name, comma, valueWord] = tokens.slice(Math.max(0, i - 6), i)
  const isPair = isSymbol(colon, ':') && isSymbol(comma, ',')
  if (!isPair || !/^(?:name|key|header)$/.test(nameWord?.value ?? '') || !/^val(?:ue)?$/.test(valueWord?.value ?? '')) return undefined
  return name && isSecretKey(name.value) ? name.value : undefined
}

/** The number of tokens between two pauses of the work. */
const tokensAtOnce = 2_000

const secretAt = (tokens: readonly Token[], i: number, key: string | undefined): SecretLiteral | undefined => {
  const token = tokens[i]
  if (!token) return undefined
  const text = token.value
  if (holdsSecret(text)) return { token, key }
  const found = [key, keyAfter(tokens, i), keyBeside(tokens, i)].find((name) => name !== undefined && isSecretUnder(name, text))
  if (found !== undefined) return { token, key: found }
  const before = keyBefore(tokens, i)
  return before !== undefined && looksSecret(text) ? { token, key: before } : undefined
}

/**
 * Finds the secret texts in a statement: texts with the form of a secret, and texts in a column or member with a secret's name. The work
 * may pause, and its time is proportional to the number of tokens. With `isJson`, for a statement with JSON in it, texts in double quotes
 * count as well.
 *
 * @example atOnce(findSecretLiterals(lex("SELECT * FROM skills WHERE params->>'password' = 'hunter2'")))[0]?.key // 'password'
 */
export const findSecretLiterals = function* (tokens: readonly Token[], isJson = false): Generator<void, SecretLiteral[]> {
  const subject = new Subject()
  const found: SecretLiteral[] = []
  for (const [i, token] of tokens.entries()) {
    if (i % tokensAtOnce === tokensAtOnce - 1) yield
    const { key } = subject
    subject.pass(token, tokens[i + 1])
    if (token.kind !== 'string' && !(isJson && token.kind === 'quoted')) continue
    const literal = secretAt(tokens, i, key)
    if (literal) found.push(literal)
  }
  return found
}
