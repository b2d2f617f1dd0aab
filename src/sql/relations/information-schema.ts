import { knownHandlers } from '../../catalogue/engines.js'
import { quoteText } from '../../dialect/strings.js'
import { config, configHistory } from './config.js'
import { engines, enginesHistory } from './engines.js'
import { filesHistory } from './files-history.js'
import { answeringVersion, at, column, history, itemsOf, masked, nocase, upTo, type Column, type Relation } from './relation.js'

const databases: Relation = {
  name: 'databases',
  about: 'Everything that can stand before a dot: system schemas, projects, files and connections.',
  kind: 'SYSTEM VIEW',
  columns: [
    column('NAME', 'VARCHAR', 'Name; compared without case.'),
    column('TYPE', 'VARCHAR', 'system, project or data.'),
    column('ENGINE', 'VARCHAR', 'Engine of a connection.'),
    column('CONNECTION_DATA', 'VARCHAR', 'Settings of a connection as JSON text; secrets show as ******.'),
  ],
  sql: `
    SELECT ${nocase('d.name')} AS "NAME", d.type AS "TYPE", d.engine AS "ENGINE", d.data AS "CONNECTION_DATA"
    FROM (
      SELECT 0 AS kind, 0 AS id, 'information_schema' AS name, 'system' AS type, NULL AS engine, NULL AS data
      UNION ALL SELECT 0, 1, 'log', 'system', NULL, NULL
      UNION ALL SELECT 1, id, name, 'project', NULL, NULL FROM ${at('projects')} AS p
      UNION ALL SELECT 2, 0, 'files', 'data', 'files', NULL
      UNION ALL SELECT 3, id, name, 'data', engine, ${masked('parameters')} FROM ${at('databases')} AS c
    ) AS d ORDER BY d.kind, d.id`,
}

const schemata: Relation = {
  name: 'schemata',
  about: 'All schemas, in the form that MySQL clients read.',
  kind: 'SYSTEM VIEW',
  columns: [
    column('CATALOG_NAME', 'VARCHAR', 'Always def.'),
    column('SCHEMA_NAME', 'VARCHAR', 'Name of the schema.'),
    column('DEFAULT_CHARACTER_SET_NAME', 'VARCHAR', 'Always utf8mb4.'),
    column('DEFAULT_COLLATION_NAME', 'VARCHAR', 'Always utf8mb4_0900_ai_ci.'),
    column('SQL_PATH', 'VARCHAR', 'Always empty.'),
  ],
  sql: `
    SELECT 'def' AS "CATALOG_NAME", "NAME" AS "SCHEMA_NAME", 'utf8mb4' AS "DEFAULT_CHARACTER_SET_NAME",
      'utf8mb4_0900_ai_ci' AS "DEFAULT_COLLATION_NAME", CAST(NULL AS VARCHAR) AS "SQL_PATH"
    FROM (${databases.sql}) AS d`,
}

const shared = 'stream, id, name, valid_from, valid_to, created_at, changed_at, changed_by, change, request'

const databasesHistory = history({
  name: 'databases_history',
  about: 'Projects and connections. With all past states.',
  kind: 'SYSTEM VIEW',
  columns: databases.columns,
  items: `${nocase('r.name')} AS "NAME", r.type AS "TYPE", r.engine AS "ENGINE", r.data AS "CONNECTION_DATA"`,
  rows: `(
      SELECT ${shared}, 'project' AS type, NULL AS engine, NULL AS data FROM ${upTo('projects')} AS p
      UNION ALL SELECT ${shared}, 'data', engine, ${masked('parameters')} FROM ${upTo('databases')} AS c
    )`,
})

const files: Relation = {
  name: 'files',
  about: 'Uploaded files, and tables that statements made; each is a table of the schema files.',
  kind: 'SYSTEM VIEW',
  columns: [
    column('NAME', 'VARCHAR', 'Name of the file; compared without case.'),
    column('ROW_COUNT', 'BIGINT', 'Number of rows.'),
    column('BYTES', 'BIGINT', 'Size of the stored content.'),
    column('COLUMNS', 'VARCHAR', 'Columns as JSON text: name and type.'),
    column('ORIGINAL_NAME', 'VARCHAR', 'Name under which the file was uploaded; empty if there was none.'),
    column('CREATED_AT', 'TIMESTAMP', 'When the file was created (UTC).'),
    column('CHANGED_AT', 'TIMESTAMP', 'When the content of the file last changed (UTC).'),
  ],
  sql: `
    SELECT ${nocase('f.name')} AS "NAME", f.row_count AS "ROW_COUNT", f.bytes AS "BYTES", CAST(f.columns AS VARCHAR) AS "COLUMNS",
      f.original_name AS "ORIGINAL_NAME", f.created_at AS "CREATED_AT", f.changed_at AS "CHANGED_AT"
    FROM ${at('files')} AS f ORDER BY f.id`,
}

