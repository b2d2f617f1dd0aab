/**
 * Room: tables of connected databases: the fetched columns and rows, and the conditions for them. It imports events, basics, dialect,
 * connections, sql/engine/ast, sql/engine/resolve, sql/engine/session and sql/engine/models alone.
 */

import { Problem } from '../../../basics/errors.js'
import type { Scan, TableColumn } from '../../../connections/contract/requests.js'
import { plain } from '../../../connections/contract/types.js'
import { canAggregate, canPush, keepsSame, printScan } from '../../../connections/pushdown/print-scan.js'
import { dialectOf } from '../../../connections/pushdown/dialects.js'
import { lex } from '../../../dialect/lexer.js'
import { named } from '../../../dialect/names.js'
import { lastPlaces } from '../../../dialect/refuse-last.js'
import type { AstNode } from '../ast/json.js'
import { conjuncts, isTrue } from '../ast/conditions.js'
import { emptyRef, isColumnRef, isLiteral, listOf, nodeOf, nodesOf, textOf, textsOf } from '../ast/nodes.js'
import { parseSelect } from '../ast/duckdb.js'
import type { NativeStatement } from '../resolve/connections.js'
import type { ConnectedTable } from '../resolve/resolve.js'
import { leavesOf } from '../models/detach.js'
import { endBinding, UnboundNames } from '../session/binding.js'
import { aliasOf } from '../session/describe.js'
import type { Reader } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { groupedIn } from './aggregates.js'
import { filtersOn } from './filters.js'
import { foldTimes, namesWord, type FoldedTimes } from './fold-times.js'
import { rowsWanted } from './limits-of-query.js'
import { isEmpty, isPureStar, renamed, shownColumns, showsEachRow, type ShownColumns } from './shown-columns.js'
import { misnamed } from './unbound-names.js'
import { usedColumns } from './used-columns.js'

/** A query that gives the rows, and how EXPLAIN tells of it. */
export type FetchedRows = { query: AstNode; state: string }

/** Whether a query reads one table, as it is. */
const isAlone = (select: AstNode, ref: AstNode): boolean => nodeOf(select, 'from_table') === ref && isEmpty(ref, 'sample')

const isPlainItem = (item: AstNode): boolean =>
  isColumnRef(item) || isLiteral(item) || (textOf(item, 'class') === 'STAR' && isEmpty(item, 'expr') && isEmpty(item, 'replace_list'))

const noModels: ReadonlySet<AstNode> = new Set()

/** Whether each row of a FROM is one of a table: there is nothing beside it, or models that are asked about each of its rows. */
const givesItsRows = (from: AstNode | undefined, ref: AstNode, models: ReadonlySet<AstNode>): boolean => {
  if (from === ref) return true
  const [left, right] = [from && nodeOf(from, 'left'), from && nodeOf(from, 'right')]
  if (!from || !left || !right || textOf(from, 'join_type') !== 'INNER' || textsOf(from, 'using_columns').length > 0) return false
  if (!['REGULAR', 'CROSS'].includes(textOf(from, 'ref_type')) || !conjuncts(nodeOf(from, 'condition')).every(isTrue)) return false
  return models.has(right) ? givesItsRows(left, ref, models) : models.has(left) && givesItsRows(right, ref, models)
}

/** How many rows of its only table a query shows, where any will do. */
const limitOn = (select: AstNode, ref: AstNode, models = noModels): number | undefined => {
  const modifiers = nodesOf(select, 'modifiers')
  const [modifier] = modifiers
  if (!modifier || modifiers.length > 1 || textOf(modifier, 'type') !== 'LIMIT_MODIFIER') return undefined
  if (!givesItsRows(nodeOf(select, 'from_table'), ref, models) || !nodesOf(select, 'select_list').every(isPlainItem)) return undefined
  return showsEachRow(select) && isEmpty(ref, 'sample') ? rowsWanted(modifier) : undefined
}

/**
 * A query that uses tables; who reads its rows; and whether these must be here, and no groups of them. The query names all that it uses,
 * but for what its `models` and agents take: columns with the names `taken`, folded.
 */
export type Use = {
  select: AstNode
  reader: Reader | undefined
  keepsRows: boolean
  models: ReadonlySet<AstNode>
  taken: ReadonlySet<string>
}

