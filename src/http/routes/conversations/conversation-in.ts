import { streamId } from '../../../../events/common.js'
import { notFound } from '../../../basics/errors.js'
import type { Ledger } from '../../../commands/ledger.js'
import type { Resource } from '../../../log/contract/log.js'

/** A conversation of a chatbot by its id, a UUID. @throws Problem 404 */
export const conversationIn = async ({ log }: Ledger, chatbot: Resource<'chatbot'>, ref: string): Promise<Resource<'conversation'>> => {
  const stream = streamId.safeParse(ref.toLowerCase())
  const found = stream.success ? await log.resources.byStream('conversation', stream.data) : undefined
  if (found?.state.chatbot !== chatbot.stream) throw notFound('conversation', ref)
  return found
}
