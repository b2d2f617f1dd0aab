import { projections as all } from '../../../projections/all.js'
import { tablesOf } from '../../../projections/contract/projection.js'
import { column, itemsOf, type Relation } from './relation.js'

export const tablesStates = ['following', 'building', 'stopped'] as const
export type TablesState = (typeof tablesStates)[number]

/** The status of the tables compared with the log: all tables follow it together, and stop together. */
export type TablesStatus = {
  state: TablesState
  /** The last position of the tables, and the last position of the log. */
  position: number
  head: number
  /** The number of rebuilds, with the time (ISO 8601, UTC) and the reason of the last one. */
  rebuilds: number
  lastRebuild: { at: string; reason: string } | null
  lastError: string | null
}

/** The status of tables that are up to date and were never rebuilt. */
export const upToDate = (position: number): TablesStatus => ({
  state: 'following',
  position,
  head: position,
  rebuilds: 0,
  lastRebuild: null,
  lastError: null,
})

const columns = [
  column('name', 'VARCHAR', 'Name of the projection.'),
  column('tables', 'VARCHAR', 'Tables of the projection, by their names in a replay.'),
  column('position', 'BIGINT', 'Last position of the log that the tables of the projection hold.'),
  column('lag', 'BIGINT', 'Number of events by which the tables are behind the log.'),
  column('rebuilds', 'BIGINT', 'Number of rebuilds of the tables.'),
  column('last_rebuilt_at', 'TIMESTAMP', 'Time of the last rebuild (UTC).'),
  column(
    'last_rebuild_reason',
    'VARCHAR',
    'Reason of the last rebuild: another release, damaged file, missing file, erasure or other rows than were added.',
  ),
  column('last_error', 'VARCHAR', 'Last reason why the tables could not follow the log, since the service started.'),
  column('state', 'VARCHAR', 'following, building or stopped.'),
]

/**
 * The rows of `log.projections` as one JSON text, which replaces `$projections`.
 *
 * @example projectionRows(status) // '[{"name":"events","tables":"ledger.events","position":7,…},…]'
 */
export const projectionRows = ({ state, position, head, rebuilds, lastRebuild, lastError }: TablesStatus): string =>
  JSON.stringify(
    all.map((projection) => ({
      ...{ name: projection.name, tables: tablesOf(projection).join(', '), position, lag: Math.max(0, head - position), rebuilds },
      ...{ last_rebuilt_at: lastRebuild?.at ?? null, last_rebuild_reason: lastRebuild?.reason ?? null, last_error: lastError, state },
    })),
  )

const shape = columns.map(({ name, type }) => `"${name}":"${type}"`).join(',')

/** The status of the updates of the tables at this moment. It does not follow from events, and needs no table. */
export const projections: Relation = {
  name: 'projections',
  about: 'Lag of each projection behind the log, with the number and reason of rebuilds of its tables.',
  kind: 'SYSTEM VIEW',
  columns,
  live: true,
  sql: `
    SELECT ${itemsOf(columns, Object.fromEntries(columns.map(({ name }) => [name, `p.${name}`])))}
    FROM (SELECT unnest(from_json($projections, '[{${shape}}]'), max_depth := 2)) AS p`,
}
