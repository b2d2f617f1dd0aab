import { column, noRows, projectColumn, type Column, type Relation } from './relation.js'

const name = (what: string): Column => column('NAME', 'VARCHAR', `Name of the ${what}.`)
const error = column('ERROR', 'VARCHAR', 'Why the query failed.')

/** A table without rows, with the columns that clients expect. */
const absent = (relation: Omit<Relation, 'kind' | 'sql'>): Relation => ({
  ...relation,
  kind: 'SYSTEM VIEW',
  sql: noRows(relation.columns),
})

const triggers = absent({
  name: 'triggers',
  about: 'Triggers; always empty: this service has none.',
  columns: [
    name('trigger'),
    projectColumn,
    column('DATABASE', 'VARCHAR', 'Connection that the trigger watches.'),
    column('TABLE', 'VARCHAR', 'Table that the trigger watches.'),
    column('QUERY', 'VARCHAR', 'Statements that the trigger runs.'),
    column('LAST_ERROR', 'VARCHAR', 'Why the last run of the trigger failed.'),
  ],
})

/** Kinds of resources that this service does not have. Clients list them nevertheless. */
export const absentResources: readonly Relation[] = [triggers]

/** The table of MindsDB for queries that run in the background. This service has no such queries. */
export const queries = absent({
  name: 'queries',
  about: 'Queries that run in the background; always empty: a query ends with its answer.',
  columns: [
    column('ID', 'BIGINT', 'Number of the query.'),
    column('STARTED_AT', 'TIMESTAMP', 'When the query began (UTC).'),
    column('FINISHED_AT', 'TIMESTAMP', 'When the query ended (UTC).'),
    column('PROCESSED_ROWS', 'BIGINT', 'Rows that the query has processed.'),
    error,
    column('SQL', 'VARCHAR', 'Text of the query.'),
    column('DATABASE', 'VARCHAR', 'Database that the query runs in.'),
    column('PARAMETERS', 'VARCHAR', 'Parameters of the query, as JSON text.'),
    column('CONTEXT', 'VARCHAR', 'Context of the query, as JSON text.'),
    column('UPDATED_AT', 'TIMESTAMP', 'When the row was last written (UTC).'),
  ],
})
