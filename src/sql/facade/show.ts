import { foldName } from '../../../events/common.js'
import { quoteName, quoteText } from '../../dialect/strings.js'
import type { DescribeTarget, ShowStatement, ShowTarget, StatementOf } from '../statements/statement.js'
import { fixedRows, type FixedTable } from './server-answers.js'

const modelColumns =
  'NAME ENGINE PROJECT ACTIVE VERSION STATUS ACCURACY PREDICT UPDATE_STATUS MINDSDB_VERSION ERROR SELECT_DATA_QUERY TRAINING_OPTIONS ' +
  'CURRENT_TRAINING_PHASE TOTAL_TRAINING_PHASES TRAINING_PHASE_NAME TAG CREATED_AT TRAINING_TIME'

/** Resources: the relation's columns in the order of the answer. */
const lists = {
  skills: 'NAME PROJECT TYPE PARAMS',
  agents: 'NAME PROJECT MODEL_NAME SKILLS PARAMS',
  chatbots: 'NAME PROJECT DATABASE MODEL_NAME PARAMS IS_RUNNING LAST_ERROR WEBHOOK_TOKEN',
  models: modelColumns,
  views: 'NAME PROJECT QUERY',
  jobs: 'NAME PROJECT START_AT END_AT NEXT_RUN_AT SCHEDULE_STR QUERY IF_QUERY VARIABLES',
  triggers: 'NAME PROJECT DATABASE TABLE QUERY LAST_ERROR',
  knowledge_bases:
    'NAME PROJECT EMBEDDING_MODEL RERANKING_MODEL STORAGE METADATA_COLUMNS CONTENT_COLUMNS ID_COLUMN PARAMS INSERT_STARTED_AT ' +
    'INSERT_FINISHED_AT PROCESSED_ROWS ERROR QUERY_ID',
  ml_engines: 'NAME HANDLER CONNECTION_DATA',
  handlers: 'NAME TYPE TITLE DESCRIPTION VERSION CONNECTION_ARGS IMPORT_SUCCESS IMPORT_ERROR',
  databases: 'NAME TYPE ENGINE CONNECTION_DATA',
} as const
type List = keyof typeof lists

const inProject = new Set<List>(['skills', 'agents', 'chatbots', 'models', 'views', 'jobs', 'triggers', 'knowledge_bases'])

/** A column of an answer: its name, and its column in the relation. */
type ShownColumn = readonly [name: string, expression: string]

const same = (names: string): ShownColumn[] => names.split(' ').map((name) => [name, quoteName(name)] as const)

const renamed = (pairs: string): ShownColumn[] =>
  pairs.split(' ').map((pair) => {
    const [name = '', expression = ''] = pair.split('=')
    return [name, expression === '' ? 'NULL' : quoteName(expression)] as const
  })

// The text passes our own lexer, where a backslash is an escape.
const literal = (text: string): string => quoteText(text.replaceAll('\\', '\\\\'))

const like = (name: string, pattern: string): string =>
  `${quoteName(name)} ILIKE ${literal(pattern)}${pattern.includes('\\') ? String.raw` ESCAPE '\\'` : ''}`

type Source = {
  relation: string
  shown: readonly ShownColumn[]
  where?: readonly string[]
  orderBy?: string
}

const isSameName = ([name, expression]: ShownColumn): boolean => quoteName(name).toLowerCase() === expression.toLowerCase()

/** The condition of SHOW can use the names of the answer and the names of the relation. */
const render = (
  { relation, shown, where = [], orderBy }: Source,
  { like: pattern, where: condition }: Pick<ShowStatement, 'like' | 'where'>,
): string => {
  // A name that differs from its column's name only in case already exists. Adding it would make both ambiguous.
  const added = shown.filter((column) => !isSameName(column)).map(([name, expression]) => `${expression} AS ${quoteName(name)}`)
  const items = shown.map(([name, expression]) =>
    isSameName([name, expression]) && expression !== quoteName(name) ? `${expression} AS ${quoteName(name)}` : quoteName(name),
  )
  // The conditions of the relation stay beside it: they name the connected database that is queried.
  const own = where.length > 0 ? ` WHERE ${where.join(' AND ')}` : ''
  const from = added.length === 0 ? relation : `(SELECT *, ${added.join(', ')} FROM ${relation}${own}) AS shown`
  const conditions = [
    ...(added.length === 0 ? where : []),
    ...(pattern === null ? [] : [like(shown[0]?.[0] ?? '', pattern)]),
    ...(condition === null ? [] : [`(${condition})`]),
  ]
  return [
    `SELECT ${items.join(', ')} FROM ${from}`,
    ...(conditions.length > 0 ? [`WHERE ${conditions.join(' AND ')}`] : []),
    ...(orderBy === undefined ? [] : [`ORDER BY ${orderBy}`]),
  ].join(' ')
}