/** Our own rows as one JSON text. As rows of VALUES they would form a tree of thousands of nodes. */
const listed = (rows: readonly Record<string, string | number | null>[]): string => {
  const shape = Object.entries(rows[0] ?? {}).map(([key, value]) => `"${key}":"${typeof value === 'number' ? 'INTEGER' : 'VARCHAR'}"`)
  return `(SELECT unnest(from_json(${quoteText(JSON.stringify(rows))}, '[{${shape.join(',')}}]'), max_depth := 2))`
}

const handlers: Relation = {
  name: 'handlers',
  about: 'All names of engines: engines that train, formats that can be read, and systems of connections.',
  kind: 'SYSTEM VIEW',
  columns: [
    column('NAME', 'VARCHAR', 'Name of the handler.'),
    column('TYPE', 'VARCHAR', 'ml or data.'),
    column('TITLE', 'VARCHAR', 'Name to show.'),
    column('DESCRIPTION', 'VARCHAR', 'What the handler does.'),
    column('VERSION', 'VARCHAR', 'Release of the handler.'),
    column('CONNECTION_ARGS', 'VARCHAR', 'Always empty.'),
    column('IMPORT_SUCCESS', 'BOOLEAN', 'Whether this service uses the handler; if not, its connections are kept, but not opened.'),
    column('IMPORT_ERROR', 'VARCHAR', 'Why this service does not use the handler.'),
  ],
  sql: `
    SELECT ${nocase('h.name')} AS "NAME", h.type AS "TYPE", h.title AS "TITLE", h.description AS "DESCRIPTION", '1.0.0' AS "VERSION",
      CAST(NULL AS VARCHAR) AS "CONNECTION_ARGS", h.unavailable IS NULL AS "IMPORT_SUCCESS", h.unavailable AS "IMPORT_ERROR"
    FROM ${listed(knownHandlers)} AS h`,
}

const known = (names: string, about: (name: string) => string, type = 'VARCHAR'): Column[] =>
  names.split(' ').map((name) => column(name, type, about(name)))
const forClients = () => 'Kept for MySQL clients; empty.'

const tableColumns: Column[] = [
  column('TABLE_CATALOG', 'VARCHAR', 'Always def.'),
  column('TABLE_SCHEMA', 'VARCHAR', 'Schema of the table.'),
  column('TABLE_NAME', 'VARCHAR', 'Name of the table; compared without case.'),
  column('TABLE_TYPE', 'VARCHAR', 'BASE TABLE, VIEW, MODEL, AGENT, KNOWLEDGE_BASE or SYSTEM VIEW.'),
  ...known('ENGINE VERSION ROW_FORMAT', forClients),
  column('TABLE_ROWS', 'BIGINT', 'Number of rows, if it is known.'),
  ...known('AVG_ROW_LENGTH DATA_LENGTH MAX_DATA_LENGTH INDEX_LENGTH DATA_FREE AUTO_INCREMENT', forClients, 'BIGINT'),
  column('CREATE_TIME', 'TIMESTAMP', 'When the table was created (UTC).'),
  column('UPDATE_TIME', 'TIMESTAMP', 'When the table last changed (UTC).'),
  ...known('CHECK_TIME TABLE_COLLATION CHECKSUM CREATE_OPTIONS', forClients),
  column('TABLE_COMMENT', 'VARCHAR', 'What the table holds.'),
]

