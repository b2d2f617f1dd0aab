import type { Agent } from '../../../events/agent.js'
import { isObject, type JsonObject } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import { statedNumber } from '../../catalogue/stated-model.js'
import type { AnswerBounds } from '../contract/answer-record.js'
import { agentModes } from '../../commands/rules/agent-settings.js'
import type { ChatRequest } from '../../llm/contract/language-model.js'
import { maskSecrets } from '../../vault/seal-secrets.js'

/** The settings of an agent's answers, from its params. */
export type AgentSettings = {
  promptTemplate: string | undefined
  /** `sql`: the rows are the answer. `retrieval`: the agent searches documents before it answers. */
  mode: (typeof agentModes)[number]
  /** Undefined: as many as the language model gives. */
  maxOutputTokens: number | undefined
  bounds: AnswerBounds
  temperature: number | undefined
  timeoutMs: number
  tokensPerDay: number | undefined
  /** The params without their secrets. */
  params: JsonObject
}

const firstNumber = (objects: readonly JsonObject[], key: string, least: number, most: number): number | undefined => {
  for (const object of objects) {
    const number = statedNumber(object[key])
    if (number !== null) return Math.min(Math.max(number, least), most)
  }
  return undefined
}

/** The params with each `{{name}}` in a template replaced by the agent's param of this name; `{{question}}` stays for the question. */
const filled = (template: string, params: JsonObject): string =>
  template.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (whole, name: string) => {
    const value = params[name]
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : whole
  })

/**
 * Reads the settings of an agent of either generation. It ignores invalid values, which older logs may have.
 *
 * @example settingsOf({ …agent, params: { timeout: 20 } }).timeoutMs // 20000
 */
export const settingsOf = ({ params: sealed }: Pick<Agent, 'params'>): AgentSettings => {
  const params = maskSecrets(sealed)
  const { model, prompt_template: template, mode } = params
  const objects = isObject(model) ? [params, model] : [params]
  const bound = (key: string, least: number, most: number, usual = most) => Math.floor(firstNumber(objects, key, least, most) ?? usual)
  const outputTokens = firstNumber(objects, 'max_tokens', 1, limits.agentOutputMaxTokens)
  const seconds = firstNumber(objects, 'timeout', 1, limits.agentAnswerMaxTimeoutMs / 1_000)
  return {
    promptTemplate: typeof template === 'string' && template.trim() !== '' ? filled(template, params) : undefined,
    mode: agentModes.find((known) => known === mode) ?? 'text',
    maxOutputTokens: outputTokens === undefined ? undefined : Math.round(outputTokens),
    bounds: {
      promptTokens: bound('max_prompt_tokens', 1, limits.agentPromptMaxTokens, limits.agentPromptTokens),
      answerTokens: bound('max_answer_tokens', 1, limits.agentAnswerMaxTokens),
      history: bound('max_history', 0, limits.agentHistoryMaxTurns),
      steps: bound('max_steps', 1, limits.agentStepsMax),
      queries: bound('max_queries', 1, limits.agentSqlMaxCalls),
      repairs: bound('max_repairs', 0, limits.agentRepairsMax),
    },
    temperature: firstNumber(objects, 'temperature', 0, 2),
    timeoutMs: seconds === undefined ? limits.agentAnswerTimeoutMs : Math.round(seconds * 1_000),
    tokensPerDay: firstNumber(objects, 'tokens_per_day', 0, limits.agentDayMaxTokens),
    params,
  }
}

/** The settings that each request to the language model of an agent has. */
export const requestOf = ({
  maxOutputTokens,
  temperature,
}: Pick<AgentSettings, 'maxOutputTokens' | 'temperature'>): Pick<ChatRequest, 'maxOutputTokens' | 'temperature'> => ({
  ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  ...(temperature !== undefined && { temperature }),
})
