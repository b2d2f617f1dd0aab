import { atOnce, inTurns } from '../basics/long-work.js'
import { mask } from '../basics/shown.js'
import { foreignTokens, tokensIn, type Token } from './lexer.js'
import { inOrder, rawCuts, replaced, type Cut } from './secret-cuts.js'
import { secretValues } from './secret-values.js'
import { textHider } from './text-hider.js'
import { quotedStatements, withoutStatements, type QuotedStatement } from './tokens.js'

/** The cuts inside statements in dollar quotes, but not in those that are inside of them. */
const cutsInside = function* (statements: readonly QuotedStatement[]): Generator<void, Cut[]> {
  const cuts: Cut[] = []
  for (const { text, start } of statements) {
    const readings = foreignTokens(text)
    const found = readings.length === 0 ? rawCuts(text) : []
    for (const tokens of readings) found.push(...(yield* secretValues(text, tokens)))
    for (const cut of found) cuts.push({ ...cut, start: start + cut.start, end: start + cut.end })
  }
  return cuts
}

const findCuts = function* (sql: string, tokens: readonly Token[] | undefined = tokensIn(sql)): Generator<void, Cut[]> {
  yield
  if (!tokens) return rawCuts(sql)
  const statements = quotedStatements(tokens)
  return inOrder([...(yield* secretValues(sql, withoutStatements(tokens, statements))), ...(yield* cutsInside(statements))])
}

const cutsIn = (sql: string): Cut[] => atOnce(findCuts(sql))

/**
 * The text of a statement for storage and logs: values of secret keys and passwords in URLs are `******`. Accepts any text, even one that
 * is not SQL. If the quotes are broken, it cuts everything after them.
 *
 * @example cutSecrets("CREATE AGENT a USING model = 'm', api_key = 'sk-1'") // CREATE AGENT a USING model = 'm', api_key = '******'
 */
export const cutSecrets = (sql: string): string => replaced(sql, cutsIn(sql), ({ text }) => text)

/** The same as `cutSecrets`, with pauses in which other work uses the event loop. */
export const cutSecretsInTurns = async (sql: string): Promise<string> => replaced(sql, await inTurns(findCuts(sql)), ({ text }) => text)

/**
 * The same, but a star replaces each character of a secret, so that places in the text do not move. If `tokens` of the whole text are
 * given, a long text is not read again.
 *
 * @example maskSecrets("SET token = 'abc'") // SET token = *****
 */
export const maskSecretsInSql = (sql: string, tokens?: readonly Token[]): string => atOnce(maskSecretsInSqlOf(sql, tokens))

/** The same as work with pauses. */
export const maskSecretsInSqlOf = function* (sql: string, tokens?: readonly Token[]): Generator<void, string> {
  return replaced(sql, yield* findCuts(sql, tokens), ({ start, end }) => sql.slice(start, end).replace(/[^\n]/g, '*'))
}

const shortestPart = 4

/**
 * A function that removes the secrets of these statements from a text that may repeat them, such as an error: each whole secret, and every
 * longer word in it. Its time grows with the text, not with the number of secrets.
 *
 * @example hiderOf(["SET token = 'sk-123'"])("no such key: sk-123") // no such key: ******
 */
export const hiderOf = (statements: readonly string[]): ((text: string) => string) => {
  const secrets = statements.flatMap((sql) => cutsIn(sql).map(({ start, end }) => sql.slice(start, end).replace(/^['"`]|['"`]$/g, '')))
  const parts = secrets.flatMap((secret) => secret.split(/[\s'"`,;(){}[\]:=]+/).filter((part) => part.length >= shortestPart))
  return textHider([...secrets, ...parts], mask)
}
