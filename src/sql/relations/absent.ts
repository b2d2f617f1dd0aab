import { column, noRows, projectColumn, type Column, type Relation } from './relation.js'

const name = (what: string): Column => column('NAME', 'VARCHAR', `Name of the ${what}.`)
const error = column('ERROR', 'VARCHAR', 'Why it failed.')

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
    column('DATABASE', 'VARCHAR', 'Connection that it watches.'),
    column('TABLE', 'VARCHAR', 'Table that it watches.'),
    column('QUERY', 'VARCHAR', 'Statements that it runs.'),
    column('LAST_ERROR', 'VARCHAR', 'Why its last run failed.'),
  ],
})

/** Kinds of resources that this service does not have. Clients list them nevertheless. */
export const absentResources: readonly Relation[] = [triggers]

/** The table of MindsDB for queries that run in the background. This service has no such queries. */
export const queries = absent({
  name: 'queries',
  about: 'Queries that go on in the background; always empty: a query ends with its answer.',
  columns: [
    column('ID', 'BIGINT', 'Number of the query.'),
    column('STARTED_AT', 'TIMESTAMP', 'When it began (UTC).'),
    column('FINISHED_AT', 'TIMESTAMP', 'When it ended (UTC).'),
    column('PROCESSED_ROWS', 'BIGINT', 'Rows that it has processed.'),
    error,
    column('SQL', 'VARCHAR', 'Its text.'),
    column('DATABASE', 'VARCHAR', 'Database that it runs in.'),
    column('PARAMETERS', 'VARCHAR', 'Its parameters as JSON text.'),
    column('CONTEXT', 'VARCHAR', 'Its context as JSON text.'),
    column('UPDATED_AT', 'TIMESTAMP', 'When this was last written (UTC).'),
  ],
})
