import { foldName } from '../../../../events/common.js'
import { limits } from '../../../basics/limits.js'
import type { Filter, Scan, TableColumn } from '../../../connections/contract/requests.js'
import { dialectOf } from '../../../connections/pushdown/dialects.js'
import { canAggregate, namesIn, shortEnough } from '../../../connections/pushdown/can-push.js'
import { conjuncts, equality, isTrue } from '../ast/conditions.js'
import type { AstNode } from '../ast/json.js'
import { become, columnRef, isColumnRef, isEmpty, listOf, nodeOf, nodesOf, textOf, textsOf, walk } from '../ast/nodes.js'
import type { ConnectedTable } from '../resolve/resolve.js'
import { aliasOf } from '../session/describe.js'
import type { Session } from '../session/session.js'
import { atPlace } from '../session/sources.js'
import { groupedIn, hasAggregates, partsBehind } from './aggregates.js'
import { filterOf } from './pushed-conditions.js'
import { columnsOf, type FindColumn } from './find-column.js'
import { findTable, type FoundTable } from './find-table.js'
import { foldTimes, namesWord, type FoldedTimes } from './fold-times.js'
import { fetchScan, placeOf, type FetchedRows, type Use } from './plan-scan.js'

/** A table of a FROM, and the conditions of its join with the tables before it, including those of USING. */
type Step = { ref: AstNode; isLeft: boolean; using: readonly string[]; conditions: readonly AstNode[] }

/** The tables of a FROM that joins them one after the other; undefined if it joins them in another way. */
const stepsOf = (from: AstNode): Step[] | undefined => {
  if (!isEmpty(from, 'sample') || listOf(from, 'column_name_alias').length > 0) return undefined
  if (textOf(from, 'type') !== 'JOIN') return [{ ref: from, isLeft: false, using: [], conditions: [] }]
  const [left, right, kind] = [nodeOf(from, 'left'), nodeOf(from, 'right'), textOf(from, 'join_type')]
  if (!left || !right || textOf(right, 'type') === 'JOIN' || textOf(from, 'alias') !== '') return undefined
  if (!['INNER', 'LEFT'].includes(kind) || !['REGULAR', 'CROSS'].includes(textOf(from, 'ref_type'))) return undefined
  const [before, own] = [stepsOf(left), stepsOf(right)]
  if (!before || !own) return undefined
  const using = textsOf(from, 'using_columns')
  const shared = using.map((name) => ({ type: 'COMPARE_EQUAL', left: columnRef(name), right: columnRef(aliasOf(right), name) }))
  const conditions = [...shared, ...conjuncts(nodeOf(from, 'condition')).filter((condition) => !isTrue(condition))]
  return [...before, { ref: right, isLeft: kind === 'LEFT', using: using.map(foldName), conditions }]
}

/** A table with its columns, under their own names and under those that they have in the scan. */
type Table = Step & FoundTable & { shown: readonly TableColumn[] }

/** The tables of a FROM with their columns; undefined unless all are of one connection. */
const tablesOf = async (
  session: Session,
  steps: readonly Step[],
  connected: readonly { ref: AstNode; found: ConnectedTable }[],
): Promise<Table[] | undefined> => {
  const tables: Table[] = []
  let count = 0
  for (const step of steps) {
    const named = connected.find(({ ref }) => ref === step.ref)?.found
    const isNew = tables.every(({ ref }) => foldName(aliasOf(ref)) !== foldName(aliasOf(step.ref)))
    if (!named || !isNew || named.connection.stream !== (tables[0]?.found ?? named).connection.stream) return undefined
    const { found, columns } = await findTable(session, named).catch((error: unknown) => {
      throw atPlace(error, step.ref)
    })
    tables.push({ ...step, found, columns, shown: columns.map((column) => ({ ...column, name: `ledger_c${++count}` })) })
  }
  return tables
}

/**
 * Finds a column under its name in the scan. A name without a table must be the name of one column alone; a name of USING means the column
 * before the join.
 */
const findIn = (tables: readonly Table[]): FindColumn => {
  const finders = tables.map(({ ref, using, columns, shown }) => {
    const find = columnsOf(aliasOf(ref), columns)
    return (node: AstNode) => {
      const [name = '', more] = textsOf(node, 'column_names')
      const column = more === undefined && using.includes(foldName(name)) ? undefined : find(node)
      return column ? (shown[columns.indexOf(column)] ?? []) : []
    }
  })
  return (node) => {
    const [found, other] = finders.flatMap((find) => find(node))
    return other ? undefined : found
  }
}

type Pair = readonly [string, string]

/**
 * The equal columns of each join, and the filters on its rows; undefined when a condition is something else. The conditions of an inner
 * join mean the same in WHERE; those of a LEFT JOIN do not.
 */
