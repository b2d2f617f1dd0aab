import { kinds, pluralOf, type Kind } from '../../../events/catalogue/catalogue.js'
import { foldName } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import type { StatementOf } from '../statements/statement.js'
import { notAFile } from './table-writer.js'

const notBuilt = (what: string, instead: string): Problem =>
  new Problem('not_built', 'Not available', `this service does not have ${what}`, { hint: instead })

/**
 * The statements that change and delete a resource of each kind, instead of its row; null for kinds whose name FROM takes as a file's name.
 */
const statementsOf: Readonly<Record<Kind, { update: string; delete: string } | null>> = {
  skill: { update: 'UPDATE SKILL name SET key = value', delete: 'DROP SKILL name' },
  agent: { update: 'UPDATE AGENT name SET key = value', delete: 'DROP AGENT name' },
  chatbot: { update: 'UPDATE CHATBOT name SET key = value', delete: 'DROP CHATBOT name' },
  view: { update: 'ALTER VIEW name AS (SELECT …)', delete: 'DROP VIEW name' },
  model: { update: 'RETRAIN name, or SET active name.version', delete: 'DROP MODEL name' },
  job: { update: 'ALTER JOB name (query; query) …', delete: 'DROP JOB name' },
  knowledge_base: { update: 'ALTER KNOWLEDGE_BASE name USING key = value', delete: 'DROP KNOWLEDGE_BASE name' },
  database: { update: 'ALTER DATABASE name PARAMETERS = {…}', delete: 'DROP DATABASE name' },
  project: null,
  file: null,
  conversation: null,
  config: null,
  engine: null,
}

const rowsStay = ({ verb, target }: StatementOf<'table_write'>, where: string, hasResources: boolean): Problem => {
  if (foldName(where) === 'files') return rowsOfFileStay(verb, target.name)
  const name = foldName(target.name)
  const kind = hasResources ? kinds.find((one) => pluralOf(one) === name) : undefined
  const statements = kind && statementsOf[kind]
  if (!statements) return notAFile(target, where)
  const detail = `${verb.toUpperCase()} is not possible: resources are changed by statements of their own`
  return new Problem('refused_statement', 'Rows are not changed in place', detail, { hint: `Use ${statements[verb]}.` })
}

const rowsOfFileStay = (verb: 'update' | 'delete', name: string): Problem => {
  const kept = verb === 'delete' ? `SELECT * FROM files.${name} WHERE NOT (…)` : `SELECT * REPLACE (… AS column) FROM files.${name}`
  return new Problem(
    'refused_statement',
    'Rows are not changed in place',
    `${verb.toUpperCase()} is not possible: rows are added to files, and never changed`,
    {
      hint: `Write the table as it shall be: CREATE OR REPLACE TABLE files.${name} (${kept}).`,
    },
  )
}

/** Refuses a statement that is understood but not supported, and shows an alternative. */
export const refuseStatement = ({ what, instead }: StatementOf<'unavailable'>): never => {
  throw notBuilt(what, `Use ${instead}.`)
}

/** Refuses the creation of a trigger, and the deletion of a trigger of that name: there are no triggers. */
export const refuseTriggers = (name?: string): never => {
  if (name === undefined) throw notBuilt('triggers', 'Follow the log: mindledger log --follow.')
  throw new Problem('not_found', 'Not found', `${name} does not exist: this service has no triggers`)
}

/**
 * Refuses UPDATE and DELETE of rows, and shows the statement to use instead. `where` is the database of the table; `hasResources` says
 * whether its tables are those of this service.
 */
export const refuseRowChange = (statement: StatementOf<'table_write'>, where: string, hasResources: boolean): never => {
  throw rowsStay(statement, where, hasResources)
}
