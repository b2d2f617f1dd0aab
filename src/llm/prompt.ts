import type { LanguageModelV3FunctionTool, LanguageModelV3Message } from '@ai-sdk/provider'
import { isObject, unreachable, type Json } from '../../events/common.js'
import type { ChatMessage, ToolCall, ToolDescription } from './contract/language-model.js'

/** The input of a call as the provider gets it back. Servers fail on input that is no object, so an ill-formed one stands in an object. */
const inputOf = (text: string): Json => {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) ? value : { input: value }
  } catch {
    return { ill_formed_input: text }
  }
}

const callOf = ({ id, tool, input, signature }: ToolCall) => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName: tool,
  input: inputOf(input),
  ...(signature !== undefined && { providerOptions: { google: { thoughtSignature: signature } } }),
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

const isSystem = (message: ChatMessage): message is ChatMessage & { role: 'system' } => message.role === 'system'

/**
 * The messages as the libraries of the providers take them. What the system says becomes one message at the beginning, since many models
 * have no other place for it.
 */
export const promptOf = (messages: readonly ChatMessage[]): LanguageModelV3Message[] => {
  const system = messages
    .filter(isSystem)
    .map(({ content }) => content)
    .filter((content) => content !== '')
  return [...(system.length > 0 ? [{ role: 'system' as const, content: system.join('\n\n') }] : []), ...messages.flatMap(messageOf)]
}

/** The tools as the libraries of the providers take them. */
export const toolsOf = (tools: readonly ToolDescription[]): LanguageModelV3FunctionTool[] =>
  tools.map(({ name, description, inputSchema }) => ({ type: 'function', name, description, inputSchema }))
