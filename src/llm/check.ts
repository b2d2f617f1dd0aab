import type { ChatEnd, ChatMessage, ChatRequest, LanguageModel, ToolCall, ToolDescription } from './contract/language-model.js'

const tool: ToolDescription = {
  name: 'today',
  description: 'The date of today',
  inputSchema: { type: 'object', properties: {} },
}

type Answer = ChatEnd & { text: string; toolCalls: ToolCall[] }

const hear = async (answer: ReturnType<LanguageModel['chat']>): Promise<Answer> => {
  const toolCalls: ToolCall[] = []
  let text = ''
  for (;;) {
    const next = await answer.next()
    if (next.done) return { ...next.value, text, toolCalls }
    if ('toolCall' in next.value) toolCalls.push(next.value.toolCall)
    else text = 'remark' in next.value ? '' : text + next.value.text
  }
}

/** A conversation whose calls of the tool are answered. */
const goneOn = (messages: readonly ChatMessage[], { text, toolCalls, thoughts }: Answer): ChatMessage[] => [
  ...messages,
  { role: 'assistant', content: text, toolCalls, ...(thoughts && { thoughts }) },
  ...toolCalls.map(({ id, tool }) => ({ role: 'tool' as const, toolCallId: id, tool, content: new Date().toISOString().slice(0, 10) })),
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
  const ask = (messages: readonly ChatMessage[]) => hear(model.chat({ ...settings, messages, tools: usesTools ? [tool] : [] }, { signal }))
  const question: ChatMessage[] = [{ role: 'user', content }]
  const answer = await ask(question)
  return (answer.toolCalls.length > 0 ? await ask(goneOn(question, answer)) : answer).model
}
