import { unreachable, type JsonObject } from '../../../events/common.js'
import type { ChatMessage, ChatRequest, Thoughts, ToolCall } from '../contract/language-model.js'
import { inputOf, systemText } from '../contract/messages.js'
import type { Refusals } from '../contract/wire.js'

const callOf = ({ id, tool, input, signature }: ToolCall) => ({
  id,
  type: 'function',
  function: { name: tool, arguments: JSON.stringify(inputOf(input)) },
  ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
})

/** The members that hold thoughts, without those that the model refuses. */
const thoughtsIn = (thoughts: Thoughts = {}, refused: Refusals): JsonObject =>
  Object.fromEntries(Object.entries(thoughts).filter(([member]) => !refused.has(member)))

const messageOf = (message: ChatMessage, refused: Refusals): JsonObject[] => {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', content: message.content }]
    case 'assistant': {
      const { content, toolCalls = [], thoughts } = message
      const said = { role: 'assistant', ...thoughtsIn(thoughts, refused) }
      // Some servers refuse texts that are empty.
      if (toolCalls.length > 0) return [{ ...said, content: content || null, tool_calls: toolCalls.map(callOf) }]
      return content === '' ? [] : [{ ...said, content }]
    }
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.toolCallId, content: message.content }]
    default:
      return unreachable(message)
  }
}

/** The messages of a chat as OpenAI takes them, with what the system says as one message at the beginning. */
export const messagesOf = (messages: readonly ChatMessage[], refused: Refusals): JsonObject[] => {
  const system = systemText(messages)
  return [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.flatMap((message) => messageOf(message, refused))]
}

/** The tools of a chat as OpenAI takes them; without any, nothing is said of tools. */
export const toolsOf = ({ tools, toolChoice = 'auto' }: Pick<ChatRequest, 'tools' | 'toolChoice'>): JsonObject =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map(({ name, description, inputSchema }) => ({
          type: 'function',
          function: { name, description, parameters: inputSchema },
        })),
        tool_choice: toolChoice,
      }
