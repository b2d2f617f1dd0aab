import { runOwn } from '../ast/checked-text.js'
import { readDuckDBError } from '../ast/duckdb-error.js'
import type { AstNode } from '../ast/json.js'
import { become, isColumnRef, nodesOf, placeOf, selectItems, textConstant, textOf, textsOf, walk } from '../ast/nodes.js'
import type { NameMeaning, Session } from '../session/session.js'
import { RunError } from '../session/sources.js'
import { quoteName, quoteText } from '../../../dialect/strings.js'

const calls = new Set(['user', 'current_user', 'session_user', 'system_user'])

/** DuckDB calls functions by these names if the names have no brackets and are no columns. */
const bare = new Set(['user', 'current_user', 'session_user', 'current_role'])

const isCall = (node: AstNode): boolean =>
  textOf(node, 'class') === 'FUNCTION' &&
  calls.has(textOf(node, 'function_name').toLowerCase()) &&
  textOf(node, 'schema') === '' &&
  nodesOf(node, 'children').length === 0

const spelling = (node: AstNode): string => textsOf(node, 'column_names')[0] ?? ''

const bareName = (node: AstNode): string | undefined => {
  if (!isColumnRef(node) || textsOf(node, 'column_names').length !== 1) return undefined
  const name = spelling(node).toLowerCase()
  return bare.has(name) ? name : undefined
}

/** One macro answers for all places of a name. If the places have different meanings, the macro answers for none of them. */
const meaningOf = (before: NameMeaning | undefined, node: AstNode, isQuoted: boolean): NameMeaning => {
  const meant = isQuoted ? (spelling(node) === bareName(node) ? 'text' : 'either') : 'account'
  return before === undefined || before === meant ? meant : 'either'
}

const instead = (node: AstNode, value: string, name: string): void =>
  become(node, { ...textConstant(value), ...placeOf(node), alias: textOf(node, 'alias') || name })

/**
 * Lets `current_user()`, and `user` where no column has that name, give the account of the client instead of the account inside DuckDB;
 * `"user"` there gives the text `user`. Only DuckDB knows which names are columns. So the names without brackets get macros, which DuckDB
 * finds before its own. Names that an earlier attempt found to be no columns are among the session's `strings`, and need no macro.
 */
export const answerUser = async (session: Session, tree: AstNode, isQuoted: (node: AstNode) => boolean): Promise<void> => {
  const names = new Map<string, NameMeaning>()
  const items = selectItems(tree)
  const shown = (node: AstNode, name: string) => (items.has(node) ? name : '')
  walk(tree, (node) => {
    const name = bareName(node)
    if (name !== undefined) {
      session.keep = false
      if (session.strings.has(name)) instead(node, isQuoted(node) ? spelling(node) : session.account, shown(node, spelling(node)))
      else names.set(name, meaningOf(names.get(name) ?? session.macros.get(name), node, isQuoted(node)))
      // DuckDB would read the name as the alias of the same item, whose expression it does not know yet.
      if (isColumnRef(node) && textOf(node, 'alias').toLowerCase() === name) node['alias'] = ''
    }
    if (!isCall(node)) return true
    instead(node, session.account, shown(node, textOf(node, 'function_name')))
    session.keep = false
    return false
  })
  if (names.size === 0) return
  for (const [name, meaning] of names) session.macros.set(name, meaning)
  await defineMacros(session)
}

/**
 * Makes the macros that a session needs, in the current transaction. They end with the transaction, so a text from memory would run without
 * them. A macro that must not answer has a parameter, for which no statement gives a value.
 */
export const defineMacros = async ({ connection, account, macros }: Pick<Session, 'connection' | 'account' | 'macros'>): Promise<void> => {
  for (const [name, meaning] of macros) {
    const body = meaning === 'either' ? '(nothing) AS nothing' : `() AS ${quoteText(meaning === 'text' ? name : account)}`
    await runOwn(connection, `CREATE OR REPLACE TEMP MACRO ${quoteName(name)}${body}`)
  }
}

/**
 * The name of a DuckDB error that is no column and has no usable macro: the name means several things, or an item of the same list has that
 * name, as in `SELECT user, user()`.
 */
export const undecidedName = (error: unknown): string | undefined => {
  const { kind, message } = readDuckDBError(error instanceof RunError ? error.cause : error)
  if (kind !== 'Binder') return undefined
  const said = /^Macro (\w+)\(\) does not support|^Column "(\w+)" referenced that exists in the SELECT clause/.exec(message)
  const name = (said?.[1] ?? said?.[2] ?? '').toLowerCase()
  return bare.has(name) ? name : undefined
}