/** A use of the columns of a table, with those that the query shows to its reader, and the times that columns are compared with. */
type KnownUse = Use & { shown: ShownColumns | undefined; times: FoldedTimes }

/** The fetched data, and the change of the query that reads it. */
type FetchPlan = { scan: Scan; apply?: () => void }

/**
 * What of a table a query needs: a filter only where it means the same there; a limit, or groups instead of rows, only where nothing
 * else is left to filter.
 */
const wantedOf = (found: ConnectedTable, ref: AstNode, use: KnownUse | undefined, columns: readonly TableColumn[]): FetchPlan => {
  const dialect = dialectOf(found.connection.engine)
  const place = { ...(found.schema !== undefined && { schema: found.schema }), table: found.table }
  // Names that the FROM gives to the columns stand for their places.
  if (!use || listOf(ref, 'column_name_alias').length > 0) return { scan: { ...place, columns: columns.map(({ name }) => name) } }
  const { select, keepsRows, models, taken, times } = use
  const narrowed = filtersOn(select, ref, columns, isSole(use, ref), times)
  const read = isAlone(select, ref) ? narrowedByReader(use, ref, columns) : undefined
  const asked = [...narrowed.filters, ...(read?.filters ?? [])]
  const filters = asked.filter((filter) => canPush(filter, columns, dialect))
  const where = filters.length > 0 && { filters }
  const isAll = narrowed.isAll && filters.length === asked.length && filters.every((filter) => keepsSame(filter, columns, dialect))
  const grouped = isAll && !keepsRows && isAlone(select, ref) ? groupedIn(select, aliasOf(ref), columns) : undefined
  if (grouped) {
    const scan = { ...place, columns: grouped.groups, aggregates: grouped.aggregates, ...where }
    if (canAggregate(scan, columns, dialect)) return { scan, apply: grouped.apply }
  }
  // A model may be scored in a later transaction, in which now() is later.
  const limit = isAll ? (limitOn(select, ref, times.size > 0 ? noModels : models) ?? read?.limit) : undefined
  const used = read?.used ?? usedColumns(select, aliasOf(ref), columns, taken)
  // A count needs rows, and no column of them.
  const names = (used.length > 0 ? used : columns.slice(0, 1)).map(({ name }) => name)
  return { scan: { ...place, columns: names, ...where, ...(limit !== undefined && { limit }) } }
}

/** Whether all that stands beside a table in its FROM is models, whose columns have other names. */
const isSole = ({ select, models }: Use, ref: AstNode): boolean =>
  leavesOf(nodeOf(select, 'from_table') ?? ref).every((leaf) => leaf === ref || models.has(leaf))

/** The same with what has to be found out: the times are those that the query and its reader compare columns with. */
const knownUse = async (session: Session, use: Use, ref: AstNode, columns: readonly TableColumn[]): Promise<KnownUse> => {
  const { select, reader } = use
  const own = await foldTimes(session, select, isSole(use, ref) && !namesWord(columns))
  const shown = reader && shownColumns(select, aliasOf(ref), columns)
  if (!shown) return { ...use, shown, times: own }
  const takesWords = isAlone(reader.select, reader.ref) && !namesWord(shown.columns)
  return { ...use, shown, times: new Map([...own, ...(await foldTimes(session, reader.select, takesWords))]) }
}

/** What the reader of a query's rows needs of the table behind it. */
const narrowedByReader = ({ select, reader, shown, times }: KnownUse, ref: AstNode, columns: readonly TableColumn[]) => {
  if (!reader || !shown) return undefined
  const { filters, isAll } = filtersOn(reader.select, reader.ref, shown.columns, isAlone(reader.select, reader.ref), times)
  const isUnordered = isEmpty(select, 'modifiers')
  return {
    filters: filters.map((filter) => renamed(filter, shown.sources)),
    limit: isAll && isUnordered ? limitOn(reader.select, reader.ref) : undefined,
    // A model beside it takes its inputs by their names, which the reader need not name.
    used: shown.isStar && isAlone(reader.select, reader.ref) ? usedThrough(select, reader, ref, columns) : undefined,
  }
}

/** The columns behind a `*` that its reader uses, or the query itself. */
const usedThrough = (select: AstNode, reader: Reader, ref: AstNode, columns: readonly TableColumn[]): readonly TableColumn[] => {
  const items = nodesOf(select, 'select_list').filter((item) => !isPureStar(item))
  const inside = usedColumns({ ...select, select_list: items }, aliasOf(ref), columns)
  const outside = usedColumns({ ...reader.select, from_table: emptyRef() }, aliasOf(reader.ref), columns)
  return columns.filter((column) => inside.includes(column) || outside.includes(column))
}