const columnColumns: Column[] = [
  column('TABLE_CATALOG', 'VARCHAR', 'Always def.'),
  column('TABLE_SCHEMA', 'VARCHAR', 'Schema of the table.'),
  column('TABLE_NAME', 'VARCHAR', 'Name of the table; compared without case.'),
  column('COLUMN_NAME', 'VARCHAR', 'Name of the column; compared without case.'),
  column('ORDINAL_POSITION', 'INTEGER', 'Place of the column in the table, from 1.'),
  column('COLUMN_DEFAULT', 'VARCHAR', 'Kept for MySQL clients; empty.'),
  column('IS_NULLABLE', 'VARCHAR', 'NO if a connected database says so; else YES.'),
  column('DATA_TYPE', 'VARCHAR', 'Type in lower case.'),
  ...known('CHARACTER_MAXIMUM_LENGTH CHARACTER_OCTET_LENGTH NUMERIC_PRECISION NUMERIC_SCALE DATETIME_PRECISION', forClients, 'BIGINT'),
  ...known('CHARACTER_SET_NAME COLLATION_NAME', forClients),
  column('COLUMN_TYPE', 'VARCHAR', 'Type in lower case.'),
  ...known('COLUMN_KEY EXTRA', forClients),
  column('PRIVILEGES', 'VARCHAR', 'Always select.'),
  column('COLUMN_COMMENT', 'VARCHAR', 'What the column holds.'),
  ...known('GENERATION_EXPRESSION SRS_ID', forClients),
  column('ORIGINAL_TYPE', 'VARCHAR', "DuckDB's name of the type."),
]

/** The tables and columns that never change: those of the system schemas, and those that every project has (schema NULL). */
export type FixedRelations = { schema: string | null; relations: readonly Relation[] }[]

const tables = (fixed: FixedRelations): Relation => {
  const rows = fixed
    .flatMap(({ schema, relations }) => relations.map(({ name, kind, about }) => ({ schema, name, kind, about })))
    .map((row, place) => ({ place, ...row }))
  return {
    name: 'tables',
    about: 'Every table, view, model and file that SQL offers, and the tables of connected databases that answer.',
    kind: 'SYSTEM VIEW',
    columns: tableColumns,
    ofConnections: 'tables',
    sql: `
    WITH projects AS ${at('projects')},
    fixed AS ${listed(rows)},
    offered AS (
      SELECT 1 AS rank, 0 AS id, place, schema, name, kind, about, NULL AS rows, NULL AS created, NULL AS changed FROM fixed WHERE schema IS NOT NULL
      UNION ALL SELECT 0, p.id, f.place, p.name, f.name, f.kind, f.about, NULL, NULL, NULL FROM projects AS p, fixed AS f WHERE f.schema IS NULL
      UNION ALL SELECT 2, m.id, 0, p.name, m.name, 'MODEL', 'A model: give inputs in WHERE, or JOIN it.', NULL, m.created_at, m.changed_at
        FROM ${at('models')} AS m JOIN projects AS p ON p.stream = m.project
      UNION ALL SELECT 3, v.id, 0, p.name, v.name, 'VIEW', 'A stored query.', NULL, v.created_at, v.changed_at
        FROM ${at('views')} AS v JOIN projects AS p ON p.stream = v.project
      UNION ALL SELECT 4, a.id, 0, p.name, a.name, 'AGENT', 'An agent: ask it with question = ….', NULL, a.created_at, a.changed_at
        FROM ${at('agents')} AS a JOIN projects AS p ON p.stream = a.project
      UNION ALL SELECT 4, k.id, 1, p.name, k.name, 'KNOWLEDGE_BASE', 'A knowledge base: search it with content = ….', NULL, k.created_at, k.changed_at
        FROM ${at('knowledge_bases')} AS k JOIN projects AS p ON p.stream = k.project
      UNION ALL SELECT 5, f.id, 0, 'files', f.name, 'BASE TABLE', coalesce('Uploaded as ' || f.original_name || '.', 'An uploaded file.'),
        f.row_count, f.created_at, f.changed_at FROM ${at('files')} AS f WHERE json_array_length(f.columns) > 0
      UNION ALL SELECT 6, 0, c.place, c.schema, c.name, c.kind, c.about, NULL, NULL, NULL FROM (
        SELECT unnest(from_json($connections, '[{"schema":"VARCHAR","place":"INTEGER","name":"VARCHAR","kind":"VARCHAR","about":"VARCHAR"}]'), max_depth := 2)) AS c
    )
    SELECT ${itemsOf(tableColumns, {
      TABLE_CATALOG: "'def'",
      TABLE_SCHEMA: nocase('schema'),
      TABLE_NAME: nocase('name'),
      TABLE_TYPE: 'kind',
      TABLE_ROWS: 'CAST(rows AS BIGINT)',
      CREATE_TIME: 'CAST(created AS TIMESTAMP)',
      UPDATE_TIME: 'CAST(changed AS TIMESTAMP)',
      TABLE_COMMENT: 'about',
    })} FROM offered ORDER BY rank, id, place`,
  }
}

