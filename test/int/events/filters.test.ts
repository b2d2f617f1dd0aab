import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseEnvelope, type Envelope } from '../../../events/stored/envelope.js'
import { until } from '../../support/until.js'
import { connect } from '../../support/log/event-stream-client.js'
import { startEventService, type EventService } from '../../support/log/event-service.js'
import type { NewEvent } from '../../../src/log/contract/log.js'
import { projectCreated, stream, temporaryDirectory, writes } from '../../support/log/log.js'
import { seeded } from '../../support/random.js'
import { actors, fillVaried, type Known } from '../../support/log/varied-log.js'

const directory = temporaryDirectory()
let service: EventService
let known: Map<string, Known>
let texts: string[]
let all: Envelope[]

beforeAll(async () => {
  service = await startEventService(join(directory.path, 'log.sqlite'))
  known = await fillVaried(service.log, 900)
  texts = (await service.log.readAll(0, 10_000)).map(({ text }) => text)
  all = texts.map(parseEnvelope)
})
afterAll(async () => {
  await service.stop()
  directory.remove()
})

type Page = { events: Envelope[]; next: string | null; head: number }
const ask = (query: string, accept = 'application/json') => fetch(`${service.url}/api/events${query}`, { headers: { accept } })
/** Without what `fetch` adds to a conditional request. */
const statusOf = (url: string, headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    get(url, { headers }, (response) => resolve(response.resume().statusCode ?? 0)).once('error', reject)
  })
const page = async (query: string): Promise<Page> => (await (await ask(query)).json()) as Page

/** All pages of a query, by their cursors alone. */
const pages = async (query: URLSearchParams, limit: number): Promise<Envelope[]> => {
  const events: Envelope[] = []
  let { events: some, next } = await page(`?${query.toString()}&limit=${limit}`)
  for (events.push(...some); next !== null; events.push(...some)) {
    ;({ events: some, next } = await page(`?cursor=${next}&limit=${limit}`))
    expect(some.length).toBeLessThanOrEqual(limit)
  }
  return events
}

const lines = async (query: URLSearchParams): Promise<string[]> => {
  const answer = await ask(`?${query.toString()}`, 'application/x-ndjson')
  expect(answer.headers.get('content-type')).toMatch(/^application\/x-ndjson/)
  const text = await answer.text()
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

const streamed = async (query: URLSearchParams): Promise<string[]> => {
  const url = new URL(`${service.url}/api/events/stream?${query.toString()}`)
  const end = Math.min(Number(url.searchParams.get('until') ?? Infinity), all.length)
  url.searchParams.set('until', String(end))
  if (!url.searchParams.has('after')) url.searchParams.set('after', '0')
  const { status, parser, ended } = await connect(url.href)
  await ended
  // Also behind events that did not match a client would go on, not begin again.
  if (status === 200 && !query.has('before')) expect(parser.lastEventId).toBe(String(end))
  for (const { id, event, data } of parser.messages) {
    const { position, type } = JSON.parse(data) as Envelope
    expect([id, event]).toEqual([String(position), type])
  }
  return parser.messages.map(({ data }) => data)
}

type Wanted = {
  type?: string[]
  kind?: string[]
  project?: string
  stream?: string
  actor?: string
  after?: number
  until?: number
  since?: string
  before?: string
}

/** The same filter, as plainly as it can be said. */
const matches = (wanted: Wanted, event: Envelope): boolean => {
  const { kind, project } = known.get(event.stream)!
  return (
    (!wanted.type || wanted.type.includes(event.type)) &&
    (!wanted.kind || wanted.kind.includes(kind)) &&
    (wanted.project === undefined || wanted.project === project) &&
    (wanted.stream === undefined || wanted.stream === event.stream) &&
    (wanted.actor === undefined || wanted.actor === event.actor) &&
    event.position > (wanted.after ?? 0) &&
    event.position <= (wanted.until ?? Infinity) &&
    (wanted.since === undefined || event.recorded_at >= wanted.since) &&
    (wanted.before === undefined || event.recorded_at < wanted.before)
  )
}

const randomFilter = (random: () => number): Wanted => {
  const any = all[Math.floor(random() * all.length)]!
  const { kind, project } = known.get(any.stream)!
  const position = Math.floor(random() * all.length)
  return {
    ...(random() < 0.3 && { type: [any.type, 'SkillCreated'] }),
    ...(random() < 0.25 && { kind: [kind, 'skill'] }),
    ...(random() < 0.4 && project !== null && { project }),
    ...(random() < 0.15 && { stream: any.stream }),
    ...(random() < 0.3 && { actor: actors[Math.floor(random() * actors.length)]! }),
    ...(random() < 0.2 && { after: position }),
    ...(random() < 0.2 && { until: Math.max(1, position + Math.floor(random() * 300)) }),
    ...(random() < 0.15 && { since: all[Math.floor(random() * 300)]!.recorded_at }),
    ...(random() < 0.15 && { before: all[300 + Math.floor(random() * 300)]!.recorded_at }),
  }
}

const queryOf = (wanted: Wanted): URLSearchParams => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(wanted)) {
    if (Array.isArray(value) && value.length === 2 && name === 'type') for (const one of value) query.append(name, one)
    else query.set(name, String(value))
  }
  return query
}

