import type { Cursor } from './cursor.js'
import type { Topic } from './forms.js'
import type { StatementOf } from './statement.js'

const settings = 'the settings of the environment'
const maintenance = 'mindledger rebuild, should tables have to be built anew'
const values = 'parameters: :name in the statement, and its value under "params"'

const whoAsks = 'AUTH=session, which asks every caller for a password'
const storedQuery = 'CREATE VIEW name AS (SELECT …)'

/** The alternatives to statements of SQL that this service does not have, by their first word or two. */
export const instead: Readonly<Record<string, string>> = {
  TRUNCATE: 'DROP TABLE files.name',
  MERGE: 'PUT /api/files/name with the new rows',
  REPLACE: 'PUT /api/files/name with the new rows',
  COPY: 'SELECT: its answer is the data',
  EXPORT: 'SELECT: its answer is the data',
  IMPORT: 'PUT /api/files/name',
  ATTACH: "CREATE DATABASE name WITH ENGINE = 'engine', PARAMETERS = {…}",
  DETACH: 'DROP DATABASE name',
  GRANT: whoAsks,
  REVOKE: whoAsks,
  INSTALL: settings,
  LOAD: settings,
  PRAGMA: settings,
  RESET: settings,
  CALL: 'SELECT, or CREATE JOB name (…) for statements on a schedule',
  PREPARE: values,
  EXECUTE: values,
  DEALLOCATE: values,
  DECLARE: values,
  VACUUM: maintenance,
  CHECKPOINT: maintenance,
  ANALYZE: maintenance,
  OPTIMIZE: maintenance,
  KILL: 'closing the connection, which stops its query',
  LOCK: 'one statement for what belongs together: each is a transaction',
  UNLOCK: 'one statement for what belongs together: each is a transaction',
  SAVEPOINT: 'one statement for what belongs together: each is a transaction',
  RELEASE: 'one statement for what belongs together: each is a transaction',
  RENAME: "ALTER DATABASE name NAME = 'new'",
  'ALTER TABLE': 'CREATE OR REPLACE TABLE files.name (SELECT …)',
  'ALTER USER': whoAsks,
  'CREATE USER': whoAsks,
  'CREATE ROLE': whoAsks,
  'DROP USER': whoAsks,
  'CREATE INDEX': 'SELECT as it is: files are read by their columns, without an index',
  'DROP INDEX': 'SELECT as it is: files are read by their columns, without an index',
  'CREATE TEMP': 'WITH name AS (SELECT …) in the query, or CREATE TABLE files.name (SELECT …)',
  'CREATE TEMPORARY': 'WITH name AS (SELECT …) in the query, or CREATE TABLE files.name (SELECT …)',
  'CREATE FUNCTION': storedQuery,
  'CREATE MACRO': storedQuery,
  'CREATE PROCEDURE': storedQuery,
  'CREATE SEQUENCE': 'row_number() OVER () in a query',
}

/** The alternative to a statement with this first word or two; undefined if SQL has no such statement. */
const insteadOf = (word: string): string | undefined => {
  const verb = word.toUpperCase()
  return Object.hasOwn(instead, verb) ? instead[verb] : undefined
}

const refuseKnown = (cursor: Cursor, words: string): void => {
  const use = insteadOf(words)
  if (use !== undefined) cursor.refuse(cursor.peek(), `this service does not have ${words}`, `Use ${use}.`)
}

/** Refuses statements of SQL that this service does not have: the refusal names an alternative, or the expected words. */
export const refuseAbsent = (cursor: Cursor, verb: string): never => {
  const noun = cursor.peek()
  if (noun?.kind === 'word' && !cursor.isWord('ON', 1)) refuseKnown(cursor, `${verb} ${noun.text.toUpperCase()}`)
  return cursor.fail()
}

/** Refuses a first word that begins no statement; `verbs` are the valid words. */
export const refuseUnknown = (cursor: Cursor, verbs: readonly string[]): never => {
  const first = cursor.peek()
  const shown = first?.text.slice(0, 60).toUpperCase().toWellFormed() ?? ''
  refuseKnown(cursor, shown)
  return cursor.refuse(first, `${shown} begins no statement of this service; ${verbs.join(', ')} and SELECT do`)
}

/** `CREATE ANOMALY DETECTION MODEL …`, these words already taken. The refusal names an alternative. */
const takeAnomalyModel = (cursor: Cursor): StatementOf<'unavailable'> => {
  cursor.takeRest()
  return {
    kind: 'unavailable',
    what: 'CREATE ANOMALY DETECTION MODEL',
    instead: 'CREATE MODEL name FROM database (SELECT …) PREDICT column',
  }
}

export const absent = {
  unavailable: { effect: 'writes', forms: [{ verb: 'CREATE', nouns: { 'ANOMALY DETECTION MODEL': null }, take: takeAnomalyModel }] },
} satisfies Topic
