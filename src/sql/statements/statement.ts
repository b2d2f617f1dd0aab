/**
 * Room: the grammar of our own statements, and their meaning. It imports only events, basics, catalogue, dialect and sql/statements/client.
 */

import type { Json, JsonObject } from '../../../events/common.js'

/** A name with its project; null means the database of the request. Names keep their case and are compared without regard to it. */
export type Name = { project: string | null; name: string }

/** A model, and its version if the statement names one. */
export type ModelName = Name & { version: number | null }

/** A table of a connection; null means the database of the request. */
export type TableName = { database: string | null; name: string }

/** A part of the statement's text between two offsets; the character at the second offset is not included. */
export type Span = { start: number; end: number }

/** A query from the statement, byte for byte, and the database for its names (null: the names have their own databases). */
export type InnerQuery = { database: string | null; query: string }

/** The same with its place in the statement. Errors about the query show this place. */
export type PlacedQuery = InnerQuery & { span: Span }

/** A column in CREATE TABLE; `span` is the place of its type. */
export type ColumnDefinition = { name: string; type: string; span: Span }

export type ResourceKind = 'skill' | 'agent' | 'chatbot' | 'knowledge_base'

export type OrderItem = { column: string; descending: boolean }

/** The clauses after a model's name, which may come in any order. */
export type TrainingClauses = {
  source: InnerQuery | null
  predict: string[]
  orderBy: OrderItem[]
  groupBy: string[]
  window: number | null
  horizon: number | null
  using: JsonObject
}

export const describable = [
  'skill',
  'agent',
  'chatbot',
  'job',
  'trigger',
  'view',
  'knowledge_base',
  'database',
  'project',
  'handler',
  'ml_engine',
] as const
export type DescribeTarget = (typeof describable)[number]

/** The lists of SHOW: kinds of resources first, then the lists for MySQL clients. */
export const showable = [
  'databases',
  'projects',
  'tables',
  'models',
  'agents',
  'skills',
  'chatbots',
  'jobs',
  'triggers',
  'views',
  'knowledge_bases',
  'ml_engines',
  'handlers',
  'columns',
  'index',
  'create_table',
  'create_view',
  'table_status',
  'variables',
  'status',
  'engines',
  'plugins',
  'charset',
  'collation',
  'warnings',
  'errors',
  'function_status',
  'procedure_status',
  'events',
  'processlist',
  'privileges',
  'search_path',
] as const
export type ShowTarget = (typeof showable)[number]

export type ShowStatement = {
  kind: 'show'
  what: ShowTarget
  full: boolean
  /** The parts after FROM or IN, outermost first: `SHOW COLUMNS FROM t IN p` → ['p', 't']. */
  from: string[] | null
  like: string | null
  /** The text of the condition in its original form. */
  where: string | null
}

/** One item of a SELECT that only asks the server about itself. `name` is in lower case, `column` is the name of the result's column. */
export type SystemItem = { source: 'variable' | 'function'; name: string; column: string }

/** All statements of SQL as plain data. Parsing does not check which resources exist. */
export type Statement =
  | { kind: 'select'; sql: string }
  | { kind: 'system_select'; items: SystemItem[]; sql: string }
  | { kind: 'explain'; analyze: boolean; span: Span }
  | { kind: 'explain_command'; statement: Statement }
  | ShowStatement
  | { kind: 'describe'; what: DescribeTarget; target: Name }
  | { kind: 'describe_model'; parts: string[] }
  | { kind: 'use'; name: string }
  | { kind: 'client_setting'; verb: 'set' | 'begin' | 'commit' | 'rollback'; variables: string[] }
  | { kind: 'create_project'; name: string; ifNotExists: boolean; replace: boolean }
  | { kind: 'create_database'; name: string; ifNotExists: boolean; replace: boolean; engine: string; parameters: JsonObject }
  | { kind: 'alter_database'; name: string; newName: string | null; engine: string | null; parameters: JsonObject | null }
  | { kind: 'drop_database'; name: string; ifExists: boolean }
  | { kind: 'create_resource'; resource: ResourceKind; target: Name; ifNotExists: boolean; using: JsonObject }
  | { kind: 'update_resource'; resource: ResourceKind; target: Name; set: JsonObject }
  | { kind: 'drop_resource'; resource: ResourceKind; target: Name; ifExists: boolean }
  | { kind: 'create_model'; target: Name; ifNotExists: boolean; replace: boolean; training: TrainingClauses }
  | { kind: 'retrain_model'; verb: 'retrain' | 'finetune'; target: ModelName; training: TrainingClauses }
  | { kind: 'cancel_training'; target: ModelName }
  | { kind: 'drop_model'; target: ModelName; ifExists: boolean }
  | { kind: 'activate_model'; target: Name & { version: number } }
  | { kind: 'alter_model'; target: Name; set: JsonObject }
  | { kind: 'evaluate_agent'; target: Name; using: JsonObject }
  | { kind: 'evaluate'; metric: string; query: string; using: JsonObject }
  | { kind: 'evaluate_knowledge_base'; target: Name; using: JsonObject }
  /** An index is created or dropped. */
  | { kind: 'index_knowledge_base'; target: Name; ifExists: boolean }
  | { kind: 'create_view'; target: Name; ifNotExists: boolean; replace: boolean; source: PlacedQuery }
  | { kind: 'alter_view'; target: Name; source: PlacedQuery }
  | { kind: 'drop_view'; targets: Name[]; ifExists: boolean }
  | { kind: 'create_table'; target: TableName; ifNotExists: boolean; replace: boolean; rows: Span | ColumnDefinition[] }
  | { kind: 'insert'; target: TableName; columns: string[] | null; rows: Span }
  | { kind: 'drop_table'; targets: TableName[]; ifExists: boolean }
  /** `where` is the text of the condition, with the values of its parameters; empty if there is no condition. */
  | { kind: 'table_write'; verb: 'update' | 'delete'; target: TableName; where: string }
  | { kind: 'create_job'; target: Name; ifNotExists: boolean; queries: string[]; condition: string | null; schedule: JobSchedule }
  | { kind: 'alter_job'; target: Name; changes: JobClauses }
  | { kind: 'drop_job'; target: Name; ifExists: boolean }
  | { kind: 'create_trigger'; target: Name; table: TableName; columns: string[]; queries: string[] }
  | { kind: 'drop_trigger'; target: Name; ifExists: boolean }
  | { kind: 'create_ml_engine'; name: string; handler: string; ifNotExists: boolean; using: JsonObject }
  | { kind: 'drop_ml_engine'; name: string; ifExists: boolean }
  | { kind: 'unavailable'; what: string; instead: string }

/** The times of a job in their original form: `{ start: 'now', end: null, every: '2 hours' }`. */
export type JobSchedule = { start: string | null; end: string | null; every: string | null }

/** The clauses of a changed job in their original form. Null is the NULL that removes a clause, and a missing clause stays. */
export type JobClauses = {
  queries?: string[]
  start?: string
  end?: string | null
  every?: string | null
  condition?: string | null
}

export type StatementKind = Statement['kind']
export type StatementOf<K extends StatementKind> = Extract<Statement, { kind: K }>

/** Values for `:name` in a statement. */
export type Parameters = Readonly<Record<string, Json>>
