import { isObject, type Json } from '../../../events/common.js'
import { isNestedDeeper } from '../../basics/json-text.js'
import { limits } from '../../basics/limits.js'
import type { ChatEnd, ChatMessage, LanguageModel, Thoughts, ToolCall } from './language-model.js'

/** The input of a call as the provider gets it back. Servers fail on input that is no object, so an ill-formed one stands in an object. */
export const inputOf = (text: string): Json => {
  try {
    const value = JSON.parse(text) as Json
    if (isNestedDeeper(value, limits.jsonMaxDepth)) return { ill_formed_input: text }
    return isObject(value) ? value : { input: value }
  } catch {
    return { ill_formed_input: text }
  }
}

/** All system texts as one text: many models only accept it at the beginning. */
export const systemText = (messages: readonly ChatMessage[]): string =>
  messages.flatMap(({ role, content }) => (role === 'system' && content !== '' ? [content] : [])).join('\n\n')

/** A whole answer of a language model. */
export type WholeAnswer = ChatEnd & { text: string; toolCalls: ToolCall[] }

/** Waits for the whole answer of a language model. A text that was only a remark is no part of it. */
export const wholeAnswer = async (parts: ReturnType<LanguageModel['chat']>): Promise<WholeAnswer> => {
  const toolCalls: ToolCall[] = []
  let text = ''
  for (;;) {
    const next = await parts.next()
    if (next.done) return { ...next.value, text, toolCalls }
    const part = next.value
    if ('toolCall' in part) toolCalls.push(part.toolCall)
    else text = 'remark' in part ? '' : text + part.text
  }
}

type Reply = { text: string; toolCalls: readonly ToolCall[]; thoughts?: Thoughts }

/** An answer of a language model as a message of its next request. */
export const replyOf = ({ text, toolCalls, thoughts }: Reply): ChatMessage => ({
  role: 'assistant',
  content: text,
  toolCalls,
  ...(thoughts && { thoughts }),
})
