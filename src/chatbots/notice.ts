import type { Resource } from '../log/contract/log.js'
import { limits } from '../basics/limits.js'

const usual = 'Sorry, I could not answer that. Please try again later.'

/**
 * What people are told when a chatbot has no answer for them: its param `notice`, or a sentence of this service. Undefined if the param is
 * an empty text. It never depends on what went wrong.
 *
 * @example noticeOf(chatbot) // 'Sorry, I could not answer that. Please try again later.'
 */
export const noticeOf = ({ state: { params } }: Pick<Resource<'chatbot'>, 'state'>): string | undefined => {
  const { notice } = params
  const text = typeof notice === 'string' ? notice.trim().slice(0, limits.chatbotNoticeMaxChars) : usual
  return text === '' ? undefined : text.replaceAll('\0', '').toWellFormed()
}
