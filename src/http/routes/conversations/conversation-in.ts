import { streamId } from '../../../../events/common.js'
import { notFound } from '../../../basics/errors.js'
import type { Log, Resource } from '../../../log/contract/log.js'

/** A conversation of a chatbot by its id, a UUID. @throws Problem 404 */
export const conversationIn = async (
  { resources }: Pick<Log, 'resources'>,
  chatbot: Resource<'chatbot'>,
  ref: string,
): Promise<Resource<'conversation'>> => {
  const stream = streamId.safeParse(ref.toLowerCase())
  const found = stream.success ? await resources.byStream('conversation', stream.data) : undefined
  if (found?.state.chatbot !== chatbot.stream) throw notFound('conversation', ref)
  return found
}
