import { Problem } from '../../basics/errors.js'
import type { Resource, Log } from '../../log/contract/log.js'
import { openSecrets } from '../../vault/seal-secrets.js'
import type { Channel, ChannelParams, Fetch } from './channel.js'
import { slackChannel } from './slack.js'
import { telegramChannel } from './telegram.js'
import { webhookChannel } from './webhook.js'

const channels: Readonly<Record<string, (params: ChannelParams, call: Fetch) => Channel>> = {
  slack: slackChannel,
  telegram: telegramChannel,
  webhook: webhookChannel,
}

/**
 * The chat service of a chatbot, from the chatbot's connection.
 *
 * @throws Problem not_ready when the connection was deleted or is no chat service; erased when its secrets were erased
 */
export const channelOf = async (log: Pick<Log, 'resources' | 'payload'>, chatbot: Resource<'chatbot'>, call: Fetch): Promise<Channel> => {
  const connection = await log.resources.byStream('database', chatbot.state.database)
  const make = connection && channels[connection.state.engine]
  if (!connection || !make)
    throw new Problem('not_ready', 'No chat service', `the connection of ${chatbot.state.name} is no chat service`, {
      hint: `Chat services have connections of these engines: ${Object.keys(channels).join(', ')}.`,
    })
  return make(await openSecrets(connection.state.parameters, (hash) => log.payload(hash)), call)
}