const inputType = (type: string) =>
  `CASE ${type} WHEN 'number' THEN 'DOUBLE' WHEN 'integer' THEN 'BIGINT' WHEN 'text' THEN 'VARCHAR' ELSE upper(${type}) END`

const modelColumns = `
      SELECT p.name AS schema, m.name AS "table", unnest(
        list_transform(from_json(v.report->'$.inputs', '[{"name":"VARCHAR","type":"VARCHAR"}]'),
          lambda i: struct_pack(name := i.name, type := ${inputType('i.type')}, about := 'Input.'))
        || [struct_pack(name := v.target, type := coalesce(${inputType(`(v.report->>'$.target.type')`)}, 'DOUBLE'), about := 'What the model predicts.'),
          struct_pack(name := 'select_data_query', type := 'VARCHAR', about := 'Always empty.'),
          struct_pack(name := 'when_data', type := 'VARCHAR', about := 'Always empty.'),
          struct_pack(name := v.target || '_original', type := 'VARCHAR', about := 'The value in the data, if it has the column.'),
          struct_pack(name := v.target || '_confidence', type := 'DOUBLE', about := 'How sure the model is, from 0 to 1.'),
          struct_pack(name := v.target || '_explain', type := 'VARCHAR', about := 'The prediction in one JSON text.'),
          struct_pack(name := v.target || '_anomaly', type := 'BOOLEAN', about := 'Whether the value in the data lies outside the bounds.'),
          struct_pack(name := v.target || '_min', type := 'DOUBLE', about := 'Lower bound.'),
          struct_pack(name := v.target || '_max', type := 'DOUBLE', about := 'Upper bound.')]) AS c
      FROM ${at('models')} AS m JOIN projects AS p ON p.stream = m.project
      JOIN ${at('model_versions')} AS v ON v.stream = m.stream
      WHERE v.version = ${answeringVersion} AND v.report IS NOT NULL`

/** The columns that every knowledge base has, and the metadata columns that were declared for it. */
const knowledgeColumns = `
      SELECT p.name AS schema, k.name AS "table", unnest([
          struct_pack(name := 'id', type := 'VARCHAR', about := 'Id of the document.'),
          struct_pack(name := 'chunk_id', type := 'VARCHAR', about := 'Id of the chunk, with its place in the text of the document.'),
          struct_pack(name := 'chunk_content', type := 'VARCHAR', about := 'Text of the chunk.'),
          struct_pack(name := 'metadata', type := 'VARCHAR', about := 'The other columns of the document, as JSON text.'),
          struct_pack(name := 'relevance', type := 'DOUBLE', about := 'How well the chunk fits, from 0 to 1.'),
          struct_pack(name := 'distance', type := 'DOUBLE', about := '1 - the cosine of the angle between the vectors.')]
        || list_transform(from_json(k.metadata_columns, '["VARCHAR"]'),
          lambda c: struct_pack(name := c, type := 'VARCHAR', about := 'Metadata.'))) AS c
      FROM ${at('knowledge_bases')} AS k JOIN projects AS p ON p.stream = k.project`

/** The columns of an agent, unless its name means a model or a table of every project in FROM. */
const agentColumns = `
      SELECT p.name AS schema, a.name AS "table", unnest([
          struct_pack(name := 'answer', type := 'VARCHAR', about := 'Text of the answer.'),
          struct_pack(name := 'question', type := 'VARCHAR', about := 'The question: give it in WHERE, or JOIN it.'),
          struct_pack(name := 'context', type := 'VARCHAR', about := 'The queries behind the answer, or why there are none, as JSON text.'),
          struct_pack(name := 'trace_id', type := 'VARCHAR', about := 'Id of the answer in log.answers.')]) AS c
      FROM ${at('agents')} AS a JOIN projects AS p ON p.stream = a.project
      WHERE NOT EXISTS (SELECT 1 FROM ${at('models')} AS m WHERE m.project = a.project AND lower(m.name) = lower(a.name))
        AND lower(a.name) NOT IN (SELECT f."table" FROM fixed AS f WHERE f.schema IS NULL)`

