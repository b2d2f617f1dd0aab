import { ParseFailure, parseSelect } from './ast/duckdb.js'
import type { AstNode } from './ast/json.js'
import { explainParseFailure } from './explain-error.js'
import { guard } from './guard/guard.js'
import { nameItems } from './item-names.js'
import { missingConditions, withoutUsing } from './join-conditions.js'
import { lex, splitSingle, type Token } from './lexer.js'
import { normalise } from './normalise.js'
import { missingValues } from './pivots.js'
import type { Session } from './session.js'
import { translate, type Translation } from './translation.js'

type Attempt = { translation: Translation; tree: AstNode }

const attempt = async (session: Session, sql: string, tokens: Token[], after?: ReadonlyMap<number, string>): Promise<Attempt> => {
  const translation = translate(sql, tokens, session.params, after)
  try {
    return { translation, tree: await parseSelect(session.connection, translation.text) }
  } catch (error) {
    throw error instanceof ParseFailure ? explainParseFailure(error, translation) : error
  }
}

/**
 * Parses as DuckDB does; what it refuses is tried once more in the forms that models allow: JOIN without
 * ON, USING at the end; and PIVOT without its values. */
const parse = async (session: Session, sql: string, tokens: Token[]): Promise<Attempt> => {
  try {
    return await attempt(session, sql, tokens)
  } catch (error) {
    const trimmed = withoutUsing(tokens)
    const after = new Map([...missingConditions(trimmed), ...missingValues(trimmed)])
    if (trimmed.length === tokens.length && after.size === 0) throw error
    return await attempt(session, sql, trimmed, after).catch(() => {
      throw error
    })
  }
}

/**
 * Reads the text of a query, the user's or a view's: one statement, parsed, checked against the guard, its items named.
 * The tree still has the user's names of tables.
 */
export const readStatement = async (session: Session, sql: string, db: string): Promise<AstNode> => {
  const tokens = splitSingle(lex(sql), sql)
  for (const token of tokens) if (token.kind === 'quoted') session.quoted.add(token.value)
  const { translation, tree } = await parse(session, sql, tokens)
  normalise(tree, { db, strings: session.strings })
  guard(tree)
  nameItems(tree, translation)
  return tree
}
