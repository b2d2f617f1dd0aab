import { streamId, type StreamId } from '../../../events/common.js'
import { origin, type OpenLog } from '../log/log.js'

/** Creates a project with an agent and its chatbot on Telegram. Returns the stream of the agent. */
export const createTelegramBot = async ({ ledger }: Pick<OpenLog, 'ledger'>): Promise<StreamId> => {
  const target = { project: 'shop' }
  await ledger.execute({ type: 'CreateProject', data: target }, origin)
  const helper = { agent: 'helper', model_name: 'm', provider: null, skills: [], params: {} }
  const agent = streamId.parse((await ledger.execute({ type: 'CreateAgent', data: { ...target, ...helper } }, origin)).stream)
  const bot = { chatbot: 'bot', agent: 'helper', is_running: true }
  const connection = { stream: '0190a000-0000-7000-8000-000000000001', engine: 'telegram', parameters: {} } as never
  await ledger.execute({ type: 'CreateChatbot', data: { ...target, ...bot, connection } }, origin)
  return agent
}
