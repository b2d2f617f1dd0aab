import type { DuckDBConnection } from '@duckdb/node-api'
import { foldName } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { cloneAst, type AstNode } from '../ast/json.js'
import {
  aliased,
  become,
  columnRef,
  emptyRef,
  isQuery,
  nodeOf,
  nodesOf,
  nullConstant,
  selectNode,
  subqueryRef,
  textOf,
  textsOf,
  walk,
} from '../ast/nodes.js'
import { similarName } from '../../../dialect/names.js'
import type { Leaf, Scope } from '../session/scope.js'
import { RunError } from '../session/sources.js'
import { describe } from '../session/describe.js'
import { modelColumns } from './outputs.js'
import type { ModelUse } from './references.js'

/** The parts of a FROM that `*` shows, in the order of the text. A leaf without an alias is a join of several tables. */
export type StarPart = { kind: 'leaf'; leaf: Leaf } | { kind: 'model'; use: ModelUse }

/** A star over the parts of a FROM, and the added columns of tables that the query did not ask for. */
type Stars = { connection: DuckDBConnection; scope: Scope; shown: readonly StarPart[]; reserved: readonly string[] }

const isStar = (node: AstNode) => textOf(node, 'class') === 'STAR'
const aliasOfPart = (part: StarPart): string => (part.kind === 'leaf' ? part.leaf.alias : part.use.alias)
const columnsOf = (part: StarPart): string[] =>
  part.kind === 'leaf' ? part.leaf.columns.map(({ name }) => name) : modelColumns(part.use.bound)

const named = (part: StarPart, name: string): boolean => columnsOf(part).some((column) => foldName(column) === foldName(name))

/** `t.a` in EXCLUDE and RENAME; a name without a table matches any table. */
const isOf = (part: StarPart, key: AstNode): boolean => {
  const table = textOf(key, 'table')
  const isTable = table === '' || aliasOfPart(part) === '' || foldName(aliasOfPart(part)) === foldName(table)
  return isTable && named(part, textOf(key, 'column'))
}

const keyOf = (entry: AstNode): AstNode => nodeOf(entry, 'key') ?? {}

const leafStar = (part: StarPart & { kind: 'leaf' }, node: AstNode, reserved: readonly string[]): AstNode[] => [
  {
    ...node,
    relation_name: part.leaf.alias,
    exclude_list: [...textsOf(node, 'exclude_list').filter((name) => named(part, name)), ...reserved],
    qualified_exclude_list: nodesOf(node, 'qualified_exclude_list').filter((key) => isOf(part, key)),
    replace_list: nodesOf(node, 'replace_list').filter((entry) => named(part, textOf(entry, 'key'))),
    rename_list: nodesOf(node, 'rename_list').filter((entry) => isOf(part, keyOf(entry))),
  },
]

const modelStar = (part: StarPart & { kind: 'model' }, node: AstNode): AstNode[] => {
  const same = (column: string) => (name: string) => foldName(name) === foldName(column)
  return columnsOf(part).flatMap((column) => {
    const isExcluded =
      textsOf(node, 'exclude_list').some(same(column)) ||
      nodesOf(node, 'qualified_exclude_list').some((key) => isOf(part, key) && same(column)(textOf(key, 'column')))
    if (isExcluded) return []
    const replaced = nodesOf(node, 'replace_list').find((entry) => same(column)(textOf(entry, 'key')))
    const renamed = nodesOf(node, 'rename_list').find((entry) => isOf(part, keyOf(entry)) && same(column)(textOf(keyOf(entry), 'column')))
    const value = replaced ? cloneAst(nodeOf(replaced, 'value') ?? {}) : columnRef(part.use.alias, column)
    return [aliased(renamed ? textOf(renamed, 'value') : column, value)]
  })
}

/** The names in EXCLUDE, REPLACE and RENAME must exist, as in a query without a model. */
const checkNames = (node: AstNode, parts: readonly StarPart[]): void => {
  const names = [
    ...textsOf(node, 'exclude_list'),
    ...nodesOf(node, 'qualified_exclude_list').map((key) => textOf(key, 'column')),
    ...nodesOf(node, 'replace_list').map((entry) => textOf(entry, 'key')),
    ...nodesOf(node, 'rename_list').map((entry) => textOf(keyOf(entry), 'column')),
  ]
  const missing = names.find((name) => !parts.some((part) => named(part, name)))
  if (missing === undefined) return
  const like = similarName(missing, parts.flatMap(columnsOf))
  throw new Problem('bad_statement', 'No such column', `Column ${missing} is not among those of *`, {
    ...(like !== undefined && { hint: `Did you mean ${like}?` }),
  })
}

