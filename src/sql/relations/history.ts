import { column, type Column, type Relation } from './relation.js'

/** What a row of a history tells beside the resource's own columns: when it held, and which events began and ended it. */
const historyColumns: readonly Column[] = [
  column('ID', 'BIGINT', 'Position of the event that created the resource; the id that REST shows.'),
  column('STREAM', 'VARCHAR', 'Stream of the resource in log.events.'),
  column('VALID_FROM', 'BIGINT', 'Log position from which the row holds: that of the event that made it.'),
  column('VALID_TO', 'BIGINT', 'Log position from which it no longer holds; empty while it does.'),
  column('CREATED_AT', 'TIMESTAMP', 'When the resource was created (UTC).'),
  column('CHANGED_AT', 'TIMESTAMP', 'When the row came to hold (UTC).'),
  column('CHANGED_BY', 'VARCHAR', 'Who did it.'),
  column('CHANGE', 'VARCHAR', 'Event that made the row.'),
  column('SOURCE', 'VARCHAR', 'How it came: rest, sql, cli or system.'),
  column('REQUEST', 'VARCHAR', 'Request that caused the event.'),
  column('CORRELATION', 'VARCHAR', 'What the request belongs to.'),
  column('CAUSATION', 'VARCHAR', 'What caused the request.'),
  column('ENDED_AT', 'TIMESTAMP', 'When the row ceased to hold (UTC); empty while it does.'),
  column('ENDED_BY', 'VARCHAR', 'Who ended it.'),
  column('ENDED_WITH', 'VARCHAR', 'Event that ended it: the next change, or the deletion.'),
]

/** Those that a resource has not already under the same name. */
export const addedColumns = (own: readonly Column[]): Column[] =>
  historyColumns.filter(({ name }) => !own.some((known) => known.name === name))

const sources: Readonly<Record<string, string>> = {
  SOURCE: 'began.source',
  CORRELATION: 'began.correlation',
  CAUSATION: 'began.causation',
  ENDED_AT: 'ended.recorded_at',
  ENDED_BY: 'ended.actor',
  ENDED_WITH: 'ended.type',
}

/** Columns of the rows `r`, to be appended to a list of items: `, r.valid_from AS "VALID_FROM", …`. */
export const addedItems = (columns: readonly Column[]): string =>
  columns.map(({ name }) => `, ${sources[name] ?? `r.${name.toLowerCase()}`} AS "${name}"`).join('')

/** Joins the rows `r` to the events that began and ended them. */
export const joinedEvents = `
    LEFT JOIN ledger.events AS began ON began.position = r.valid_from
    LEFT JOIN ledger.events AS ended ON ended.position = r.valid_to`

/**
 * A table with every state there ever was: `items` gives its own columns of the rows `r` and of what `joins` adds, and what every history tells follows.
 *
 * @example history({ name: 'config_history', about, kind: 'BASE TABLE', columns, items: 'r.name AS "NAME"', rows: upTo('configs') })
 */
export const history = ({
  items,
  rows,
  columns,
  joins = '',
  ...relation
}: Omit<Relation, 'sql'> & { items: string; rows: string; joins?: string }): Relation => {
  const added = addedColumns(columns)
  return {
    ...relation,
    columns: [...columns, ...added],
    sql: `SELECT ${items}${addedItems(added)} FROM ${rows} AS r${joinedEvents} ${joins} ORDER BY r.id, r.valid_from`,
  }
}
