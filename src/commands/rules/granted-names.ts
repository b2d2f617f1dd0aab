import type { JsonObject } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { grantsOf } from '../../catalogue/grants.js'

/**
 * Refuses lists of tables, models and knowledge bases with entries that are no names, in the params of a skill or of an agent, and a list of
 * tables in a skill for SQL that names none. Any other list may name nothing; it grants nothing.
 *
 * @example refuseUnfitNames({ type: 'sql', params: { database: 'crm', tables: [null] } }) // throws
 * @throws Problem wrong_arguments that names the list
 */
export const refuseUnfitNames = (of: { type: string; params: JsonObject } | { agentParams: JsonObject }): void => {
  const [fault] = ('type' in of ? grantsOf([of], {}) : grantsOf([], of.agentParams)).faults
  if (fault === undefined) return
  throw wrong(fault, 'Write each name as a text, such as "orders". Leave the list out if it is to narrow nothing.')
}
