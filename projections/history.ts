import { eventTypesOf, pluralOf, type EventType, type Kind } from '../events/catalogue/catalogue.js'
import { inList, type Projection } from './contract/projection.js'

/** One column of a history table. */
export type HistoryColumn = {
  type: string
  /**
   * The value that a row of `batch` assigns to the column, as JSON: SQL NULL keeps the last value, JSON `null` sets NULL. Default
   * `data->'$.<column>'`.
   */
  assigns?: string
}

export type History = {
  name: string
  /** The first event of a lifetime: it assigns every column. */
  begins: EventType
  changes: readonly EventType[]
  ends: readonly EventType[]
  /** Identifies the rows of one stream, such as the versions of a model; a column of `steps`. */
  part?: { name: string; type: string }
  columns: Readonly<Record<string, HistoryColumn>>
  /** The events to follow, if the batch's rows of the types above are not enough. */
  steps?: string
}

/** Names are compared without case, through every view and join on the column. */
export const nameColumn: HistoryColumn = { type: 'VARCHAR COLLATE NOCASE' }
export const textColumn: HistoryColumn = { type: 'VARCHAR' }
export const jsonColumn: HistoryColumn = { type: 'JSON' }

const indented = (lines: readonly string[]) => lines.join(',\n      ')

const tableOf = ({ name, part, columns }: History) => `
    CREATE TABLE ledger.${name}_history (
      stream VARCHAR NOT NULL,${part ? ` ${part.name} ${part.type} NOT NULL,` : ''} id BIGINT NOT NULL,
      ${indented(Object.entries(columns).map(([column, { type }]) => `${column} ${type}`))},
      valid_from BIGINT NOT NULL, valid_to BIGINT, created_at TIMESTAMP NOT NULL, changed_at TIMESTAMP NOT NULL,
      changed_by VARCHAR NOT NULL, change VARCHAR NOT NULL, request VARCHAR
    )`

/**
 * The state of the resource after each event. Values are JSON here, so that "not named by this event" (NULL) and "set to null" (JSON null)
 * differ: a fold has the last value that is not NULL. The open row is a step without a change. Between an end and the next beginning there
 * is no resource, even if other events come there.
 */
const changed = (history: History, key: string): string => {
  const { name, begins, changes, ends, columns } = history
  const types = inList([begins, ...changes, ...ends])
  const entries = Object.entries(columns)
  // The first event of a lifetime also assigns what it does not name: a field may be missing, and an earlier lifetime have had it.
  const unset = `CASE type WHEN '${begins}' THEN 'null'::JSON END`
  const assigned = entries.map(([name, column]) => `coalesce(${assignedTo(name, column)}, ${unset}) AS ${name}`)
  const kept = entries.map(([column]) => `coalesce(to_json(${column}), 'null')`)
  const last = entries.map(([column]) => `last_value(${column} IGNORE NULLS) OVER life AS ${column}`)
  return `CREATE OR REPLACE TEMP TABLE ${name}_changed AS
    WITH steps AS (
      SELECT ${key}, position, type AS change, recorded_at AS changed_at, actor AS changed_by, request, NULL AS open_row,
      CASE type WHEN '${begins}' THEN position END AS id, CASE type WHEN '${begins}' THEN recorded_at END AS created_at,
      CASE WHEN type = '${begins}' THEN true WHEN type IN ${inList(ends)} THEN false END AS alive,
      ${indented(assigned)}
      FROM ${history.steps ?? 'batch'} WHERE type IN ${types}
      UNION ALL
      SELECT ${key}, valid_from, NULL, changed_at, changed_by, request, rowid, id, created_at, true,
      ${indented(kept)}
      FROM ledger.${name}_history WHERE valid_to IS NULL AND stream IN (SELECT stream FROM batch WHERE type IN ${types} AND version > 1)
    )
    SELECT ${key}, position AS valid_from, lead(position) OVER life AS valid_to, open_row, change, changed_at, changed_by, request,
      last_value(id IGNORE NULLS) OVER life AS id, last_value(created_at IGNORE NULLS) OVER life AS created_at,
      last_value(alive IGNORE NULLS) OVER life AS alive,
      ${indented(last)}
    FROM steps WINDOW life AS (PARTITION BY ${key} ORDER BY position ROWS UNBOUNDED PRECEDING)`
}

/** The value that an event assigns to a column, as JSON. */
const assignedTo = (column: string, { assigns }: HistoryColumn): string => assigns ?? `data->'$.${column}'`

/** A JSON value, converted to the type of its column. */
const held = (value: string, { type }: HistoryColumn): string => (type === 'JSON' ? `nullif(${value}, 'null')` : `(${value})->>'$'`)

/** Closes the open rows that have a later event. */
const close = ({ name }: History): string =>
  `UPDATE ledger.${name}_history AS h SET valid_to = c.valid_to FROM ${name}_changed AS c WHERE h.rowid = c.open_row AND c.valid_to IS NOT NULL`

/** Adds the new rows. An end adds none: it only closes the row before it. */
const follow = ({ name, columns }: History, key: string): string => {
  const values = Object.entries(columns).map(([name, column]) => held(name, column))
  return `INSERT INTO ledger.${name}_history
    SELECT ${key}, id,
      ${indented(values)},
      valid_from, valid_to, created_at, changed_at, changed_by, change, request
    FROM ${name}_changed WHERE change IS NOT NULL AND alive`
}

/** The rows for a batch in which lifetimes only begin: such a row has no row before it, and none after it. */
const beginning = ({ name, begins, columns }: History): string => `INSERT INTO ledger.${name}_history
    SELECT stream, position,
      ${indented(Object.entries(columns).map(([column, of]) => held(assignedTo(column, of), of)))},
      position, NULL, recorded_at, recorded_at, actor, type, request
    FROM batch WHERE type = '${begins}'`

/**
 * A resource with its whole history: a row holds from position `valid_from` up to, not including, `valid_to` (NULL: still). A batch of any
 * size takes three statements; a batch that only has beginnings takes one. The state at every position equals the fold by `evolve`.
 *
 * @example history({ name: 'skills', begins: 'SkillCreated', changes: ['SkillUpdated'], ends: ['SkillDeleted'], columns: { type: textColumn } })
 */
export const history = (of: History): Projection => {
  const key = of.part ? `stream, ${of.part.name}` : 'stream'
  return {
    name: of.name,
    canHandle: [of.begins, ...of.changes, ...of.ends],
    init: tableOf(of),
    evolve: [changed(of, key), close(of), follow(of, key)],
    ...(!of.part && !of.steps && { begin: { type: of.begins, evolve: [beginning(of)] } }),
  }
}

const bounds = /(?:Created|Deleted)$/

/**
 * The history of a kind of resource that begins with its event …Created, ends with its event …Deleted, and is changed by the others.
 *
 * @example historyOf('skill', { name: nameColumn, type: textColumn }) // into the table skills_history
 */
export const historyOf = (kind: Kind, columns: History['columns'], changes?: readonly EventType[]): Projection => {
  const types = eventTypesOf(kind)
  const [begins, ends] = ['Created', 'Deleted'].map((bound) => types.find((type) => type.endsWith(bound)))
  if (!begins || !ends) throw new TypeError(`a ${kind} has no event that begins it, or none that ends it`)
  return history({ name: pluralOf(kind), begins, changes: changes ?? types.filter((type) => !bounds.test(type)), ends: [ends], columns })
}
