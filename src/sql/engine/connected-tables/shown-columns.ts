import { foldName } from '../../../../events/common.js'
import { named } from '../../../dialect/names.js'
import type { Filter, TableColumn } from '../../../connections/contract/requests.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, isEmpty, isLiteral, nodesOf, showsEachRow, textOf, textsOf } from '../ast/nodes.js'

/** The columns of a query over one table under the names in its answer (`columns`), and the table's own name of each (`sources`). */
export type ShownColumns = { columns: readonly TableColumn[]; sources: ReadonlyMap<string, string>; isStar: boolean }

/** Whether an item is `*` or `t.*` without EXCLUDE or the like. */
export const isPureStar = (item: AstNode): boolean =>
  textOf(item, 'class') === 'STAR' && Object.keys(item).every((key) => !/_list$|^expr$/.test(key) || isEmpty(item, key))

/**
 * The columns that a query shows of its only table, if each of its rows is a row of the table. A filter on the query then becomes a filter
 * on the table. Undefined for any other query.
 *
 * @example shownColumns(tree, 't', columns) // of SELECT t.size AS area FROM db.homes AS t: { columns: [area], sources: { area → size } }
 */
export const shownColumns = (select: AstNode, alias: string, columns: readonly TableColumn[]): ShownColumns | undefined => {
  const isOrdered = nodesOf(select, 'modifiers').every((modifier) => textOf(modifier, 'type') === 'ORDER_MODIFIER')
  if (!showsEachRow(select) || !isOrdered) return undefined
  const shown: TableColumn[] = []
  const sources = new Map<string, string>()
  const names = new Set<string>()
  // DuckDB renames the second of two columns with one name.
  const isNew = (name: string): boolean => {
    const before = names.size
    return names.add(foldName(name)).size > before
  }
  const show = (name: string, column: TableColumn): boolean => {
    if (!isNew(name)) return false
    sources.set(foldName(name), column.name)
    shown.push({ ...column, name })
    return true
  }
  const items = nodesOf(select, 'select_list')
  const isKnown = items.every((item) => {
    if (isLiteral(item)) return isNew(textOf(item, 'alias'))
    if (isPureStar(item)) return columns.every((column) => show(column.name, column))
    if (!isColumnRef(item)) return false
    const path = textsOf(item, 'column_names')
    const isOwn = path.length === 1 || (path.length === 2 && foldName(path[0] ?? '') === foldName(alias))
    const column = isOwn ? named(columns, path.at(-1) ?? '') : undefined
    return column !== undefined && show(textOf(item, 'alias') || column.name, column)
  })
  return isKnown ? { columns: shown, sources, isStar: items.some(isPureStar) } : undefined
}

/** Translates a filter on the columns that a query shows into a filter on the columns of its table. */
export const renamed = (filter: Filter, sources: ShownColumns['sources']): Filter => {
  const source = (name: string) => sources.get(foldName(name)) ?? name
  if ('and' in filter) return { and: filter.and.map((each) => renamed(each, sources)) }
  if ('or' in filter) return { or: filter.or.map((each) => renamed(each, sources)) }
  if ('not' in filter) return { not: renamed(filter.not, sources) }
  if ('isNull' in filter) return { isNull: source(filter.isNull) }
  if ('isNotNull' in filter) return { isNotNull: source(filter.isNotNull) }
  return { ...filter, column: source(filter.column) }
}
