/** Room: the tables that SQL offers besides the users' own. It imports only events, projections, catalogue and dialect. */

/** A column of SQL: its name in the case that answers show, its type, and one sentence about it. */
export type Column = { name: string; type: string; about: string }

/**
 * A table of SQL, as one whole statement over the ledger's tables. `$position` is the log position to read, `$project` the stream of a
 * project or NULL for all projects. With `ofViews`, `$views` is the columns of all views as JSON text. With `ofConnections`, `$connections`
 * is the tables or the columns of connected databases. With `live`, `$projections` is the current status of the tables.
 */
export type Relation = {
  name: string
  about: string
  kind: 'BASE TABLE' | 'SYSTEM VIEW'
  columns: readonly Column[]
  sql: string
  ofViews?: true
  ofConnections?: 'tables' | 'columns'
  live?: true
}

/** `column('NAME', 'VARCHAR', 'Name of the skill.')` */
export const column = (name: string, type: string, about: string): Column => ({ name, type, about })

/** The project of a resource. */
export const projectColumn = column('PROJECT', 'VARCHAR', 'Project that holds the resource.')

/** Items for all columns in their order: the expression by its name, or NULL if there is none. */
export const itemsOf = (columns: readonly Column[], expressions: Readonly<Record<string, string>> = {}): string =>
  columns.map(({ name, type }) => `${expressions[name] ?? `CAST(NULL AS ${type})`} AS "${name}"`).join(', ')

/** A statement with these columns and without rows. */
export const noRows = (columns: readonly Column[]): string => `SELECT ${itemsOf(columns)} WHERE false`

/** Whether a row of a history table, with the alias `alias`, is valid at a position: `p.valid_from <= … AND …` */
export const heldAt = (alias: string, position: string): string =>
  `${alias}.valid_from <= ${position} AND (${alias}.valid_to IS NULL OR ${alias}.valid_to > ${position})`

/** The rows of a history table that are valid at `$position`. */
export const at = (table: string, position = '$position'): string =>
  `(SELECT * FROM ledger.${table}_history AS h WHERE ${heldAt('h', position)})`

/** All rows of a history table up to `$position`. A row that ended later has no end at that position. */
export const upTo = (table: string): string =>
  `(SELECT * REPLACE (CASE WHEN valid_to <= $position THEN valid_to END AS valid_to) FROM ledger.${table}_history WHERE valid_from <= $position)`

/** The version of a model `m` that answers when a request names none: the active one, or the last one while none is active. */
export const answeringVersion = `coalesce(m.active, (SELECT max(n.version) FROM ${at('model_versions')} AS n WHERE n.stream = m.stream))`

/** JSON as text, with stars instead of secrets. A quote inside a JSON text is escaped, so only a real reference matches. */
export const masked = (json: string): string =>
  `regexp_replace(CAST(${json} AS VARCHAR), '\\{\\s*"\\$secret"\\s*:\\s*"[^"]*"\\s*\\}', '"******"', 'g')`

/** Text that is compared without regard to case. */
export const nocase = (expression: string): string => `(${expression}) COLLATE NOCASE`

/** The columns of a history beside the resource's own columns: the period of validity, and the events that began and ended it. */
const historyColumns: readonly Column[] = [
  column('ID', 'BIGINT', 'Position of the event that created the resource; the id that REST shows.'),
  column('STREAM', 'VARCHAR', 'Stream of the resource in log.events.'),
  column('VALID_FROM', 'BIGINT', 'Log position from which the row is valid: the position of its event.'),
  column('VALID_TO', 'BIGINT', 'Log position from which the row is no longer valid; empty while it is valid.'),
  column('CREATED_AT', 'TIMESTAMP', 'When the resource was created (UTC).'),
  column('CHANGED_AT', 'TIMESTAMP', 'When the row became valid (UTC).'),
  column('CHANGED_BY', 'VARCHAR', 'Who caused the event that made the row.'),
  column('CHANGE', 'VARCHAR', 'Type of the event that made the row.'),
  column('SOURCE', 'VARCHAR', 'Source of the event that made the row: rest, sql, mcp, cli or system.'),
  column('REQUEST', 'VARCHAR', 'Request that caused the event that made the row.'),
  column('CORRELATION', 'VARCHAR', 'The id that related requests share.'),
  column('CAUSATION', 'VARCHAR', 'What caused the request.'),
  column('ENDED_AT', 'TIMESTAMP', 'When the row stopped being valid (UTC); empty while it is valid.'),
  column('ENDED_BY', 'VARCHAR', 'Who caused the event that ended the row.'),
  column('ENDED_WITH', 'VARCHAR', 'Type of the event that ended the row: the next change, or the deletion.'),
]

/** Those columns whose names the resource does not have already. */
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

/** Columns of the rows `r`, to be appended to a list of items: `, r.valid_from AS "VALID_FROM", …`. @param id the item ID */
export const addedItems = (columns: readonly Column[], id = 'r.id'): string =>
  columns.map(({ name }) => `, ${name === 'ID' ? id : (sources[name] ?? `r.${name.toLowerCase()}`)} AS "${name}"`).join('')

/** Joins the rows `r` with the events that began and ended them. */
export const joinedEvents = `
    LEFT JOIN ledger.events AS began ON began.position = r.valid_from
    LEFT JOIN ledger.events AS ended ON ended.position = r.valid_to`

/**
 * A table with all past and present states. `items` gives its own columns from the rows `r` and the tables of `joins`; the columns of every
 * history follow.
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

/** A kind of resource in SQL: its current state, and its whole history. */
export type ResourceRelation = {
  name: string
  table: string
  about: string
  columns: Column[]
  /** The item ID of its history, if the rows belong to parts of a resource. */
  id?: string
  /** The whole statement over some rows of the kind's table. Other kinds are joined in their state at `moment`, events by `joins`. */
  select: (rows: string, moment: string, more: string, joins: string) => string
}

/** The column NAME of a table of resources. @param what the noun in its description: 'view' */
export const nameOf = (what: string): Column => column('NAME', 'VARCHAR', `Name of the ${what}; compared without case.`)
