import { expect, test } from '@jest/globals'
import { renderEnvelope, type Envelope, readHeader } from '../../../events/stored/envelope.js'
import type { JsonObject } from '../../../events/common.js'
import { EventProjects } from '../../../src/log/feed/event-project.js'
import { Matcher } from '../../../src/log/feed/filter.js'
import { stream } from '../../support/log/log.js'

const envelope = (over: Partial<Envelope>): Envelope => ({
  position: 1,
  stream: stream(1),
  version: 1,
  type: 'ProjectCreated',
  schema: 1,
  recorded_at: '2026-01-01T00:00:00.000001Z',
  actor: 'ann',
  source: 'rest',
  request: null,
  correlation: null,
  causation: null,
  data: {},
  ...over,
})

const placed = (over: Partial<Envelope>) => {
  const text = renderEnvelope(envelope(over))
  const header = readHeader(text)
  if (!header) throw new Error(`not read: ${text}`)
  return { ...header, text }
}

test('the header of a text is what parsing it gives, whatever characters it has', () => {
  for (const odd of ['ann', 'a "b" \\ c', 'ü\u2028猫', '","source":"sql"', '\\'])
    for (const nullable of [null, odd]) {
      const data: JsonObject = { text: `,"data":${odd}`, data: { data: 1 } }
      const text = renderEnvelope(envelope({ actor: odd, request: nullable, correlation: odd, causation: nullable, data }))
      const header = readHeader(text)
      expect(header).toBeDefined()
      expect(JSON.parse(`"${header?.actor ?? ''}"`)).toBe(odd)
      expect([header?.request, header?.correlation, header?.causation].map((json): unknown => JSON.parse(json ?? ''))).toEqual([
        nullable,
        odd,
        nullable,
      ])
      expect(header?.traceparent).toBeUndefined()
      expect(JSON.parse(text.slice(header?.dataAt, -1))).toEqual(data)
      const traced = readHeader(text.replace(',"data":', ',"traceparent":"00-aa-bb-01","data":'))
      expect(traced?.traceparent).toBe('"00-aa-bb-01"')
    }
})

test('a text that is not an event has no header', () => {
  expect(readHeader('{"stream":"a"}')).toBeUndefined()
  expect(readHeader('')).toBeUndefined()
})

test('an event belongs to the project that the first event of its stream names', async () => {
  const [project, skill, model] = [stream(1), stream(2), stream(3)]
  const first: Record<string, string> = {
    [skill]: placed({ stream: skill, type: 'SkillCreated', data: { project, name: 's', type: 't', params: {} } }).text,
    [model]: placed({ stream: model, type: 'ModelCreated', data: { project, name: 'm' } }).text,
  }
  let looks = 0
  const projects = new EventProjects(async (of) => {
    looks += 1
    const text = first[of]
    return text === undefined ? undefined : { text }
  })
  expect(await projects.of(placed({ stream: project }))).toBe(project)
  expect(await projects.of(placed({ stream: project, version: 3, type: 'ProjectDeleted' }))).toBe(project)
  expect(await projects.of(placed({ stream: skill, version: 7, type: 'SkillDeleted' }))).toBe(project)
  expect(await projects.of(placed({ stream: skill, version: 8, type: 'SkillUpdated' }))).toBe(project)
  expect(looks).toBe(1)
  expect(await projects.of(placed({ stream: `${model}/predictions`, version: 1, type: 'PredictionsServed' }))).toBe(project)
  expect(await projects.of(placed({ stream: stream(4), type: 'ModelCreated', data: { project: stream(9), name: 'm' } }))).toBe(stream(9))
  expect(looks).toBe(2)
})

test('records belong to the project of the resource that they stand beside', async () => {
  const [project, resource] = [stream(1), stream(2)]
  const firstOf = (type: string, data: JsonObject) => new EventProjects(async () => placed({ stream: resource, type, data }))
  for (const [type, beside, record] of [
    ['ModelCreated', 'predictions', 'PredictionsServed'],
    ['AgentCreated', 'answers', 'AgentAnswered'],
    ['KnowledgeBaseCreated', 'contents', 'KnowledgeInserted'],
    ['KnowledgeBaseCreated', 'searches', 'KnowledgeSearched'],
  ] as const)
    expect(await firstOf(type, { project, name: 'r' }).of(placed({ stream: `${resource}/${beside}`, type: record }))).toBe(project)
  const queries = placed({ stream: `${resource}/queries`, type: 'DatabaseQueried' })
  expect(await firstOf('DatabaseCreated', { name: 'd' }).of(queries)).toBeNull()
  const foreign = placed({ stream: `${resource}/predictions`, type: 'invoice.InvoiceIssued' })
  expect(await firstOf('ModelCreated', { project, name: 'm' }).of(foreign)).toBeNull()
})

test('what lives in no project belongs to none', async () => {
  const projects = new EventProjects(async () => {
    throw new Error('nothing is to be looked up')
  })
  for (const type of ['FileCreated', 'DatabaseUpdated', 'ConfigDeleted', 'EngineCreated', 'DataErased'])
    expect(await projects.of(placed({ type, version: 2 }))).toBeNull()
})

test('a stream without a first event belongs to none, and is asked for again', async () => {
  let looks = 0
  const projects = new EventProjects(async () => {
    looks += 1
    return undefined
  })
  expect(await projects.of(placed({ version: 2, type: 'SkillDeleted' }))).toBeNull()
  expect(await projects.of(placed({ version: 2, type: 'SkillDeleted' }))).toBeNull()
  expect(looks).toBe(2)
})

test('a filter that once could not look at the beginning of a stream looks again for the next one to ask', async () => {
  const [project, skill] = [stream(1), stream(2)]
  const created = placed({ stream: skill, type: 'SkillCreated', data: { project, name: 's', type: 't', params: {} } })
  let looks = 0
  const projects = new EventProjects(async () => {
    if (looks++ === 0) throw new Error('the disk is busy')
    return created
  })
  const updated = placed({ position: 2, stream: skill, version: 2, type: 'SkillUpdated', data: { params: {} } })
  const slice = { after: 1, to: 2, events: [updated] }
  await expect(new Matcher({ project }, projects).in(slice)).rejects.toThrow('the disk is busy')
  expect(await new Matcher({ project }, projects).in(slice)).toEqual([updated])
  expect(await new Matcher({ project }, projects).in(slice)).toEqual([updated])
  expect(looks).toBe(2)
})
