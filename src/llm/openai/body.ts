import { unreachable, type JsonObject } from '../../../events/common.js'
import type { ChatMessage, ChatRequest, ToolCall } from '../contract/language-model.js'
import { inputOf, systemText } from '../contract/messages.js'

const callOf = ({ id, tool, input, signature }: ToolCall) => ({
  id,
  type: 'function',
  function: { name: tool, arguments: JSON.stringify(inputOf(input)) },
  ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
})

const messageOf = (message: ChatMessage): JsonObject[] => {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', content: message.content }]
    case 'assistant': {
      const { content, toolCalls = [] } = message
      // Some servers refuse texts that are empty.
      if (toolCalls.length > 0) return [{ role: 'assistant', content: content || null, tool_calls: toolCalls.map(callOf) }]
      return content === '' ? [] : [{ role: 'assistant', content }]
    }
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.toolCallId, content: message.content }]
    default:
      return unreachable(message)
  }
}

/** The messages of a chat as OpenAI takes them, with what the system says as one message at the beginning. */
export const messagesOf = (messages: readonly ChatMessage[]): JsonObject[] => {
  const system = systemText(messages)
  return [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.flatMap(messageOf)]
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
