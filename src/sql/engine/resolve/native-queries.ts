import type { AstNode } from '../ast/json.js'
import { become, listOf, nodeOf, nodesOf, subqueryRef, textOf, walk } from '../ast/nodes.js'
import type { Token } from '../../../dialect/lexer.js'
import { quoteText } from '../../../dialect/strings.js'
import { closingBracket, isNameLike, isSymbol, isWord } from '../../../dialect/tokens.js'

/** The token places of `FROM db (SELECT …)`: the name, and the bracket that closes the query. */
export type NativeQuery = { database: string; name: number; close: number }

/** The name of a native query between its text and its tree. */
const marker = 'ledger_native_query'

/** LATERAL before a bracket is no database: `FROM LATERAL (SELECT …)` is a table. */
const mayBeDatabase = (token: Token | undefined): boolean => isNameLike(token) && !isWord(token, 'LATERAL')

/** Finds `FROM db (SELECT …)` and `JOIN db (SELECT …)`. Clients send these forms to run a query in another database. */
export const nativeQueries = (tokens: readonly Token[]): NativeQuery[] =>
  tokens.flatMap((token, i) => {
    const opens = mayBeDatabase(token) && isWord(tokens[i - 1], 'FROM', 'JOIN') && isSymbol(tokens[i + 1], '(')
    if (!opens || !isWord(tokens[i + 2], 'SELECT', 'WITH', 'VALUES', 'FROM')) return []
    const close = closingBracket(tokens, i + 1)
    return close === undefined ? [] : [{ database: token.value, name: i, close }]
  })

/** The spelling of the tokens around native queries that lets DuckDB read them as a function over a query. */
export const nativeSpelling = (queries: readonly NativeQuery[]): { instead: Map<number, string>; after: Map<number, string> } => ({
  instead: new Map(queries.map(({ database, name }) => [name, `${marker}(${quoteText(database)},`])),
  after: new Map(queries.map(({ close }) => [close, ')'])),
})

/** The database of a table in a FROM that contains a native query, or undefined. */
export const nativeDatabase = (ref: AstNode): string | undefined => {
  const database = ref[marker]
  return typeof database === 'string' ? database : undefined
}

/** Turns native queries into subqueries again, each marked with its database. `nativeDatabase` reads the mark, `forget` removes it. */
export const markNativeQueries = (tree: AstNode): void =>
  walk(tree, (node) => {
    const made = textOf(node, 'type') === 'TABLE_FUNCTION' ? nodeOf(node, 'function') : undefined
    if (!made || textOf(made, 'function_name') !== marker) return true
    const [database, query] = nodesOf(made, 'children')
    const inner = query && nodeOf(nodeOf(query, 'subquery') ?? {}, 'node')
    const name = database && nodeOf(database, 'value')?.['value']
    if (!inner || typeof name !== 'string') return true
    become(node, {
      ...subqueryRef(inner, textOf(node, 'alias'), listOf(node, 'column_name_alias'), node['sample'] ?? null),
      [marker]: name,
    })
    return true
  })

/** Removes the mark, because DuckDB does not know it. */
export const forgetNativeQuery = (ref: AstNode): void => {
  Reflect.deleteProperty(ref, marker)
}
