import type { ChatRequest, LanguageModel, ToolDescription } from './contract/language-model.js'

const tool: ToolDescription = {
  name: 'today',
  description: 'The date of today',
  inputSchema: { type: 'object', properties: {} },
}

/**
 * Tries a model with a tiny question, under the limits that its answers have, and with a tool if its answers use some. Returns the name
 * that the provider answers with.
 *
 * @example await checkModel(await models.forAgent(agent), requestOf(settingsOf(agent)), { signal }) // 'gpt-4o-2024-08-06'
 * @throws Problem llm_failed, egress_refused, busy
 */
export const checkModel = async (
  model: LanguageModel,
  settings: Pick<ChatRequest, 'maxOutputTokens' | 'temperature'>,
  { signal, usesTools = true }: { signal: AbortSignal; usesTools?: boolean },
): Promise<string> => {
  const answer = model.chat(
    { ...settings, messages: [{ role: 'user', content: 'Answer with OK.' }], tools: usesTools ? [tool] : [] },
    { signal },
  )
  for (;;) {
    const next = await answer.next()
    if (next.done) return next.value.model
  }
}
