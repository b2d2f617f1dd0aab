import type { Cursor } from './cursor.js'
import type { Token } from '../../dialect/lexer.js'
import { serverVariable } from '../../dialect/server-variables.js'
import { isSymbol, isWord } from '../../dialect/tokens.js'
import { queryFollows } from './clauses.js'
import type { Topic } from './forms.js'
import type { StatementOf, SystemItem } from './statement.js'

/** Functions about the server itself. Clients ask for them when they connect. */
const functions = new Set(['database', 'schema', 'version', 'user', 'current_user', 'session_user', 'system_user', 'connection_id'])

const bare = new Set(['current_user', 'session_user'])

type ParsedItem = { item: SystemItem; next: number }

const readItem = (tokens: readonly Token[], at: number): ParsedItem | undefined => {
  const token = tokens[at]
  if (token?.kind === 'variable' && token.text.startsWith('@@'))
    return { item: { source: 'variable', name: serverVariable(token.value).name, column: token.text }, next: at + 1 }
  const name = token?.kind === 'word' ? token.text.toLowerCase() : ''
  // The SQL standard has CURRENT_USER without brackets.
  if (bare.has(name) && !isSymbol(tokens[at + 1], '('))
    return { item: { source: 'function', name, column: token?.text ?? name }, next: at + 1 }
  if (!functions.has(name) || !isSymbol(tokens[at + 1], '(') || !isSymbol(tokens[at + 2], ')')) return undefined
  return { item: { source: 'function', name, column: token?.text ?? name }, next: at + 3 }
}

const readAlias = (tokens: readonly Token[], { item, next }: ParsedItem): ParsedItem => {
  const named = isWord(tokens[next], 'AS') ? next + 1 : next
  const alias = tokens[named]
  const fits = alias?.kind === 'word' || alias?.kind === 'quoted' || alias?.kind === 'backquoted' || alias?.kind === 'string'
  if (!fits || (named === next && (isWord(alias, 'LIMIT') || isWord(alias, 'FROM')))) return { item, next }
  return { item: { ...item, column: alias.value }, next: named + 1 }
}

/**
 * A SELECT that only asks the server about itself, or undefined if DuckDB must answer.
 *
 * @example readSystemSelect(lex('SELECT @@version'), 'SELECT @@version')
 */
const readSystemSelect = (tokens: readonly Token[], sql: string): StatementOf<'system_select'> | undefined => {
  if (!isWord(tokens[0], 'SELECT')) return undefined
  const items: SystemItem[] = []
  let at = 1
  for (;;) {
    const read = readItem(tokens, at)
    if (!read) return undefined
    const { item, next } = readAlias(tokens, read)
    items.push(item)
    at = next
    if (!isSymbol(tokens[at], ',')) break
    at += 1
  }
  // MySQL's own clients write LIMIT 1 and FROM dual.
  if (isWord(tokens[at], 'FROM') && isWord(tokens[at + 1], 'DUAL')) at += 2
  if (isWord(tokens[at], 'LIMIT') && tokens[at + 1]?.kind === 'number' && tokens[at + 1]?.text !== '0') at += 2
  return at === tokens.length ? { kind: 'system_select', items, sql } : undefined
}

/** Whether a statement that DuckDB reads begins here. */
export const startsQuery = (cursor: Cursor): boolean => cursor.isSymbol('(') || queryFollows(cursor)

/** Takes the rest as a query. Its words stay where they are in the text, so that the place of an error is the one that its author sees. */
export const takeSelect = (cursor: Cursor): StatementOf<'select' | 'system_select'> => {
  const before = cursor.sql.slice(0, cursor.peek()?.start)
  const sql = before.replaceAll(/\S/gu, ' ') + cursor.textOf(cursor.takeRest())
  return readSystemSelect(cursor.tokens, sql) ?? { kind: 'select', sql }
}

export const queries = {
  select: {
    effect: 'query',
    usages: { SELECT: 'SELECT columns FROM table WHERE condition', WITH: 'WITH name AS (SELECT …) SELECT …' },
  },
  system_select: { effect: 'query', forms: 'select' },
} satisfies Topic
