import { send, sql, startTestService } from '../service.js'
import { ScriptedAgent, type Script } from './scripted-agent.js'

/** A service with one agent, whose answers a test chooses. It has helpers that make chatbots and read conversations. */
export const startChatting = async (script?: Script, environment: Record<string, string> = {}) => {
  const agent = new ScriptedAgent(script)
  await agent.start()
  const at = await startTestService(environment)
  const { url } = at
  await send(url, 'POST', '/api/projects/mindsdb/agents', agent.named('helper'))
  const stop = async () => {
    await at.stop()
    await agent.stop()
  }

  /** Makes a chatbot with its own connection; returns the path of its webhook. */
  const chatbot = async (name: string, engine: string, parameters: object, more: object = {}): Promise<string> => {
    const made = await send(url, 'POST', '/api/projects/mindsdb/chatbots', {
      chatbot: { name, agent_name: 'helper', is_running: true, db_engine: engine, db_params: parameters, ...more },
    })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return `/api/webhooks/chatbots/${(made.body as { webhook_token: string }).webhook_token}`
  }

  const events = async (...types: string[]): Promise<Record<string, unknown>[]> => {
    const list = types.map((type) => `'${type}'`).join(', ')
    const { data } = await sql(url, `SELECT type, data FROM log.events WHERE type IN (${list}) ORDER BY position`)
    return data.map(([type, text]) => ({ type, ...(JSON.parse(String(text)) as object) }))
  }

  return { ...at, stop, agent, chatbot, events }
}
