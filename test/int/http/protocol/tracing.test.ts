import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { settled, uploadRentals } from '../../../support/models/rentals.js'
import { send, sql, startTestService } from '../../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await uploadRentals(at.url)
})
afterAll(() => at.stop())

const project = '/api/projects/mindsdb'
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const skill = (name: string) => ({ skill: { name, type: 't', params: {} } })

type Event = {
  position: number
  type: string
  request: string | null
  correlation: string | null
  causation: string | null
  traceparent?: string
}
const eventsAfter = async (position: number): Promise<Event[]> =>
  (await at.service.log.readAll(position, 100)).map(({ text }) => JSON.parse(text) as Event)

test('what a request says of where it belongs is kept with its events, and returned', async () => {
  const { position } = await at.service.head()
  const headers = { 'x-correlation-id': 'c-1', 'x-causation-id': 'k-1', traceparent, tracestate: 'a=b' }
  const reply = await send(at.url, 'POST', `${project}/skills`, skill('traced'), headers)
  expect(reply.headers.get('x-correlation-id')).toBe('c-1')
  expect(reply.headers.get('traceparent')).toBe(traceparent)
  expect(reply.headers.get('tracestate')).toBeNull()
  expect(await eventsAfter(position)).toMatchObject([{ correlation: 'c-1', causation: 'k-1', traceparent }])
  const [row] = (await sql(at.url, `SELECT correlation, causation, traceparent FROM log.events WHERE position = ${position + 1}`)).data
  expect(row).toEqual(['c-1', 'k-1', traceparent])
})

test('a traceparent that is not valid is ignored, and an event without one has no such key', async () => {
  const { position } = await at.service.head()
  const reply = await send(at.url, 'POST', `${project}/skills`, skill('untraced'), { traceparent: traceparent.replace('00-', 'ff-') })
  expect(reply.status).toBe(201)
  expect(reply.headers.get('traceparent')).toBeNull()
  const [event = {}] = await eventsAfter(position)
  expect(event).not.toHaveProperty('traceparent')
  expect((await sql(at.url, `SELECT traceparent FROM log.events WHERE position = ${position + 1}`)).data).toEqual([[null]])
})

test('a training belongs to the request that asked for it', async () => {
  const { position } = await at.service.head()
  const query = 'CREATE MODEL rent FROM files (SELECT * FROM rentals LIMIT 30) PREDICT rental_price'
  await send(at.url, 'POST', '/api/sql/query', { query }, { 'x-correlation-id': 'c-2', traceparent })
  expect(await settled(at.url, 'rent')).toBe('complete')
  const events = await eventsAfter(position)
  const requested = events.find(({ type }) => type === 'ModelTrainingRequested')
  expect(requested).toMatchObject({ correlation: 'c-2', traceparent })
  const follows = { request: null, correlation: 'c-2', causation: `event/${requested?.position ?? 0}`, traceparent }
  expect(events.slice(-2)).toMatchObject([
    { type: 'ModelTrainingStarted', ...follows },
    { type: 'ModelTrained', ...follows },
  ])

  const after = (await at.service.head()).position
  const retrain = await send(at.url, 'POST', '/api/sql/query', { query: 'RETRAIN rent' })
  expect(await settled(at.url, 'rent.2')).toBe('complete')
  const [again, started] = await eventsAfter(after)
  expect(started).toMatchObject({ correlation: retrain.headers.get('x-request-id'), causation: `event/${again?.position ?? 0}` })
})

test('a run of a job is caused by its job, and what it does by the run', async () => {
  const { position } = await at.service.head()
  const query = "CREATE SKILL made USING type = 't'; RETRAIN rent"
  await send(at.url, 'POST', `${project}/jobs`, { job: { name: 'j', query } }, { 'x-correlation-id': 'c-3' })
  while ((await eventsAfter(position)).every(({ type }) => type !== 'JobRunFinished'))
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await settled(at.url, 'rent.3')).toBe('complete')
  const events = await eventsAfter(position)
  const named = (type: string) => events.find((event) => event.type === type)
  const [created, begun, requested] = [named('JobCreated'), named('JobRunStarted'), named('ModelTrainingRequested')]
  const run = begun?.request
  expect(created).toMatchObject({ correlation: 'c-3', causation: null })
  expect(begun).toMatchObject({ correlation: run, causation: `event/${created?.position ?? 0}` })
  for (const type of ['SkillCreated', 'ModelTrainingRequested', 'JobRunFinished'])
    expect(named(type)).toMatchObject({ request: run, correlation: run, causation: `event/${begun?.position ?? 0}` })
  expect(named('ModelTrained')).toMatchObject({ correlation: run, causation: `event/${requested?.position ?? 0}` })
})

test('predictions of several traced requests that share an event leave the traces to nobody', async () => {
  const { position } = await at.service.head()
  const predict = () => send(at.url, 'POST', `${project}/models/rent/predict`, [{ sqft: 500 }], { traceparent, 'x-correlation-id': 'c-4' })
  await Promise.all(Array.from({ length: 20 }, predict))
  const events = (await eventsAfter(position)) as (Event & { data: { requests: unknown[] } })[]
  for (const { data, traceparent: kept, correlation } of events)
    expect([kept, correlation]).toEqual(data.requests.length === 1 ? [traceparent, 'c-4'] : [undefined, null])
})
