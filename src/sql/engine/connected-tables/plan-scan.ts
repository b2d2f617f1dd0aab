/**
 * Room: tables of connected databases: the fetched columns and rows, and the conditions for them. It imports only events, basics, dialect,
 * connections, sql/engine/ast, sql/engine/resolve, sql/engine/session and sql/engine/models.
 */

import { foldName } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import type { Scan, TableColumn } from '../../../connections/contract/requests.js'
import { plain, type AnswerColumn } from '../../../connections/contract/types.js'
import { canAggregate, canOrder, canPush, keepsSame, shortEnough } from '../../../connections/pushdown/can-push.js'
import { printScan } from '../../../connections/pushdown/print-scan.js'
import { dialectOf } from '../../../connections/pushdown/dialects.js'
import { lex } from '../../../dialect/lexer.js'
import { named } from '../../../dialect/names.js'
import { lastPlaces } from '../../../dialect/last-places.js'
import type { AstNode } from '../ast/json.js'
import { columnRef, emptyRef, isEmpty, listOf, nodeOf, nodesOf } from '../ast/nodes.js'
import { parseSelect } from '../ast/checked-text.js'
import type { NativeStatement } from '../resolve/connections.js'
import type { ConnectedTable } from '../resolve/resolve.js'
import { leavesOf } from '../models/detach.js'
import { endBinding, UnboundNames } from '../session/binding.js'
import { aliasOf } from '../session/describe.js'
import type { Reader } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { groupedIn, type Grouping } from './aggregates.js'
import { columnsOf } from './find-column.js'
import { filtersOn } from './pushed-conditions.js'
import { findTable } from './find-table.js'
import { foldTimes, namesWord, type FoldedTimes } from './fold-times.js'
import { refuseNumberTexts } from './number-texts.js'
import { isPureStar, renamed, shownColumns, type ShownColumns } from './shown-columns.js'
import { misnamed } from './unbound-names.js'
import { usedColumns } from './used-columns.js'
import { limitOn, wantedRows, type WantedRows } from './wanted-rows.js'

/** A query that gives the rows, and the state of the table that EXPLAIN shows. */
export type FetchedRows = { query: AstNode; state: string }

const noModels: ReadonlySet<AstNode> = new Set()

/** Whether a query reads only this table, and reads it without a sample. */
const isAlone = (select: AstNode, ref: AstNode): boolean => nodeOf(select, 'from_table') === ref && isEmpty(ref, 'sample')

/**
 * A query that uses tables, and the query that reads its rows. `keepsRows` says that the rows themselves are needed, not groups of them.
 * The query names all columns that it uses, except for columns with the names `taken`, folded: its `models` and agents take these.
 */
export type Use = {
  select: AstNode
  reader: Reader | undefined
  keepsRows: boolean
  models: ReadonlySet<AstNode>
  taken: ReadonlySet<string>
}

/**
 * A use of the columns of a table, with the columns that the query shows to its reader, and the times that columns are compared with.
 * `readerTakesGroups` says that the reader may get groups instead of the query's rows.
 */
type KnownUse = Use & { shown: ShownColumns | undefined; times: FoldedTimes; readerTakesGroups: boolean }

/** The fetched data, and the change of the query that reads it. */
type FetchPlan = { scan: Scan; apply?: () => void }

/** The place of a table in a scan. */
export const placeOf = ({ table, schema }: ConnectedTable): Pick<Scan, 'schema' | 'table'> => ({
  ...(schema !== undefined && { schema }),
  table,
})

/**
 * The part of a table that a query needs. A filter is sent only if it means the same in the database. A limit, or groups instead of rows,
 * are sent only if DuckDB has nothing more to filter. A limit of ordered rows is sent with their order, if the database has the same order.
 */
