import { isObject, type Json, type JsonObject } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'
import { statedNumber } from '../../catalogue/stated-model.js'

/** The mode of an agent's answers: words, the rows of its query, or passages from documents. */
export const agentModes = ['text', 'sql', 'retrieval'] as const

/** The settings that are numbers, with the least of each. */
const leastOf: Readonly<Record<string, number>> = { timeout: 0, max_tokens: 1, max_prompt_tokens: 1, temperature: 0, tokens_per_day: 0 }

const isUnset = (value: Json | undefined): value is null | undefined => value === undefined || value === null

const refuseUnfitNumber = (name: string, value: Json | undefined): void => {
  const least = leastOf[name] ?? 0
  if (isUnset(value) || (statedNumber(value) ?? -Infinity) >= least) return
  throw wrong(`${name}: must be a number, at least ${least}`, 'Leave it out for the limit of the service.')
}

/**
 * Refuses invalid settings of an agent. A number above a limit of the service counts as the limit, because an agent from another service
 * may not know it. Params with other names are for templates, and are never checked.
 *
 * @example refuseUnfitSettings({ timeout: 'soon' }) // throws
 * @throws Problem wrong_arguments that names the setting
 */
export const refuseUnfitSettings = (params: JsonObject): void => {
  const { model, mode } = params
  for (const name of Object.keys(leastOf)) {
    refuseUnfitNumber(name, params[name])
    if (isObject(model)) refuseUnfitNumber(name, model[name])
  }
  if (isUnset(mode) || agentModes.some((known) => known === mode)) return
  const meant = typeof mode === 'string' ? ` Did you mean "${nearest(mode, agentModes)}"?` : ''
  throw wrong(`mode: is one of ${agentModes.join(', ')}`, `Leave it out for text.${meant}`)
}
