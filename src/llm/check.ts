import type { LanguageModel } from './contract/language-model.js'

const enough = 16

/**
 * Tries a model with a tiny question, and returns the name that the provider answers with.
 *
 * @example await checkModel(await models.forAgent(agent), { signal }) // 'gpt-4o-2024-08-06'
 * @throws Problem llm_failed, egress_refused, busy
 */
export const checkModel = async (model: LanguageModel, options: { signal: AbortSignal }): Promise<string> => {
  const answer = model.chat({ messages: [{ role: 'user', content: 'Answer with OK.' }], tools: [], maxOutputTokens: enough }, options)
  for (;;) {
    const next = await answer.next()
    if (next.done) return next.value.model
  }
}
