import { ParseFailure, parseSelect } from './ast/duckdb.js'
import type { AstNode } from './ast/json.js'
import { explainParseFailure } from './explain-error.js'
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
    if (options.length === 0 && after.size === 0) throw error
    const second = await attempt(session, sql, query, after).catch(() => {
      throw error
    })
    return { ...second, options: readScoringOptions(options) }
  }
}

/**
 * Reads the text of a query, the user's or a view's: one statement, parsed, checked against the guard, its items named.
 * The tree still has the user's names of tables.
 */
export const readStatement = async (session: Session, sql: string, db: string): Promise<ReadQuery> => {
  const tokens = splitSingle(lex(sql), sql)
  for (const token of tokens) if (token.kind === 'quoted') session.quoted.add(token.value)
  const { translation, tree, options } = await parse(session, sql, tokens)
  normalise(tree, { db, strings: session.strings })
  guard(tree)
  nameItems(tree, translation)
  return { tree, options }
}