const wantedOf = (found: ConnectedTable, ref: AstNode, use: KnownUse | undefined, columns: readonly TableColumn[]): FetchPlan => {
  const dialect = dialectOf(found.connection.engine)
  const place = placeOf(found)
  // If the FROM renames the columns, the new names follow the order of the columns. So all columns are fetched.
  if (!use || listOf(ref, 'column_name_alias').length > 0) return { scan: { ...place, columns: columns.map(({ name }) => name) } }
  const { select, keepsRows, models, taken, times } = use
  const narrowed = filtersOn(select, ref, columns, isSole(use, ref), times)
  const read = isAlone(select, ref) ? narrowedByReader(use, ref, columns) : undefined
  const asked = [...narrowed.filters, ...(read?.filters ?? [])]
  const filters = shortEnough(
    asked.filter((filter) => canPush(filter, columns, dialect)),
    dialect,
  )
  const where = filters.length > 0 && { filters }
  const isAll = narrowed.isAll && filters.length === asked.length && filters.every((filter) => keepsSame(filter, columns, dialect))
  const isGroupable = isAll && !keepsRows && isAlone(select, ref)
  const grouped = isGroupable
    ? (groupedIn(select, columnsOf(aliasOf(ref), columns)) ?? (read?.isAll ? groupedByReader(use) : undefined))
    : undefined
  if (grouped) {
    const scan = { ...place, columns: grouped.groups, aggregates: grouped.aggregates, ...where }
    if (canAggregate(scan, columns, dialect)) return { scan, apply: grouped.apply }
  }
  // A model may be scored in a later transaction, where now() is later.
  const rows = isAll ? (wantedRows(select, ref, columns, times.size > 0 ? noModels : models) ?? read?.rows) : undefined
  const isTaken = rows !== undefined && canOrder(rows.order ?? [], columns, dialect)
  const used = read?.used ?? usedColumns(select, aliasOf(ref), columns, taken)
  // A count needs rows, but none of their columns.
  const names = (used.length > 0 ? used : columns.slice(0, 1)).map(({ name }) => name)
  return { scan: { ...place, columns: names, ...where, ...(isTaken && rows) } }
}

/** Whether everything beside a table in its FROM is a model. Models have columns with other names. */
const isSole = ({ select, models }: Use, ref: AstNode): boolean =>
  leavesOf(nodeOf(select, 'from_table') ?? ref).every((leaf) => leaf === ref || models.has(leaf))

/** Adds the shown columns and the times to a use. The times are those that the query and its reader compare columns with. */
const knownUse = async (session: Session, use: Use, ref: AstNode, columns: readonly TableColumn[]): Promise<KnownUse> => {
  const { select, reader } = use
  const own = await foldTimes(session, select, isSole(use, ref) && !namesWord(columns))
  const shown = reader && shownColumns(select, aliasOf(ref), columns)
  if (!shown) return { ...use, shown, times: own, readerTakesGroups: false }
  const isReadAlone = isAlone(reader.select, reader.ref)
  const times = new Map([...own, ...(await foldTimes(session, reader.select, isReadAlone && !namesWord(shown.columns)))])
  // A statement with LAST also asks the rows for their highest value.
  return { ...use, shown, times, readerTakesGroups: isReadAlone && !session.last?.marks }
}

/** The rows that the reader of a query's rows shows, ordered by the columns of the table behind the query. */
const rowsForReader = ({ select, ref }: Reader, { columns, sources }: ShownColumns): WantedRows | undefined => {
  const rows = wantedRows(select, ref, columns)
  const order = rows?.order?.map((place) => ({ ...place, column: sources.get(foldName(place.column)) ?? place.column }))
  return rows && { ...rows, ...(order && { order }) }
}

