import { characterSetRows, collationRows, engineRows } from '../relations/mysql.js'
import { serverVariable, serverVariables, serverVersion } from '../../dialect/server-variables.js'
import { accountOf } from '../../dialect/names.js'
import { likePattern } from './like.js'
import type { ShowStatement, ShowTarget, StatementOf, SystemItem } from '../statements/statement.js'

/** A table that needs no query to DuckDB. */
export type FixedTable = { columns: string[]; rows: (string | number | null)[][] }

export type SystemContext = { db: string; user?: string }

const status: FixedTable['rows'] = [
  ['auto_increment_increment', '1'],
  ['tx_isolation', 'REPEATABLE-READ'],
  ['tx_read_only', '0'],
]

const routineColumns =
  'Db Name Type Definer Modified Created Security_type Comment character_set_client collation_connection Database_Collation'

const spaced = (names: string): string[] => names.split(' ')
const underscored = (names: string): string[] => spaced(names).map((name) => name.replace('Database_Collation', 'Database Collation'))

/** Fixed answers: for things that this service does not have, with the columns that clients expect, and for things that never change. */
const fixed: Partial<Record<ShowTarget, FixedTable>> = {
  variables: { columns: ['Variable_name', 'Value'], rows: serverVariables.map((row) => [...row]) },
  status: { columns: ['Variable_name', 'Value'], rows: status },
  engines: { columns: spaced('Engine Support Comment Transactions XA Savepoints'), rows: engineRows.map((row) => [...row]) },
  plugins: { columns: spaced('Name Status Type Library License'), rows: [] },
  charset: { columns: ['Charset', 'Description', 'Default collation', 'Maxlen'], rows: characterSetRows.map((row) => [...row]) },
  collation: {
    columns: spaced('Collation Charset Id Default Compiled Sortlen Pad_attribute'),
    rows: collationRows.map((row) => [...row]),
  },
  warnings: { columns: spaced('Level Code Message'), rows: [] },
  errors: { columns: spaced('Level Code Message'), rows: [] },
  function_status: { columns: underscored(routineColumns), rows: [] },
  procedure_status: { columns: underscored(routineColumns), rows: [] },
  events: {
    columns: spaced('Db Name Definer Time_zone Type Execute_at Interval_value Interval_field Starts Ends Status Originator'),
    rows: [],
  },
  processlist: { columns: spaced('Id User Host db Command Time State Info'), rows: [] },
  privileges: { columns: spaced('Privilege Context Comment'), rows: [] },
  search_path: { columns: ['search_path'], rows: [['"$user", public']] },
  index: {
    columns: spaced(
      'Table Non_unique Key_name Seq_in_index Column_name Collation Cardinality Sub_part Packed Null Index_type Comment Index_comment Visible Expression',
    ),
    rows: [],
  },
}

const answerItem = ({ source, name }: SystemItem, { db, user }: SystemContext): string | number | null => {
  if (source === 'variable') return serverVariable(name).value ?? null
  switch (name) {
    case 'database':
    case 'schema':
      return db
    case 'version':
      return serverVersion
    case 'connection_id':
      return 1
    default:
      return accountOf(user)
  }
}

/**
 * The answer to a client's question about the server itself, or undefined when the answer needs a query (see `showAsSelect`).
 *
 * @example systemAnswer(parseStatement('SELECT database()'), { db: 'shop' }) // { columns: ['database'], rows: [['shop']] }
 */
export const systemAnswer = (statement: ShowStatement | StatementOf<'system_select'>, context: SystemContext): FixedTable | undefined => {
  switch (statement.kind) {
    case 'system_select':
      return {
        columns: statement.items.map(({ column }) => column),
        rows: [statement.items.map((item) => answerItem(item, context))],
      }
    case 'show': {
      const table = fixed[statement.what]
      // DuckDB evaluates a condition, unless there are no rows for it.
      if (!table || (statement.where !== null && table.rows.length > 0)) return undefined
      const { like } = statement
      if (like === null) return table
      const isLike = likePattern(like)
      return { columns: table.columns, rows: table.rows.filter(([first]) => typeof first === 'string' && isLike(first)) }
    }
  }
}

/** The fixed rows from which a SHOW with a condition selects. */
export const fixedRows = (what: ShowTarget): FixedTable | undefined => fixed[what]