const columns = (fixed: FixedRelations): Relation => {
  const rows = fixed.flatMap(({ schema, relations }) =>
    relations.flatMap((relation) =>
      relation.columns.map(({ name, type, about }, index) => ({ schema, table: relation.name, place: index + 1, name, type, about })),
    ),
  )
  return {
    name: 'columns',
    about:
      'Every column of the tables in information_schema.tables. The columns of a view follow from its query; they are missing while the query cannot be planned.',
    kind: 'SYSTEM VIEW',
    columns: columnColumns,
    ofViews: true,
    ofConnections: 'columns',
    sql: `
    WITH projects AS ${at('projects')},
    fixed AS ${listed(rows)},
    offered AS (
      SELECT schema, "table", place, name, type, 'YES' AS nullable, about FROM fixed WHERE schema IS NOT NULL
      UNION ALL SELECT p.name, f.table, f.place, f.name, f.type, 'YES', f.about FROM projects AS p, fixed AS f WHERE f.schema IS NULL
      UNION ALL SELECT 'files', f."table", f.place, c.name, c.type, 'YES', 'Column of the uploaded file.' FROM (
        SELECT name AS "table", unnest(from_json(columns, '[{"name":"VARCHAR","type":"VARCHAR"}]')) AS c,
          unnest(range(1, CAST(json_array_length(columns) AS BIGINT) + 1)) AS place FROM ${at('files')} AS f) AS f
      UNION ALL SELECT m.schema, m."table", row_number() OVER (PARTITION BY m.schema, m."table"), m.c.name, m.c.type, 'YES', m.c.about FROM (${modelColumns}) AS m
      UNION ALL SELECT k.schema, k."table", row_number() OVER (PARTITION BY k.schema, k."table"), k.c.name, k.c.type, 'YES', k.c.about FROM (${knowledgeColumns}) AS k
      UNION ALL SELECT a.schema, a."table", row_number() OVER (PARTITION BY a.schema, a."table"), a.c.name, a.c.type, 'YES', a.c.about FROM (${agentColumns}) AS a
      UNION ALL SELECT v.schema, v."table", v.place, v.name, v.type, 'YES', 'Column of the view.' FROM (
        SELECT unnest(from_json($views, '[{"schema":"VARCHAR","table":"VARCHAR","place":"INTEGER","name":"VARCHAR","type":"VARCHAR"}]'), max_depth := 2)) AS v
      UNION ALL SELECT c.schema, c."table", c.place, c.name, c.type, c.nullable, c.about FROM (
        SELECT unnest(from_json($connections, '[{"schema":"VARCHAR","table":"VARCHAR","place":"INTEGER","name":"VARCHAR","type":"VARCHAR","nullable":"VARCHAR","about":"VARCHAR"}]'), max_depth := 2)) AS c
    )
    SELECT ${itemsOf(columnColumns, {
      TABLE_CATALOG: "'def'",
      TABLE_SCHEMA: nocase('schema'),
      TABLE_NAME: nocase('"table"'),
      COLUMN_NAME: nocase('name'),
      ORDINAL_POSITION: 'CAST(place AS INTEGER)',
      IS_NULLABLE: 'nullable',
      DATA_TYPE: 'lower(type)',
      COLUMN_TYPE: 'lower(type)',
      PRIVILEGES: "'select'",
      COLUMN_COMMENT: 'about',
      ORIGINAL_TYPE: 'type',
    })} FROM offered ORDER BY schema, "table", place`,
  }
}

/** The system's own tables of information_schema. The tables of resources come from the kinds of resources. */
export const systemRelations: readonly Relation[] = [
  ...[databases, schemata, files, engines, handlers, config],
  ...[databasesHistory, filesHistory, configHistory, enginesHistory],
]

/** The two tables that list everything, including themselves. */
export const listings = (fixed: FixedRelations): Relation[] => {
  const own = [tables([]), columns([])]
  const all = fixed.map((part) => (part.schema === 'information_schema' ? { ...part, relations: [...part.relations, ...own] } : part))
  return [tables(all), columns(all)]
}
