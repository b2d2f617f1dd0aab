import { unreachable, type JsonObject } from '../../../events/common.js'
import type { ChatMessage, ChatRequest, Thoughts, ToolCall } from '../contract/language-model.js'
import { inputOf, systemText } from '../contract/messages.js'
import { freeOrder, type Refusals } from '../contract/wire.js'
import { textIn } from './members.js'

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

const resultsTaken = 'I have the results.'

/** Messages in the order that some servers want: a text of the model between results and a user, and one text of a user at a time. */
const inTurns = (messages: readonly JsonObject[]): JsonObject[] => {
  const turns: JsonObject[] = []
  for (const message of messages) {
    const before = message['role'] === 'user' ? turns.at(-1) : undefined
    if (before?.['role'] === 'user') {
      turns[turns.length - 1] = { role: 'user', content: [before, message].map(({ content }) => textIn(content)).join('\n\n') }
      continue
    }
    if (before?.['role'] === 'tool') turns.push({ role: 'assistant', content: resultsTaken })
    turns.push(message)
  }
  return turns
}

/** The messages of a chat as OpenAI takes them, with what the system says as one message at the beginning. */
export const messagesOf = (messages: readonly ChatMessage[], refused: Refusals): JsonObject[] => {
  const system = systemText(messages)
  const said = messages.flatMap((message) => messageOf(message, refused))
  return [...(system === '' ? [] : [{ role: 'system', content: system }]), ...(refused.has(freeOrder) ? inTurns(said) : said)]
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