/** The filters, the rows and the columns that the reader of a query's rows needs from the table behind the query. */
const narrowedByReader = ({ select, reader, shown, times }: KnownUse, ref: AstNode, columns: readonly TableColumn[]) => {
  if (!reader || !shown) return undefined
  const { filters, isAll } = filtersOn(reader.select, reader.ref, shown.columns, isAlone(reader.select, reader.ref), times)
  const isUnordered = isEmpty(select, 'modifiers')
  return {
    filters: filters.map((filter) => renamed(filter, shown.sources)),
    isAll,
    rows: isAll && isUnordered ? rowsForReader(reader, shown) : undefined,
    // A model beside the query takes its inputs by name, although the reader does not name them.
    used: shown.isStar && isAlone(reader.select, reader.ref) ? usedThrough(select, reader, ref, columns) : undefined,
  }
}

/** The groups and aggregates that the reader of a query's rows needs. `apply` makes the query show them under the names of its columns. */
const groupedByReader = ({ select, reader, shown, readerTakesGroups }: KnownUse): Grouping | undefined => {
  const grouped = reader && shown && readerTakesGroups ? groupedIn(reader.select, columnsOf(aliasOf(reader.ref), shown.columns)) : undefined
  if (!grouped || !shown) return undefined
  const { groups, aggregates } = grouped
  const source = (name: string) => shown.sources.get(foldName(name)) ?? name
  const items = [...groups.map((name) => ({ ...columnRef(source(name)), alias: name })), ...aggregates.map(({ as }) => columnRef(as))]
  return {
    groups: [...new Set(groups.map(source))],
    aggregates: aggregates.map(({ column, ...of }) => ({ ...of, ...(column !== undefined && { column: source(column) }) })),
    apply: () => {
      grouped.apply()
      Object.assign(select, { select_list: items, where_clause: null, modifiers: [] })
    },
  }
}

/** The columns behind a `*` that the query or its reader uses. */
const usedThrough = (select: AstNode, reader: Reader, ref: AstNode, columns: readonly TableColumn[]): readonly TableColumn[] => {
  const items = nodesOf(select, 'select_list').filter((item) => !isPureStar(item))
  const inside = usedColumns({ ...select, select_list: items }, aliasOf(ref), columns)
  const outside = usedColumns({ ...reader.select, from_table: emptyRef() }, aliasOf(reader.ref), columns)
  return columns.filter((column) => inside.includes(column) || outside.includes(column))
}

/** The column that a scan answers with, as far as the table tells it. */
const shapeOf = (columns: readonly TableColumn[], name: string): AnswerColumn => {
  const { type, numbers } = columns.find((column) => column.name === name) ?? { type: plain('VARCHAR') }
  return { name, type, ...(numbers && { numbers }) }
}

/**
 * Refuses a query before the rows of a table come, if it takes numbers that come as texts for texts. Beside a model or an agent, an
 * equation may give an input and compare nothing; such a query is checked when it is rewritten.
 */
const checkOf = (use: Use | undefined, ref: AstNode) => (columns: readonly AnswerColumn[]) => {
  if (use && use.models.size + use.taken.size === 0 && columns.some(({ numbers }) => numbers !== undefined))
    refuseNumberTexts(use.select, (each) => (each === ref ? columns : undefined))
}

/** The rows of a table that were fetched, in place of what was named. `state` is their line in a plan. */
export const fetchedRows = async (session: Session, table: string, state: string): Promise<FetchedRows> => ({
  query: await parseSelect(session.connection, `SELECT * FROM ${table}`),
  state,
})

/**
 * Whether the names that are no columns must be found before rows are fetched. A query with statements in other languages must not do
 * this, because finding the names would send these statements.
 */
const mustBind = ({ isPlanned, names, natives, last }: Session): boolean => !isPlanned && names === 'unbound' && !last && natives.size === 0

/**
 * Fetches the rows of a scan of these columns. A query that is only planned fetches no rows.
 *
 * @param check may refuse the columns of the answer
 * @example (await fetchScan(session, found.connection, { table: 'homes', columns: ['id'] }, columns)).state // 'sent SELECT "id" FROM "homes"'
 * @throws Problem of the connection
 */