test('pages, lines and streams hold exactly the events that a filter names, in order', async () => {
  const random = seeded(7)
  let found = 0
  for (let n = 0; n < 25; n++) {
    const wanted = randomFilter(random)
    const query = queryOf(wanted)
    // A type and a kind that exclude each other are refused, for a mistake.
    if ((await ask(`?${query.toString()}`)).status === 400) {
      expect(wanted).toMatchObject({ type: expect.anything(), kind: expect.anything() })
      continue
    }
    const expected = all.filter((event) => matches(wanted, event))
    found += expected.length
    const positions = expected.map(({ position }) => position)
    expect({ wanted, positions: (await pages(query, 61)).map(({ position }) => position) }).toEqual({ wanted, positions })
    expect({ wanted, lines: await lines(query) }).toEqual({ wanted, lines: positions.map((position) => texts[position - 1]) })
    expect({ wanted, stream: await streamed(query) }).toEqual({ wanted, stream: positions.map((position) => texts[position - 1]) })
    query.set('order', 'desc')
    const newestFirst = [...positions].reverse()
    expect({ wanted, positions: (await pages(query, 83)).map(({ position }) => position) }).toEqual({ wanted, positions: newestFirst })
    expect((await lines(query)).map((text) => parseEnvelope(text).position)).toEqual(newestFirst)
  }
  expect(found).toBeGreaterThan(700)
})

const nameOf = ({ data }: Envelope): string => (typeof data['name'] === 'string' ? data['name'] : '')

test('a project is named by name, id or stream, and by id or stream when it was deleted', async () => {
  const projects = all.filter(({ type }) => type === 'ProjectCreated')
  const deleted = projects.find(({ stream }) => all.some((event) => event.stream === stream && event.type === 'ProjectDeleted'))!
  const standing = projects[0]!
  const positionsOf = async (project: string | number) =>
    (await pages(new URLSearchParams({ project: String(project) }), 500)).map(({ position }) => position)
  const of = (project: Envelope) =>
    all.filter((event) => known.get(event.stream)!.project === project.stream).map(({ position }) => position)
  for (const named of [standing.stream, standing.position, nameOf(standing).toUpperCase()])
    expect(await positionsOf(named)).toEqual(of(standing))
  for (const named of [deleted.stream, deleted.position]) expect(await positionsOf(named)).toEqual(of(deleted))
  expect(of(deleted).length).toBeGreaterThan(1)
  const gone = await ask(`?project=${encodeURIComponent(nameOf(deleted))}`)
  expect([gone.status, await gone.json()]).toEqual([
    404,
    expect.objectContaining({ code: 'not_found', hint: expect.stringContaining('kind=project') }),
  ])
})

