import { ParseFailure, parseSelect } from './ast/duckdb.js'
import type { AstNode } from './ast/json.js'
import { explainParseFailure } from './explain-error.js'
import { nativeQuery } from './connections.js'
import { guard } from './guard/guard.js'
import { nameItems } from './item-names.js'
import { missingConditions, splitUsing } from './join-conditions.js'
import { lex, splitSingle, type Token } from './lexer.js'
import { readScoringOptions, type ScoringOptions } from './models/options.js'
import { normalise } from './normalise.js'
import type { Session } from './session.js'
import { translate, type Translation } from './translation.js'

type Attempt = { translation: Translation; tree: AstNode }

/** A query that has passed every check, and what it asks of its models. */
export type ReadQuery = { tree: AstNode; options: ScoringOptions }

const attempt = async (session: Session, sql: string, tokens: Token[], after?: ReadonlyMap<number, string>): Promise<Attempt> => {
  const translation = translate(sql, tokens, session.params, after)
  try {
    return { translation, tree: await parseSelect(session.connection, translation.text) }
  } catch (error) {
    throw error instanceof ParseFailure ? explainParseFailure(error, translation) : error
  }
}

/** Parses as DuckDB does; what it refuses is tried once more in the forms that models allow: JOIN without ON, USING at the end. */
const parse = async (session: Session, sql: string, tokens: Token[]): Promise<Attempt & { options: ScoringOptions }> => {
  try {
    return { ...(await attempt(session, sql, tokens)), options: {} }
  } catch (error) {
    const { query, options } = splitUsing(tokens)
    const after = missingConditions(query)
    const better = await nativeQuery(session.directory, session.head, tokens, sql)
    if (better) throw better
    if (options.length === 0 && after.size === 0) throw error
    const second = await attempt(session, sql, query, after).catch(() => {
      throw error
    })
    return { ...second, options: readScoringOptions(options) }
  }
}

/** A text to read: the part of it that is the query, and the view that it belongs to. */
export type Text = { sql: string; within?: { start: number; end: number } | undefined; view?: string }

/**
 * Reads the text of a query, the user's or a view's: one statement, parsed, checked against the guard, its items named.
 * The tree still has the user's names of tables.
 */
export const readStatement = async (session: Session, { sql, within, view }: Text, db: string): Promise<ReadQuery> => {
  const all = lex(sql)
  const tokens = splitSingle(within ? all.filter(({ start, end }) => start >= within.start && end <= within.end) : all, sql)
  for (const token of tokens) if (token.kind === 'quoted') session.quoted.add(token.value)
  const { translation, tree, options } = await parse(session, sql, tokens)
  normalise(tree, { db, strings: session.strings })
  nameItems(tree, translation)
  session.sources.add({ translation, view }, tree)
  try {
    guard(tree)
  } catch (error) {
    // A native query that happens to be an expression looks like the call of a function.
    throw (await nativeQuery(session.directory, session.head, tokens, sql)) ?? error
  }
  return { tree, options }
}
