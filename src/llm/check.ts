import type { ChatMessage, ChatRequest, LanguageModel, ToolDescription } from './contract/language-model.js'
import { replyOf, wholeAnswer, type WholeAnswer } from './contract/messages.js'

const tool: ToolDescription = {
  name: 'today',
  description: 'The date of today',
  inputSchema: { type: 'object', properties: {} },
}

/** A conversation whose calls of the tool are answered. */
const goneOn = (messages: readonly ChatMessage[], answer: WholeAnswer): ChatMessage[] => [
  ...messages,
  replyOf(answer),
  ...answer.toolCalls.map(({ id, tool }) => ({
    role: 'tool' as const,
    toolCallId: id,
    tool,
    content: new Date().toISOString().slice(0, 10),
  })),
]

/**
 * Tries a model with a tiny question, under the limits that its answers have, and with a tool if its answers use some. If the model calls
 * the tool, it also gets the result, because some servers only refuse the request with it. Returns the name that the provider answers with.
 *
 * @example await checkModel(await models.forAgent(agent), requestOf(settingsOf(agent)), { signal }) // 'gpt-4o-2024-08-06'
 * @throws Problem llm_failed, egress_refused, busy
 */
export const checkModel = async (
  model: LanguageModel,
  settings: Pick<ChatRequest, 'maxOutputTokens' | 'temperature'>,
  { signal, usesTools = true }: { signal: AbortSignal; usesTools?: boolean },
): Promise<string> => {
  const content = usesTools ? `Call the tool ${tool.name}, and then answer with OK.` : 'Answer with OK.'
  const ask = (messages: readonly ChatMessage[]) =>
    wholeAnswer(model.chat({ ...settings, messages, tools: usesTools ? [tool] : [] }, { signal }))
  const question: ChatMessage[] = [{ role: 'user', content }]
  const answer = await ask(question)
  return (answer.toolCalls.length > 0 ? await ask(goneOn(question, answer)) : answer).model
}
