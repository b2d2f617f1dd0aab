import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { send, startTestService } from '../../support/service.js'

let running: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  running = await startTestService()
})
afterAll(() => running.stop())

const create = (project: string, channel: string) =>
  send(running.url, 'POST', `/api/projects/${project}/chatbots`, {
    chatbot: { name: 'bot', agent_name: 'helper', db_engine: 'slack', db_params: { channel } },
  })
const channel = async () => {
  const { body } = await send(running.url, 'GET', '/api/databases/bot_db')
  return (body as { connection_data?: { channel: string } }).connection_data?.channel
}

test('a creation that is refused leaves the connection of the chatbot that is there as it was', async () => {
  await send(running.url, 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'helper', model: 'm' } })
  expect((await create('nowhere', 'first')).status).toBe(404)
  expect(await channel()).toBeUndefined()
  expect((await create('mindsdb', 'first')).status).toBe(201)
  expect((await create('mindsdb', 'second')).status).toBe(409)
  expect(await channel()).toBe('first')
})
