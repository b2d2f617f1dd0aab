import type { AstNode } from './ast/json.js'
import { become, isColumnRef, nodesOf, placeOf, textConstant, textOf, textsOf, walk } from './ast/nodes.js'
import type { Session } from './session.js'
import { quoteName, quoteText } from './strings.js'

const calls = new Set(['user', 'current_user', 'session_user', 'system_user'])

/** DuckDB calls functions by these names where they stand without brackets and are no columns. */
const bare = new Set(['user', 'current_user', 'session_user', 'current_role'])

/**
 * What clients read as the name of who asks.
 *
 * @example accountOf('ada') // 'ada@localhost'
 */
export const accountOf = (user = 'mindledger'): string => `${user}@localhost`

const isCall = (node: AstNode): boolean =>
  textOf(node, 'class') === 'FUNCTION' &&
  calls.has(textOf(node, 'function_name').toLowerCase()) &&
  textOf(node, 'schema') === '' &&
  nodesOf(node, 'children').length === 0

const bareName = (node: AstNode): string | undefined => {
  const [name = '', second] = isColumnRef(node) ? textsOf(node, 'column_names') : []
  return second === undefined && bare.has(name.toLowerCase()) ? name.toLowerCase() : undefined
}

/**
 * Lets `current_user()`, and `user` where it is no column, answer who asks and not the account inside DuckDB. Only DuckDB can
 * say what is a column, so the names without brackets get macros that come before its own.
 */
export const answerUser = async (session: Session, tree: AstNode): Promise<void> => {
  const names = new Set<string>()
  walk(tree, (node) => {
    const name = bareName(node)
    if (name !== undefined) {
      names.add(name)
      // DuckDB takes the name for the alias beside it, before it knows what that is.
      if (textOf(node, 'alias').toLowerCase() === name) node['alias'] = ''
    }
    if (!isCall(node)) return true
    become(node, { ...textConstant(session.account), ...placeOf(node), alias: textOf(node, 'alias') || textOf(node, 'function_name') })
    session.keep = false
    return false
  })
  if (names.size === 0) return
  // The macros end with the transaction, and a text from memory would run without them.
  session.keep = false
  for (const name of names) session.macros.add(name)
  await defineMacros(session)
}

/** Makes the macros that a session needs, in the transaction under way. */
export const defineMacros = async ({ connection, account, macros }: Pick<Session, 'connection' | 'account' | 'macros'>): Promise<void> => {
  for (const name of macros) await connection.run(`CREATE OR REPLACE TEMP MACRO ${quoteName(name)}() AS ${quoteText(account)}`)
}
