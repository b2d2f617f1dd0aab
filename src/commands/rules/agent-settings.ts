import { isObject, type Json, type JsonObject } from '../../../events/common.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { nearest } from '../../basics/nearest.js'
import { formerAgentParams } from '../../catalogue/grants.js'
import { statedNumber } from '../../catalogue/stated-model.js'

/** The mode of an agent's answers: words, the rows of its query, or passages from documents. */
export const agentModes = ['text', 'sql', 'retrieval'] as const

/** The settings that are numbers: the least of each, and its description for clients. */
const numbers: Readonly<Record<string, { least: number; about: string }>> = {
  timeout: {
    least: 0,
    about: `Seconds for an answer; ${limits.agentAnswerTimeoutMs / 1_000} by default, at most ${limits.agentAnswerMaxTimeoutMs / 1_000}`,
  },
  max_tokens: {
    least: 1,
    about: `Tokens that the language model may answer each time, at most ${limits.agentOutputMaxTokens}; as many as it gives if not set`,
  },
  max_prompt_tokens: {
    least: 1,
    about: `Tokens of a whole prompt; ${limits.agentPromptTokens} by default, at most ${limits.agentPromptMaxTokens}`,
  },
  max_answer_tokens: { least: 1, about: `Tokens of an answer, read and written, at most ${limits.agentAnswerMaxTokens}` },
  max_history: { least: 0, about: `Earlier messages of the conversation in a prompt, at most ${limits.agentHistoryMaxTurns}` },
  max_steps: { least: 1, about: `Requests to the language model for an answer, at most ${limits.agentStepsMax}` },
  max_queries: { least: 1, about: `Queries for an answer, at most ${limits.agentSqlMaxCalls}` },
  max_repairs: { least: 0, about: `Failed queries in a row that the language model may correct, at most ${limits.agentRepairsMax}` },
  temperature: { least: 0, about: 'Temperature of the language model, at most 2' },
  tokens_per_day: { least: 0, about: 'Tokens in a day (UTC), at most AGENT_TOKENS_PER_DAY' },
}

/** The JSON Schemas of the settings, for the description of the API. The params of an agent may have others, for its prompt template. */
export const settingSchemas: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(
    Object.entries(numbers).map(([name, { least, about }]) => [
      name,
      { type: ['number', 'string', 'null'], minimum: least, description: `${about}; also as a text` },
    ]),
  ),
  mode: { enum: [...agentModes, null], description: 'Whether words, the rows of a query or passages of documents are the answer' },
}

const isUnset = (value: Json | undefined): value is null | undefined => value === undefined || value === null

const refuseUnfitNumber = (name: string, value: Json | undefined): void => {
  const least = numbers[name]?.least ?? 0
  if (isUnset(value) || (statedNumber(value) ?? -Infinity) >= least) return
  throw wrong(`${name}: must be a number, at least ${least}`, 'Leave it out for the limit of the service.')
}

const refuseFormer = (params: JsonObject, before: JsonObject): void => {
  const former = formerAgentParams.filter((name) => !isUnset(params[name]) && !(name in before))
  if (former.length > 0)
    throw new Problem('not_found', 'Resource not found', `an agent has no params ${former.join(', ')}`, {
      hint: 'Name its tables in data.tables, and its knowledge bases in data.knowledge_bases.',
    })
}

/**
 * Refuses invalid settings of an agent. A number above a limit of the service counts as the limit, because an agent from another service
 * may not know it. Params with other names are for templates, and are never checked. An agent that has a param of `before` may keep it.
 *
 * @example refuseUnfitSettings({ timeout: 'soon' }) // throws
 * @throws Problem wrong_arguments that names the setting; not_found for the params of earlier agents
 */
export const refuseUnfitSettings = (params: JsonObject, before: JsonObject = {}): void => {
  const { model, mode } = params
  refuseFormer(params, before)
  for (const name of Object.keys(numbers)) {
    refuseUnfitNumber(name, params[name])
    if (isObject(model)) refuseUnfitNumber(name, model[name])
  }
  if (isUnset(mode) || agentModes.some((known) => known === mode)) return
  const meant = typeof mode === 'string' ? ` Did you mean "${nearest(mode, agentModes)}"?` : ''
  throw wrong(`mode: is one of ${agentModes.join(', ')}`, `Leave it out for text.${meant}`)
}
