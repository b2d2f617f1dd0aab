import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { until } from '../support/until.js'
import { calls, resultsOf, ScriptedModel } from '../support/agents/scripted-model.js'
import { framesOf } from '../support/agents/shop.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'

const model = new ScriptedModel()
const directory = temporaryDirectory()
const path = '/api/projects/mindsdb/agents/clerk/completions'
const messages = [{ role: 'user', content: 'How many?' }]

beforeAll(() => model.start())
afterAll(async () => {
  await model.stop()
  directory.remove()
})

/** Answers with a query, then holds its second answer until it is let go. */
const held = (): { reached: Promise<void>; release: () => void } => {
  let reach: () => void = () => undefined
  let release: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (reach = resolve))
  const released = new Promise<void>((resolve) => (release = resolve))
  model.script = async (asked) => {
    if (resultsOf(asked).length === 0) return calls(['sql', { query: 'SELECT count(*) AS n FROM files.cars' }])
    reach()
    await released
    return 'Three.'
  }
  return { reached, release }
}

const outcomes = async (url: string) =>
  (await sql(url, `SELECT data->>'outcome' FROM log.events WHERE type = 'AgentAnswered' ORDER BY position`)).data.map(
    ([outcome]) => outcome,
  )

test('a SIGKILL in the middle of an answer leaves nothing half; a stop records what it cut off before it ends', async () => {
  let service = await spawnService(directory.path)
  await sql(service.url, 'CREATE TABLE files.cars (SELECT 1 AS id FROM range(3))')
  await send(service.url, 'POST', '/api/projects/mindsdb/agents', {
    agent: { name: 'clerk', model: model.model, data: { tables: ['files.cars'] } },
  })

  const first = held()
  const cut = send(service.url, 'POST', path, { messages }, { 'Idempotency-Key': 'once' }).catch((error: unknown) => error)
  await first.reached
  service.child.kill('SIGKILL')
  await service.ended
  expect(await cut).toMatchObject({ name: 'TypeError' })
  first.release()

  service = await spawnService(directory.path)
  expect(await outcomes(service.url)).toEqual([])
  const again = held()
  again.release()
  const { status, body } = await send(service.url, 'POST', path, { messages }, { 'Idempotency-Key': 'once' })
  expect([status, body]).toMatchObject([200, { message: { content: 'Three.' }, data: [{ rows: [[3]] }] }])
  expect(await outcomes(service.url)).toEqual(['answered'])

  const second = held()
  const streamed = send(service.url, 'POST', `${path}/stream`, { messages })
  await second.reached
  service.child.kill('SIGTERM')
  const frames = framesOf(String((await streamed).body))
  expect(frames.slice(-2)).toMatchObject([
    { type: 'error', code: 'busy' },
    { type: 'end', outcome: 'aborted' },
  ])
  await service.ended
  second.release()

  service = await spawnService(directory.path)
  await until(async () => (await outcomes(service.url)).length > 0)
  expect(await outcomes(service.url)).toEqual(['answered', 'aborted'])
  service.child.kill('SIGTERM')
  await service.ended
})