const conditionsOf = (
  tables: readonly Table[],
  where: readonly AstNode[],
  find: FindColumn,
  times: FoldedTimes,
): { on: readonly Pair[][]; filters: Filter[] } | undefined => {
  const placeOf = (column: TableColumn) => tables.findIndex(({ shown }) => shown.includes(column))
  const on: Pair[][] = tables.map(() => [])
  const filters: Filter[] = []
  const take = (condition: AstNode, ofLeft?: number): boolean => {
    const [left, right] = equality(condition)?.map(find) ?? []
    if (left && right) {
      const [first = 0, last = 0] = [placeOf(left), placeOf(right)].sort((a, b) => a - b)
      on[last]?.push([left.name, right.name])
      return first < last && (tables[last]?.isLeft ? last : undefined) === ofLeft
    }
    const filter = ofLeft === undefined ? filterOf({ find, times }, condition) : undefined
    if (filter) filters.push(filter)
    return filter !== undefined
  }
  const isKnown =
    where.every((condition) => take(condition)) &&
    tables.every(({ isLeft, conditions }, i) => conditions.every((condition) => take(condition, isLeft ? i : undefined)))
  return isKnown ? { on, filters } : undefined
}

/** The names of columns that a query has outside of its FROM and WHERE: in its list, and behind that. */
const namesOutside = (select: AstNode): { node: AstNode; item: AstNode | undefined }[] => {
  const items = nodesOf(select, 'select_list')
  const namesOf = (part: AstNode, isBehind: boolean) => {
    const names: { node: AstNode; item: AstNode | undefined }[] = []
    walk(part, (node) => {
      const [name = '', more] = isBehind && isColumnRef(node) ? textsOf(node, 'column_names') : []
      const isAlias = (item: AstNode) => more === undefined && name !== '' && foldName(textOf(item, 'alias')) === foldName(name)
      if (isColumnRef(node)) names.push({ node, item: items.find(isAlias) })
      return true
    })
    return names
  }
  return [...items.flatMap((item) => namesOf(item, false)), ...partsBehind(select).flatMap((part) => namesOf(part, true))]
}

/** A join that is fetched with its groups: the FROM that its rows replace, and its name for users. */
export type FetchedJoin = { from: AstNode; name: string; fetch: () => Promise<FetchedRows> }

/**
 * Plans to fetch the groups of a join instead of the rows of each table. Undefined unless a query joins tables of one connection alone, by
 * equal columns, and the database computes the same groups and aggregates.
 *
 * @example await planJoin(session, connected, use) // SELECT h.place, count(*) FROM db.homes AS h JOIN db.offers AS o ON o.home = h.id GROUP BY 1
 * @throws Problem of the connection
 */
export const planJoin = async (
  session: Session,
  connected: readonly { ref: AstNode; found: ConnectedTable }[],
  { select, keepsRows }: Use,
): Promise<FetchedJoin | undefined> => {
  const from = nodeOf(select, 'from_table')
  const isJoin = connected.length > 1 && connected.length <= limits.connectionJoinMaxTables
  // Only a query of groups needs the columns of all its tables.
  const mayFetch = isJoin && !keepsRows && !session.knowsAll && hasAggregates(select)
  const steps = from && mayFetch ? stepsOf(from) : undefined
  const tables = steps && (await tablesOf(session, steps, connected))
  const [first, ...others] = tables ?? []
  if (!from || !tables || !first || others.length === 0) return undefined
  const find = findIn(tables)
  const grouped = groupedIn(select, find)
  const names = namesOutside(select)
  // The name may mean the alias in one clause, and the column in another.
  const isClear = names.every(({ node, item }) => !item || !find(node) || find(node) === find(item))
  if (!grouped || !isClear) return undefined
  const times = await foldTimes(session, select, !tables.some(({ columns }) => namesWord(columns)))
  const conditions = conditionsOf(tables, conjuncts(nodeOf(select, 'where_clause')), find, times)
  if (!conditions) return undefined
  const { on, filters } = conditions
  const { groups, aggregates } = grouped
  const used = new Set([...groups, ...aggregates.map(({ column }) => column), ...on.flat(2), ...filters.flatMap(namesIn)])
  const sources = tables.flatMap(({ columns, shown }, of) => shown.map(({ name: as }, i) => ({ of, column: columns[i]?.name ?? '', as })))
  const scan: Scan = {
    ...placeOf(first.found),
    columns: groups,
    aggregates,
    ...(filters.length > 0 && { filters }),
    join: {
      tables: others.map(({ found, isLeft }, i) => ({ ...placeOf(found), isLeft, on: on[i + 1] ?? [] })),
      columns: sources.filter(({ as }) => used.has(as)),
    },
  }
  const { connection } = first.found
  const shown = tables.flatMap((table) => table.shown)
  const dialect = dialectOf(connection.engine)
  if (shortEnough(filters, dialect).length < filters.length || !canAggregate(scan, shown, dialect)) return undefined
  const apply = () => {
    const items = nodesOf(select, 'select_list')
    const written = new Map(sources.map(({ column, as }) => [as, column]))
    for (const { node, item } of names) {
      const column = item ? undefined : find(node)
      if (!column) continue
      const alias = textOf(node, 'alias') || (items.includes(node) ? (written.get(column.name) ?? '') : '')
      become(node, { ...columnRef(column.name), alias })
    }
    grouped.apply()
  }
  return {
    from,
    name: tables.map(({ found }) => `${found.connection.name}.${found.table}`).join(' JOIN '),
    fetch: () => {
      session.answers.isNarrowed = true
      apply()
      return fetchScan(session, connection, scan, shown)
    },
  }
}