export const fetchScan = async (
  session: Session,
  { stream, engine }: ConnectedTable['connection'],
  scan: Scan,
  columns: readonly TableColumn[],
  check?: (columns: readonly AnswerColumn[]) => void,
): Promise<FetchedRows> => {
  if (session.isPlanned) {
    const { sql, types } = printScan(scan, columns, dialectOf(engine))
    const names = [...scan.columns, ...(scan.aggregates ?? []).map(({ as }) => as)]
    const shape = names.map((name) => {
      const type = types.get(name)
      return type ? { name, type } : shapeOf(columns, name)
    })
    return fetchedRows(session, await session.answers.empty(shape), `sends ${sql}`)
  }
  const { table, sent } = await session.answers.fetch(stream, { scan }, check)
  return fetchedRows(session, table, `sent ${sent}`)
}

/**
 * Fetches the part of a connected table that a query needs: the used columns, and the rows that pass its WHERE.
 *
 * @throws UnboundNames
 */
export const fetchTable = async (session: Session, named: ConnectedTable, ref: AstNode, use: Use | undefined): Promise<FetchedRows> => {
  const { found, columns } = await findTable(session, named)
  const unbound = use && mustBind(session) ? misnamed(use.select, ref, columns) : undefined
  if (unbound && unbound.size > 0) throw new UnboundNames(unbound)
  const known = session.knowsAll || !use ? undefined : await knownUse(session, use, ref, columns)
  const { scan, apply } = wantedOf(found, ref, known, columns)
  session.answers.isNarrowed ||= scan.columns.length < columns.length
  apply?.()
  return fetchScan(session, found.connection, scan, columns, checkOf(use, ref))
}

/** A query for the highest value of a column there, or for all its values if the column has another order in that database. */
export const fetchHighest = async (session: Session, table: ConnectedTable, name: string): Promise<{ query: AstNode; column: string }> => {
  const { found, columns } = await findTable(session, table)
  const { stream, engine } = found.connection
  const column = named(columns, name)?.name ?? name
  const place = placeOf(found)
  const highest: Scan = { ...place, columns: [], aggregates: [{ function: 'max', column, as: column }] }
  const scan = canAggregate(highest, columns, dialectOf(engine)) ? highest : { ...place, columns: [column] }
  const fetched = await session.answers.fetch(stream, { scan })
  return { query: await parseSelect(session.connection, `SELECT * FROM ${fetched.table}`), column }
}

const lastInNative = (): Problem =>
  new Problem('bad_statement', 'LAST stands in a statement of another database', 'The connected database does not know LAST', {
    hint: 'Name the table instead of sending the statement: SELECT * FROM db.t AS t WHERE t.id > LAST.',
  })

/** Fetches the answer to a statement in the language of a connected database, or only its first rows if any rows are enough. */
export const fetchNative = async (
  session: Session,
  { connection, sql, isQuoted, mayWrite }: NativeStatement,
  ref: AstNode,
  use: Use | undefined,
): Promise<FetchedRows> => {
  endBinding(session)
  if (session.last && !isQuoted && lastPlaces(lex(sql)).length > 0) throw lastInNative()
  // A statement that occurs twice in the query is sent once.
  const isTwice = [...session.natives.values()].filter((one) => one.sql === sql).length > 1
  const takesAny = use && !use.keepsRows && !isTwice && isEmpty(use.select, 'where_clause')
  const upTo = takesAny ? limitOn(use.select, ref, use.models) : undefined
  const writes = mayWrite && session.mayWrite && { writes: true as const }
  const query = { native: sql, ...writes, ...(upTo !== undefined && { upTo }) }
  const { answers, isPlanned, soon } = session
  const { table, sent } = isPlanned
    ? await answers.planned(connection.stream, sql, soon)
    : await answers.fetch(connection.stream, query, checkOf(writes ? undefined : use, ref))
  return fetchedRows(session, table, `${isPlanned ? 'sends' : 'sent'} ${sent}`)
}
