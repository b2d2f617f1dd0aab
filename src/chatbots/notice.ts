import type { Resource } from '../log/contract/log.js'
import { limits } from '../basics/limits.js'

const usual = 'Sorry, I could not answer that. Please try again later.'

/**
 * The notice of a chatbot without an answer: its param `notice`, or a sentence of this service. Undefined if the param is an empty text. It
 * never depends on the error.
 *
 * @example noticeOf(chatbot) // 'Sorry, I could not answer that. Please try again later.'
 */
export const noticeOf = ({ state: { params } }: Pick<Resource<'chatbot'>, 'state'>): string | undefined => {
  const { notice } = params
  const text = typeof notice === 'string' ? notice.trim().slice(0, limits.chatbotNoticeMaxChars) : usual
  return text === '' ? undefined : text.replaceAll('\0', '').toWellFormed()
}
