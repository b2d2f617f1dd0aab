import { Problem } from '../errors.js'
import { findEngine } from '../models/engine.js'
import type { Statement } from './statements/statement.js'

const notBuilt = (what: string, instead: string): Problem =>
  new Problem('not_built', 'Not available', `this service does not have ${what}`, { hint: instead })

const isEngine = (name: string): boolean => {
  try {
    findEngine(name)
    return true
  } catch {
    return false
  }
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
    case 'create_ml_engine':
      if (isEngine(statement.handler) && isEngine(statement.name)) return []
      throw notBuilt(
        'other engines than its own',
        'CREATE MODEL without USING engine takes the one there is; SHOW ML_ENGINES lists its names.',
      )
    case 'drop_ml_engine':
      if (statement.ifExists && !isEngine(statement.name)) return []
      throw new Problem('refused_statement', 'Engines stay', `${statement.name} is not an engine that can be dropped`, {
        hint: 'The engines are part of this service.',
      })
    case 'create_table':
      throw notBuilt('CREATE TABLE', 'Upload the rows as a file (PUT /api/files/name), or keep the query: CREATE VIEW name AS (SELECT …).')
    case 'table_write':
      throw new Problem(
        'refused_statement',
        'Tables are not written to',
        `${statement.verb.toUpperCase()} is not possible: tables are read here`,
        {
          hint: 'Delete the uploaded file and send it anew: DELETE, then PUT /api/files/name.',
        },
      )
    case 'explain':
      throw notBuilt('EXPLAIN', 'Run the query with LIMIT.')
    default:
      throw new TypeError(`nothing carries out ${statement.kind}`)
  }
}
