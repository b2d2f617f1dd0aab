import { ParseFailure, parseSelect } from './ast/duckdb.js'
import type { AstNode } from './ast/json.js'
import { explainParseFailure } from './explain-error.js'
import { guard } from './guard/guard.js'
import { nameItems } from './item-names.js'
import { missingConditions, withoutUsing } from './join-conditions.js'
import { lex, splitSingle, type Token } from './lexer.js'
import { markNativeQueries, nativeQueries, nativeSpelling } from './native-queries.js'
import { normalise } from './normalise.js'
import { requireDatabase } from './resolve.js'
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
    if (trimmed.length === tokens.length && conditions.size === 0) throw error
    return await attempt(session, sql, trimmed, conditions).catch(() => {
      throw error
    })
  }
}

/** What is meant for a connection may be no SQL of ours: that the connection cannot be read says more than where it stops. */
const refuseNative = async ({ directory, head }: Session, tokens: readonly Token[], db: string, error: unknown): Promise<never> => {
  for (const { database } of nativeQueries(tokens)) await requireDatabase({ directory, db, position: head }, database)
  throw error
}

/**
 * Reads the text of a query, the user's or a view's: one statement, parsed, checked against the guard, its items named.
 * The tree still has the user's names of tables.
 */
export const readStatement = async (session: Session, sql: string, db: string): Promise<AstNode> => {
  const tokens = splitSingle(lex(sql), sql)
  for (const token of tokens) if (token.kind === 'quoted') session.quoted.add(token.value)
  const { tree } = await parse(session, sql, tokens).catch((error: unknown) => refuseNative(session, tokens, db, error))
  // A function by the name that stands for them is none, when the user wrote it.
  if (nativeQueries(tokens).length > 0) markNativeQueries(tree)
  normalise(tree, { db, strings: session.strings })
  guard(tree)
  await nameItems(session.connection, tree)
  return tree
}