const equals = (column: string, value: string): string => `${quoteName(column)} = ${literal(value)}`

const databaseOrder = `CASE "TYPE" WHEN 'system' THEN 0 WHEN 'project' THEN 1 ELSE 2 END, "NAME" <> 'files', "NAME"`

const databases = (full: boolean): Source => ({
  relation: 'information_schema.databases',
  shown: [['Database', '"NAME"'], ...(full ? same('TYPE ENGINE') : [])],
  orderBy: databaseOrder,
})

const projects: Source = {
  relation: 'information_schema.databases',
  shown: [['project', '"NAME"']],
  where: [equals('TYPE', 'project')],
  orderBy: '"NAME"',
}

const isSystem = (schema: string): boolean => ['information_schema', 'log'].includes(foldName(schema))

/** FULL adds the tables that clients do not know, marked as the system's tables. Agents and knowledge bases have separate lists. */
const tables = (schema: string, full: boolean): Source => ({
  relation: 'information_schema.tables',
  shown: [[`Tables_in_${schema}`, '"TABLE_NAME"'], ...(full ? [['Table_type', '"TABLE_TYPE"'] as const] : [])],
  where: [
    equals('TABLE_SCHEMA', schema),
    `"TABLE_TYPE" NOT IN ('AGENT', 'KNOWLEDGE_BASE')`,
    ...(full || isSystem(schema) ? [] : [`"TABLE_TYPE" <> 'SYSTEM VIEW'`]),
  ],
})

/** The schema and the table that FROM names. Tables of a connection may be in schemas of its database, and are listed as `shop.orders`. */
const tableOf = (from: readonly string[] | null, db: string): { schema: string; table: string } => {
  const [first = '', ...rest] = from ?? []
  return rest.length === 0 ? { schema: db, table: first } : { schema: first, table: rest.join('.') }
}

const ofTable = (from: readonly string[] | null, db: string): string[] => {
  const { schema, table } = tableOf(from, db)
  return [equals('TABLE_SCHEMA', schema), equals('TABLE_NAME', table)]
}

const columns = ({ from, full }: ShowStatement, db: string): Source => ({
  relation: 'information_schema.columns',
  shown: renamed(
    full
      ? 'Field=COLUMN_NAME Type=COLUMN_TYPE Collation=COLLATION_NAME Null=IS_NULLABLE Key=COLUMN_KEY Default=COLUMN_DEFAULT Extra=EXTRA Privileges=PRIVILEGES Comment=COLUMN_COMMENT'
      : 'Field=COLUMN_NAME Type=COLUMN_TYPE Null=IS_NULLABLE Key=COLUMN_KEY Default=COLUMN_DEFAULT Extra=EXTRA',
  ),
  where: ofTable(from, db),
  orderBy: '"ORDINAL_POSITION"',
})

const tableStatus = (schema: string): Source => ({
  relation: 'information_schema.tables',
  shown: renamed(
    'Name=TABLE_NAME Engine=ENGINE Version=VERSION Row_format=ROW_FORMAT Rows=TABLE_ROWS Avg_row_length=AVG_ROW_LENGTH Data_length=DATA_LENGTH ' +
      'Max_data_length=MAX_DATA_LENGTH Index_length=INDEX_LENGTH Data_free=DATA_FREE Auto_increment=AUTO_INCREMENT Create_time=CREATE_TIME ' +
      'Update_time=UPDATE_TIME Check_time=CHECK_TIME Collation=TABLE_COLLATION Checksum=CHECKSUM Create_options=CREATE_OPTIONS Comment=TABLE_COMMENT',
  ),
  where: [equals('TABLE_SCHEMA', schema)],
})

