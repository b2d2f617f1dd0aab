import { Problem } from '../errors.js'
import type { Statement, StatementOf } from './statements/statement.js'

const notBuilt = (what: string, instead: string): Problem =>
  new Problem('not_built', 'Not available', `this service does not have ${what}`, { hint: instead })

const rowsStay = ({ verb, target: { name } }: StatementOf<'table_write'>): Problem => {
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

/**
 * The answer to statements that are understood and not carried out: a refusal that names what to use instead,
 * or nothing to do where what is asked for is so already.
 */
export const refuseUnavailable = (statement: Statement): [] => {
  switch (statement.kind) {
    case 'unavailable':
      throw notBuilt(statement.what, `Use ${statement.instead}.`)
    case 'create_trigger':
      throw notBuilt('triggers', 'Follow the log: mindledger log --follow.')
    case 'drop_trigger':
      if (statement.ifExists) return []
      throw new Problem('not_found', 'Not found', `${statement.target.name} does not exist: this service has no triggers`)
    case 'table_write':
      throw rowsStay(statement)
    default:
      throw new TypeError(`nothing carries out ${statement.kind}`)
  }
}
