/** A column that SQL offers: its name in the case that answers show, its type, and one sentence about it. */
export type Column = { name: string; type: string; about: string }

/**
 * A table that SQL offers, as one whole statement over the ledger's tables.
 * `$position` stands for the log position to see, `$project` for the stream of a project or NULL for all of them.
 * With `ofViews`, `$views` stands for the columns of all views as JSON text; with `live`, `$projections` for how they stand now.
 */
export type Relation = {
  name: string
  about: string
  kind: 'BASE TABLE' | 'SYSTEM VIEW'
  columns: readonly Column[]
  sql: string
  ofViews?: true
  live?: true
}

/** `column('NAME', 'VARCHAR', 'Name of the skill.')` */
export const column = (name: string, type: string, about: string): Column => ({ name, type, about })

/** The project of what a project holds. */
export const projectColumn = column('PROJECT', 'VARCHAR', 'Project that holds it.')

/** Items for all columns in their order: expressions by name, NULL where there is none. */
export const itemsOf = (columns: readonly Column[], expressions: Readonly<Record<string, string>> = {}): string =>
  columns.map(({ name, type }) => `${expressions[name] ?? `CAST(NULL AS ${type})`} AS "${name}"`).join(', ')

/** A statement that gives no rows, with these columns. */
export const noRows = (columns: readonly Column[]): string => `SELECT ${itemsOf(columns)} WHERE false`

/** Whether a row of a history table, which the statement calls `alias`, holds at a position: `p.valid_from <= … AND …` */
export const heldAt = (alias: string, position: string): string =>
  `${alias}.valid_from <= ${position} AND (${alias}.valid_to IS NULL OR ${alias}.valid_to > ${position})`

/** The rows of a history table that hold at `$position`. */
export const at = (table: string, position = '$position'): string =>
  `(SELECT * FROM ledger.${table}_history AS h WHERE ${heldAt('h', position)})`

/** All rows of a history table up to `$position`; what ended later is still open there. */
export const upTo = (table: string): string =>
  `(SELECT * REPLACE (CASE WHEN valid_to <= $position THEN valid_to END AS valid_to) FROM ledger.${table}_history WHERE valid_from <= $position)`

/** JSON as text, with stars where a secret stands. A quote inside a JSON text is escaped, so only a real reference matches. */
export const masked = (json: string): string =>
  `regexp_replace(CAST(${json} AS VARCHAR), '\\{\\s*"\\$secret"\\s*:\\s*"[^"]*"\\s*\\}', '"******"', 'g')`

/** Text that is compared without case. */
export const nocase = (expression: string): string => `(${expression}) COLLATE NOCASE`