const createTable = (from: readonly string[] | null, db: string): string =>
  `SELECT "TABLE_NAME" AS "Table", 'CREATE TABLE ' || "TABLE_NAME" || ' (' || ` +
  `string_agg("COLUMN_NAME" || ' ' || "COLUMN_TYPE", ', ' ORDER BY "ORDINAL_POSITION") || ')' AS "Create Table" ` +
  `FROM information_schema.columns WHERE ${ofTable(from, db).join(' AND ')} GROUP BY "TABLE_NAME"`

const createView = (from: readonly string[] | null, db: string): string => {
  const { schema, table } = tableOf(from, db)
  return (
    `SELECT "NAME" AS "View", 'CREATE VIEW ' || "PROJECT" || '.' || "NAME" || ' AS (' || "QUERY" || ')' AS "Create View", ` +
    `'utf8' AS character_set_client, 'utf8_general_ci' AS collation_connection ` +
    `FROM information_schema.views WHERE ${equals('PROJECT', schema)} AND ${equals('NAME', table)}`
  )
}

const list = (what: List, project: string | null): Source => ({
  relation: `information_schema.${what}`,
  shown: same(lists[what]),
  ...(project !== null && inProject.has(what) && foldName(project) !== 'information_schema' && { where: [equals('PROJECT', project)] }),
})

const cell = (value: string | number | null): string =>
  value === null ? 'NULL' : typeof value === 'number' ? String(value) : literal(value)

const fixed = ({ columns: names, rows }: FixedTable): Source => ({
  relation: `(VALUES ${rows.map((row) => `(${row.map(cell).join(', ')})`).join(', ')}) AS fixed(${names.map(quoteName).join(', ')})`,
  shown: names.map((name) => [name, quoteName(name)] as const),
})

/** Asks whether the table that SHOW names exists. */
export const tableExists = (from: readonly string[] | null, db: string): string =>
  `SELECT 1 FROM information_schema.tables WHERE ${ofTable(from, db).join(' AND ')}`

const isList = (what: ShowTarget): what is List & ShowTarget => Object.hasOwn(lists, what)

const sourceOf = (show: ShowStatement, db: string): Source => {
  const { what, full, from } = show
  const scope = from?.at(-1) ?? db
  if (what === 'databases') return databases(full)
  if (what === 'projects') return projects
  if (what === 'tables') return tables(scope, full)
  if (what === 'columns') return columns(show, db)
  if (what === 'table_status') return tableStatus(scope)
  if (isList(what)) return list(what, scope)
  const rows = fixedRows(what)
  if (!rows) throw new TypeError(`no relation shows ${what}`)
  return fixed(rows)
}

const described: Record<DescribeTarget, List> = {
  skill: 'skills',
  agent: 'agents',
  chatbot: 'chatbots',
  view: 'views',
  job: 'jobs',
  trigger: 'triggers',
  knowledge_base: 'knowledge_bases',
  database: 'databases',
  project: 'databases',
  handler: 'handlers',
  ml_engine: 'ml_engines',
}

/**
 * SHOW and DESCRIBE as a SELECT over the relations of information_schema, with exactly the columns that clients expect.
 * Resources in projects are shown for the project `db`, or for the project after FROM.
 *
 * @example showAsSelect(parseStatement('SHOW PROJECTS'), 'shop')
 */
export const showAsSelect = (statement: ShowStatement | StatementOf<'describe'>, db: string): string => {
  if (statement.kind === 'show') {
    if (statement.what === 'create_table') return createTable(statement.from, db)
    if (statement.what === 'create_view') return createView(statement.from, db)
    return render(sourceOf(statement, db), statement)
  }
  const what = described[statement.what]
  const { project, name } = statement.target
  const source = list(what, project ?? db)
  const kind = statement.what === 'project' ? [equals('TYPE', 'project')] : []
  return render({ ...source, where: [...(source.where ?? []), equals('NAME', name), ...kind] }, { like: null, where: null })
}