test('pages hold the stored texts byte for byte, and one event is its text', async () => {
  const body = await (await ask('?limit=1000')).text()
  expect(body).toBe(`{"events":[${texts.join(',')}],"next":null,"head":${texts.length}}`)
  for (const position of [1, 77, texts.length]) {
    const answer = await fetch(`${service.url}/events/${position}`)
    const text = await answer.text()
    expect(text).toBe(texts[position - 1])
    const bytes = new TextEncoder().encode(`\0${text}`)
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
    expect(answer.headers.get('mindledger-leaf-hash')).toBe(hash)
    expect(await statusOf(answer.url, { 'if-none-match': answer.headers.get('etag')! })).toBe(304)
  }
  for (const position of [0, texts.length + 1, 999_999_999_999])
    expect((await fetch(`${service.url}/api/events/${position}`)).status).toBe(404)
  expect((await fetch(`${service.url}/api/events/first`)).status).toBe(400)
})

test('CloudEvents say the same in other words, in pages, batches, lines and streams', async () => {
  const plain = (await page('?limit=300&after=100')).events
  const seen: Record<string, unknown[]> = {
    page: ((await (await ask('?limit=300&after=100&format=cloudevents')).json()) as Page).events,
    batch: (await (await ask('?limit=300&after=100', 'application/cloudevents-batch+json')).json()) as unknown[],
    lines: (await (await ask('?limit=300&after=100&format=cloudevents', 'application/jsonl')).text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  }
  const { parser, ended } = await connect(`${service.url}/events/stream?after=100&until=400&format=cloudevents`)
  await ended
  seen['stream'] = parser.messages.map(({ data }) => JSON.parse(data) as unknown)
  const expected = plain.map((event) => ({
    specversion: '1.0',
    id: String(event.position),
    source: `urn:mindledger:log:${service.log.id}`,
    type: event.type,
    subject: event.stream,
    time: event.recorded_at,
    datacontenttype: 'application/json',
    dataschema: `urn:mindledger:event:${event.type}:${event.schema}`,
    sequence: String(event.position).padStart(16, '0'),
    streamversion: event.version,
    actor: event.actor,
    channel: event.source,
    ...(event.request !== null && { request: event.request }),
    ...(event.correlation !== null && { correlationid: event.correlation }),
    data: event.data,
  }))
  for (const [way, events] of Object.entries(seen)) expect({ way, events }).toEqual({ way, events: expected })
  for (const event of expected) for (const name of Object.keys(event)) expect(name).toMatch(/^[a-z0-9]{1,20}$/)
  const one = await fetch(`${service.url}/api/events/150`, { headers: { accept: 'application/cloudevents+json' } })
  expect([one.headers.get('content-type'), await one.json()]).toEqual([
    expect.stringMatching(/^application\/cloudevents\+json/),
    expected[49],
  ])
})

test('a batch names its next page in a header', async () => {
  const first = await ask('?limit=5', 'application/cloudevents-batch+json')
  const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? []
  const second = await fetch(service.url + next, { headers: { accept: 'application/cloudevents-batch+json' } })
  expect(((await second.json()) as { id: string }[]).map(({ id }) => id)).toEqual(['6', '7', '8', '9', '10'])
  expect(first.headers.get('mindledger-head')).toBe(String(all.length))
  expect((await ask('', 'application/cloudevents-batch+json')).headers.has('link')).toBe(true)
  expect((await ask(`?after=${all.length - 1}`, 'application/cloudevents-batch+json')).headers.has('link')).toBe(false)
})

test('what cannot be meant is refused, and says how it is written', async () => {
  const { next } = await page('?limit=1&kind=skill')
  const refused = [
    'typ=SkillCreated',
    'type=Nope',
    'kind=nope',
    'type=',
    'type=SkillCreated&kind=agent',
    'after=-1',
    'after=1e3',
    'from=0',
    'after=1&from=1',
    'limit=0',
    'limit=1001',
    'order=up',
    'format=xml',
    'since=yesterday',
    'before=2026-02-30',
    'actor=a&actor=b',
    'cursor=nonsense',
    `cursor=${Buffer.from('{}').toString('base64url')}`,
    `cursor=${'a'.repeat(10_000)}`,
    `cursor=${next}&kind=agent`,
    `type=${'SkillCreated,'.repeat(65)}SkillCreated`,
  ]
  for (const query of refused) {
    const answer = await ask(`?${query}`)
    expect({ query, status: answer.status, body: await answer.json() }).toMatchObject({
      query,
      status: 400,
      body: { code: 'wrong_arguments' },
    })
  }
  // A cursor may come with what it was made of.
  expect((await ask(`?kind=skill&limit=3&cursor=${next}`)).status).toBe(200)
  for (const query of ['limit=5', 'order=desc', 'before=2999-01-01', `after=${all.length + 1}`])
    expect({ query, status: (await fetch(`${service.url}/api/events/stream?${query}`)).status }).toEqual({ query, status: 400 })
  expect((await fetch(`${service.url}/api/events/stream`, { headers: { 'last-event-id': 'x' } })).status).toBe(400)
})

test('a page that looked at enough without finding any ends with a cursor, and a renamed project stays the one that was meant', async () => {
  const own = temporaryDirectory()
  const other = await startEventService(join(own.path, 'log.sqlite'))
  try {
    const { ledger, log } = other
    const by = { actor: 'ann', source: 'rest', request: null, correlation: null, causation: null } as const
    await ledger.execute({ type: 'CreateProject', data: { project: 'rare' } }, by)
    await log.submit(writes(projectCreated(1)))
    const skill = (n: number): NewEvent => ({
      stream: stream(n),
      event: { type: 'SkillCreated', data: { project: stream(1), name: `s${n}`, type: 't', params: {} } },
    })
    for (let n = 2; n < 21_000; n += 1_000) await log.submit(writes(...Array.from({ length: 1_000 }, (_, i) => skill(n + i))))
    await ledger.execute({ type: 'CreateSkill', data: { project: 'rare', skill: 'last', type: 't', params: {} } }, by)
    const read = async (query: string) => (await (await fetch(`${other.url}/api/events?${query}`)).json()) as Page
    const first = await read('project=rare')
    expect(first.events.map(({ type }) => type)).toEqual(['ProjectCreated'])
    expect(first.next).not.toBeNull()
    await ledger.execute({ type: 'RenameProject', data: { project: 'rare', name: 'other', defaultProject: 'mindsdb' } }, by)
    const second = await read(`cursor=${first.next!}`)
    expect(second.events.map(({ type }) => type)).toEqual(['SkillCreated', 'ProjectRenamed'])
    expect(second.next).toBeNull()
    expect(second.head).toBe((await log.head()).position)
  } finally {
    await other.stop()
    own.remove()
  }
})

test('a reader of lines that takes nothing costs the service no memory, and others no time', async () => {
  const own = temporaryDirectory()
  const other = await startEventService(join(own.path, 'log.sqlite'))
  try {
    await other.ledger.execute(
      { type: 'CreateProject', data: { project: 'p' } },
      { actor: 'a', source: 'rest', request: null, correlation: null, causation: null },
    )
    const big = 'x'.repeat(100_000)
    for (let n = 0; n < 300; n++)
      await other.ledger.execute(
        { type: 'CreateSkill', data: { project: 'p', skill: `s${n}`, type: 't', params: { big } } },
        { actor: 'a', source: 'rest', request: null, correlation: null, causation: null },
      )
    const readers = await Promise.all(
      Array.from({ length: 5 }, () => fetch(`${other.url}/events`, { headers: { accept: 'application/jsonl' } })),
    )
    let read = 0
    const original = other.log.readAll.bind(other.log)
    other.log.readAll = async (...of) => {
      const events = await original(...of)
      read += events.length
      return events
    }
    // Nobody takes anything: before long nothing more is read.
    let before = -1
    await until(async () => {
      before = read
      await sleep(400)
      return read === before
    })
    expect(before).toBeLessThan(300)
    for (const reader of readers) expect((await reader.text()).trim().split('\n').length).toBe(301)
  } finally {
    await other.stop()
    own.remove()
  }
})
