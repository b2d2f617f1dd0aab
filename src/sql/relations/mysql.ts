import { quoteText } from '../../dialect/strings.js'
import { column, noRows, type Column, type Relation } from './relation.js'

type Cells = readonly (string | number)[]

/** `typed('NAME ID:BIGINT')`: columns with a type behind a colon, VARCHAR if there is none. */
const typed = (names: string): Column[] =>
  names.split(/\s+/).map((pair) => {
    const [name = '', type = 'VARCHAR'] = pair.split(':')
    return column(name, type, "As in MySQL's own information_schema.")
  })

const cell = (value: string | number | undefined, type: string): string =>
  `CAST(${value === undefined ? 'NULL' : typeof value === 'number' ? String(value) : quoteText(value)} AS ${type})`

/** A table that MySQL clients read, with rows that never change. */
const fixed = (name: string, about: string, names: string, rows: readonly Cells[] = []): Relation => {
  const columns = typed(names)
  const selects = rows.map((row) => `SELECT ${columns.map(({ name, type }, i) => `${cell(row[i], type)} AS "${name}"`).join(', ')}`)
  return { name, about, kind: 'SYSTEM VIEW', columns, sql: selects.length > 0 ? selects.join(' UNION ALL ') : noRows(columns) }
}

export const engineRows: readonly Cells[] = [
  ['InnoDB', 'DEFAULT', 'Supports transactions, row-level locking, and foreign keys', 'YES', 'YES', 'YES'],
]

/** Name, description, default collation, and the largest number of bytes in a character. */
export const characterSetRows: readonly [name: string, description: string, collation: string, bytes: number][] = [
  ['utf8', 'UTF-8 Unicode', 'utf8_general_ci', 3],
  ['latin1', 'cp1252 West European', 'latin1_swedish_ci', 1],
  ['utf8mb4', 'UTF-8 Unicode', 'utf8mb4_general_ci', 4],
]

export const collationRows: readonly Cells[] = [
  ['utf8_general_ci', 'utf8', 33, 'Yes', 'Yes', 1, 'PAD SPACE'],
  ['latin1_swedish_ci', 'latin1', 8, 'Yes', 'Yes', 1, 'PAD SPACE'],
]

const forClients = 'kept for MySQL clients'

/** The tables of MySQL's information_schema beside SCHEMATA, TABLES and COLUMNS, which list the schemas, tables and columns. */
export const mysqlRelations: readonly Relation[] = [
  fixed('engines', `Storage engines; ${forClients}.`, 'ENGINE SUPPORT COMMENT TRANSACTIONS XA SAVEPOINTS', engineRows),
  fixed(
    'character_sets',
    `Character sets; ${forClients}: every text is UTF-8.`,
    'CHARACTER_SET_NAME DEFAULT_COLLATE_NAME DESCRIPTION MAXLEN:BIGINT',
    characterSetRows.map(([name, description, collation, bytes]) => [name, collation, description, bytes]),
  ),
  fixed(
    'collations',
    `Collations; ${forClients}.`,
    'COLLATION_NAME CHARACTER_SET_NAME ID:BIGINT IS_DEFAULT IS_COMPILED SORTLEN:BIGINT PAD_ATTRIBUTE',
    collationRows,
  ),
  fixed(
    'routines',
    `Stored procedures; ${forClients}, always empty.`,
    `SPECIFIC_NAME ROUTINE_CATALOG ROUTINE_SCHEMA ROUTINE_NAME ROUTINE_TYPE DATA_TYPE CHARACTER_MAXIMUM_LENGTH:BIGINT
    CHARACTER_OCTET_LENGTH:BIGINT NUMERIC_PRECISION:BIGINT NUMERIC_SCALE:BIGINT DATETIME_PRECISION:BIGINT CHARACTER_SET_NAME COLLATION_NAME
    DTD_IDENTIFIER ROUTINE_BODY ROUTINE_DEFINITION EXTERNAL_NAME EXTERNAL_LANGUAGE PARAMETER_STYLE IS_DETERMINISTIC SQL_DATA_ACCESS SQL_PATH
    SECURITY_TYPE CREATED:TIMESTAMP LAST_ALTERED:TIMESTAMP SQL_MODE ROUTINE_COMMENT DEFINER CHARACTER_SET_CLIENT COLLATION_CONNECTION
    DATABASE_COLLATION`,
  ),
  fixed(
    'key_column_usage',
    `Keys; ${forClients}, always empty.`,
    `CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME ORDINAL_POSITION:BIGINT
    POSITION_IN_UNIQUE_CONSTRAINT:BIGINT REFERENCED_TABLE_SCHEMA REFERENCED_TABLE_NAME REFERENCED_COLUMN_NAME`,
  ),
  fixed(
    'statistics',
    `Indexes; ${forClients}, always empty.`,
    `TABLE_CATALOG TABLE_SCHEMA TABLE_NAME NON_UNIQUE:BIGINT INDEX_SCHEMA INDEX_NAME SEQ_IN_INDEX:BIGINT COLUMN_NAME COLLATION
    CARDINALITY:BIGINT SUB_PART:BIGINT PACKED NULLABLE INDEX_TYPE COMMENT INDEX_COMMENT IS_VISIBLE EXPRESSION`,
  ),
  fixed(
    'plugins',
    `Plugins; ${forClients}, always empty.`,
    `PLUGIN_NAME PLUGIN_VERSION PLUGIN_STATUS PLUGIN_TYPE PLUGIN_TYPE_VERSION PLUGIN_LIBRARY PLUGIN_LIBRARY_VERSION PLUGIN_AUTHOR
    PLUGIN_DESCRIPTION PLUGIN_LICENSE LOAD_OPTION`,
  ),
  fixed(
    'events',
    `Scheduled events of MySQL; ${forClients}, always empty. The log is log.events.`,
    `EVENT_CATALOG EVENT_SCHEMA EVENT_NAME DEFINER TIME_ZONE EVENT_BODY EVENT_DEFINITION EVENT_TYPE EXECUTE_AT:TIMESTAMP INTERVAL_VALUE
    INTERVAL_FIELD SQL_MODE STARTS:TIMESTAMP ENDS:TIMESTAMP STATUS ON_COMPLETION CREATED:TIMESTAMP LAST_ALTERED:TIMESTAMP
    LAST_EXECUTED:TIMESTAMP EVENT_COMMENT ORIGINATOR:BIGINT CHARACTER_SET_CLIENT COLLATION_CONNECTION DATABASE_COLLATION`,
  ),
]
