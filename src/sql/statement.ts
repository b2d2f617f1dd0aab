import { ParseFailure, parseSelect } from './ast/duckdb.js'
import type { AstNode } from './ast/json.js'
import { explainParseFailure } from './explain-error.js'
import { nativeQuery } from './connections.js'
import { guard } from './guard/guard.js'
import { nameItems } from './item-names.js'
import { missingConditions, withoutUsing } from './join-conditions.js'
import { lex, splitSingle, type Token } from './lexer.js'
import { markNativeQueries, nativeQueries, nativeSpelling } from './native-queries.js'
import { normalise } from './normalise.js'
import type { Session } from './session.js'
import { translate, type Translation } from './translation.js'

type Attempt = { translation: Translation; tree: AstNode }

const attempt = async (session: Session, sql: string, tokens: Token[], conditions = new Map<number, string>()): Promise<Attempt> => {
  const { after, instead } = nativeSpelling(nativeQueries(tokens))
  for (const [place, text] of conditions) after.set(place, (after.get(place) ?? '') + text)
  const translation = translate(sql, tokens, session.params, after, instead)
  try {
    return { translation, tree: await parseSelect(session.connection, translation.text) }
  } catch (error) {
    throw error instanceof ParseFailure ? explainParseFailure(error, translation) : error
  }
}

/** Parses as DuckDB does; what it refuses is tried once more in the forms that models allow: JOIN without ON, USING at the end. */
const parse = async (session: Session, sql: string, tokens: Token[]): Promise<Attempt> => {
  try {
    return await attempt(session, sql, tokens)
  } catch (error) {
    const trimmed = withoutUsing(tokens)
    const conditions = missingConditions(trimmed)
    const better = await nativeQuery(session.directory, session.head, tokens, sql)
    if (better) throw better
    if (trimmed.length === tokens.length && conditions.size === 0) throw error
    return await attempt(session, sql, trimmed, conditions).catch(() => {
      throw error
    })
  }
}

/** A text to read: the part of it that is the query, and the view that it belongs to. */
export type Text = { sql: string; within?: { start: number; end: number } | undefined; view?: string }

/**
 * Reads the text of a query, the user's or a view's: one statement, parsed, checked against the guard, its items named.
 * The tree still has the user's names of tables.
 */
export const readStatement = async (session: Session, { sql, within, view }: Text, db: string): Promise<AstNode> => {
  const all = lex(sql)
  const tokens = splitSingle(within ? all.filter(({ start, end }) => start >= within.start && end <= within.end) : all, sql)
  for (const token of tokens) if (token.kind === 'quoted') session.quoted.add(token.value)
  const { translation, tree } = await parse(session, sql, tokens)
  // A function by the name that stands for them is none, when the user wrote it.
  if (nativeQueries(tokens).length > 0) {
    const refused = await nativeQuery(session.directory, session.head, tokens, sql)
    if (refused) throw refused
    markNativeQueries(tree)
  }
  normalise(tree, { db, strings: session.strings })
  session.sources.add({ translation, view }, tree)
  try {
    guard(tree)
  } catch (error) {
    // A native query that happens to be an expression looks like the call of a function.
    throw (await nativeQuery(session.directory, session.head, tokens, sql)) ?? error
  }
  await nameItems(session.connection, tree)
  return tree
}
