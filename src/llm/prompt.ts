import type { LanguageModelV3FunctionTool, LanguageModelV3Message } from '@ai-sdk/provider'
import { unreachable } from '../../events/common.js'
import type { ChatMessage, ToolCall, ToolDescription } from './contract/language-model.js'
import { inputOf, systemText } from './contract/messages.js'

const callOf = ({ id, tool, input }: ToolCall) => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName: tool,
  input: inputOf(input),
})

const messageOf = (message: ChatMessage): LanguageModelV3Message[] => {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: message.content }] }]
    case 'assistant': {
      // Some providers refuse texts that are empty.
      const text = message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]
      const content = [...text, ...(message.toolCalls ?? []).map(callOf)]
      return content.length === 0 ? [] : [{ role: 'assistant', content }]
    }
    case 'tool': {
      const output = { type: 'text' as const, value: message.content }
      return [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: message.toolCallId, toolName: message.tool, output }] }]
    }
    default:
      return unreachable(message)
  }
}

/** The messages as the library takes them, with what the system says as one message at the beginning. */
export const promptOf = (messages: readonly ChatMessage[]): LanguageModelV3Message[] => {
  const system = systemText(messages)
  return [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...messages.flatMap(messageOf)]
}

/** The tools as the library takes them. */
export const toolsOf = (tools: readonly ToolDescription[]): LanguageModelV3FunctionTool[] =>
  tools.map(({ name, description, inputSchema }) => ({ type: 'function', name, description, inputSchema }))