const typeOf = (columns: readonly TableColumn[], name: string): TableColumn['type'] =>
  columns.find((column) => column.name === name)?.type ?? plain('VARCHAR')

const reading = async (session: Session, table: string, state: string): Promise<FetchedRows> => ({
  query: await parseSelect(session.connection, `SELECT * FROM ${table}`),
  state,
})

/** Whether a name that is no column is to be found before rows are fetched. Statements in other languages would be sent for that. */
const mustBind = ({ isPlanned, names, natives, last }: Session): boolean => !isPlanned && names === 'unbound' && !last && natives.size === 0

/**
 * Fetches what a query needs of a table of a connected database: its used columns, and rows that pass what its WHERE says of the table.
 * A query that is only planned fetches no rows.
 * @throws UnboundNames
 */
export const fetchTable = async (session: Session, found: ConnectedTable, ref: AstNode, use: Use | undefined): Promise<FetchedRows> => {
  const { stream, engine } = found.connection
  const columns = await session.answers.columnsOf(stream, found.table, found.schema)
  const unbound = use && mustBind(session) ? misnamed(use.select, ref, columns) : undefined
  if (unbound && unbound.size > 0) throw new UnboundNames(unbound)
  const known = session.knowsAll || !use ? undefined : await knownUse(session, use, ref, columns)
  const { scan, apply } = wantedOf(found, ref, known, columns)
  session.answers.isNarrowed ||= scan.columns.length < columns.length
  apply?.()
  if (session.isPlanned) {
    const { sql, types } = printScan(scan, columns, dialectOf(engine))
    const names = [...scan.columns, ...(scan.aggregates ?? []).map(({ as }) => as)]
    const shape = names.map((name) => ({ name, type: types.get(name) ?? typeOf(columns, name) }))
    return reading(session, await session.answers.empty(shape), `sends ${sql}`)
  }
  const { table, sent } = await session.answers.fetch(stream, { scan }, false)
  return reading(session, table, `sent ${sent}`)
}

/** A query of the highest value of a column there, or of all its values where its order is another one there. */
export const fetchHighest = async (
  session: Session,
  { connection: { stream, engine }, table, schema }: ConnectedTable,
  name: string,
): Promise<{ query: AstNode; column: string }> => {
  const columns = await session.answers.columnsOf(stream, table, schema)
  const column = named(columns, name)?.name ?? name
  const place = { ...(schema !== undefined && { schema }), table }
  const highest: Scan = { ...place, columns: [], aggregates: [{ function: 'max', column, as: column }] }
  const scan = canAggregate(highest, columns, dialectOf(engine)) ? highest : { ...place, columns: [column] }
  const fetched = await session.answers.fetch(stream, { scan }, false)
  return { query: await parseSelect(session.connection, `SELECT * FROM ${fetched.table}`), column }
}

const lastInNative = (): Problem =>
  new Problem('bad_statement', 'LAST stands in a statement of another database', 'The connected database does not know LAST', {
    hint: 'Name the table instead of sending the statement: SELECT * FROM db.t AS t WHERE t.id > LAST.',
  })

/** Fetches the answer to a statement in the language of a connected database, or the first of its rows where any will do. */
export const fetchNative = async (
  session: Session,
  { connection, sql, mayWrite }: NativeStatement,
  ref: AstNode,
  use: Use | undefined,
): Promise<FetchedRows> => {
  endBinding(session)
  if (session.last && lastPlaces(lex(sql)).length > 0) throw lastInNative()
  // One that stands there twice is asked once.
  const isTwice = [...session.natives.values()].filter((one) => one.sql === sql).length > 1
  const takesAny = use && !use.keepsRows && !isTwice && isEmpty(use.select, 'where_clause')
  const upTo = takesAny ? limitOn(use.select, ref, use.models) : undefined
  const query = { native: sql, ...(mayWrite && { writes: true }), ...(upTo !== undefined && { upTo }) }
  const { table, sent } = await session.answers.fetch(connection.stream, query, session.isPlanned)
  return reading(session, table, `${session.isPlanned ? 'sends' : 'sent'} ${sent}`)
}
