import { isObject, type Json } from '../../../events/common.js'
import type { ChatMessage } from './language-model.js'

/** The input of a call as the provider gets it back. Servers fail on input that is no object, so an ill-formed one stands in an object. */
export const inputOf = (text: string): Json => {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) ? value : { input: value }
  } catch {
    return { ill_formed_input: text }
  }
}

/** All system texts as one text: many models only accept it at the beginning. */
export const systemText = (messages: readonly ChatMessage[]): string =>
  messages.flatMap(({ role, content }) => (role === 'system' && content !== '' ? [content] : [])).join('\n\n')