const partsUnder = (node: AstNode, shown: readonly StarPart[]): StarPart[] => {
  const relation = foldName(textOf(node, 'relation_name'))
  return shown.filter((part) => relation === '' || foldName(aliasOfPart(part)) === relation)
}

const plainStar = ({ shown, reserved }: Stars, node: AstNode): AstNode[] => {
  const parts = partsUnder(node, shown)
  if (parts.length === 0) return [node]
  checkNames(node, parts)
  return parts.flatMap((part) => (part.kind === 'leaf' ? leafStar(part, cloneAst(node), reserved) : modelStar(part, node)))
}

/** The names that DuckDB gives an item over a table with the columns of a part; none if its pattern matches none of them. */
const namesOver = async ({ connection, scope }: Stars, part: StarPart, item: AstNode): Promise<string[]> => {
  const unique = [...new Map(columnsOf(part).map((name) => [foldName(name), name])).values()]
  const table = subqueryRef(
    selectNode(
      unique.map((name) => aliased(name, nullConstant())),
      emptyRef(),
    ),
    'ledger_columns',
  )
  const own = cloneAst(item)
  walk(own, (node) => {
    if (isStar(node)) node['relation_name'] = ''
    return true
  })
  try {
    return (await describe(connection, table, scope, [own])).map(({ name }) => name)
  } catch (error) {
    const cause: unknown = error instanceof RunError ? error.cause : error
    if (/No matching columns|empty set of columns/.test(String(Reflect.get(Object(cause), 'message')))) return []
    throw error
  }
}

const patternsIn = (item: AstNode): AstNode[] => {
  const found: AstNode[] = []
  walk(item, (node) => {
    if (textOf(node, 'type') === 'OPERATOR_UNPACK')
      throw new Problem('refused_statement', '*COLUMNS is not allowed here', '*COLUMNS(…) is not allowed beside a model', {
        hint: 'Name the columns.',
      })
    // `* LIKE 'a%'` is written as a comparison of a star.
    const [first] = nodesOf(node, 'children')
    const isLike = node === item && first && isStar(first) && first['columns'] !== true && node['is_operator'] === true
    const isPattern = isLike === true || (isStar(node) && node['columns'] === true)
    if (isPattern) found.push(node)
    return !isPattern && !isQuery(node)
  })
  return found
}

/** `COLUMNS('…') + 1`: the item once for each column that matches. */
const expandPattern = async (stars: Stars, item: AstNode, pattern: AstNode): Promise<AstNode[]> => {
  const starOf = isStar(pattern) ? pattern : (nodesOf(pattern, 'children')[0] ?? pattern)
  const made: AstNode[] = []
  for (const part of partsUnder(starOf, stars.shown)) {
    const sources = await namesOver(stars, part, aliased('', pattern))
    const names = await namesOver(stars, part, item)
    for (const [index, source] of sources.entries()) {
      const column = columnRef(...[aliasOfPart(part), source].filter((name) => name !== ''))
      const copy = cloneAst(item)
      for (const place of patternsIn(copy)) become(place, cloneAst(column))
      made.push(aliased(names[index] ?? source, copy))
    }
  }
  if (made.length > 0) return made
  throw new Problem('bad_statement', 'No such column', 'No column of the tables and models fits COLUMNS(…)', {
    hint: `There are ${[...new Set(stars.shown.flatMap(columnsOf))].join(', ')}.`,
  })
}

const refusePatterns = (select: AstNode): void => {
  for (const key of ['where_clause', 'having', 'qualify']) {
    const part = nodeOf(select, key)
    if (!part || patternsIn(part).length === 0) continue
    throw new Problem('refused_statement', 'COLUMNS is not allowed here', 'COLUMNS(…) is not allowed in a condition beside a model', {
      hint: 'Name the columns, or write the condition around a subquery.',
    })
  }
}

/**
 * Replaces `*`, `m.*` and COLUMNS(…) with the columns themselves, since a model is no table; `reserved` has the columns that this service
 * added.
 */
export const expandStars = async (
  connection: DuckDBConnection,
  select: AstNode,
  shown: readonly StarPart[],
  reserved: readonly string[],
  scope: Scope,
): Promise<void> => {
  const stars = { connection, scope, shown, reserved }
  refusePatterns(select)
  const items: AstNode[] = []
  for (const item of nodesOf(select, 'select_list')) {
    const [pattern] = patternsIn(item)
    if (pattern) items.push(...(await expandPattern(stars, item, pattern)))
    else items.push(...(isStar(item) ? plainStar(stars, item) : [item]))
  }
  select['select_list'] = items
}
