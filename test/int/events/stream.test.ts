import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../../src/basics/limits.js'
import type { Origin } from '../../../src/log/contract/log.js'
import { readEvent } from '../../../src/log/read/slices.js'
import { until } from '../../support/until.js'
import { connect, type Connection, type Message } from '../../support/log/event-stream-client.js'
import { startEventService, type EventService } from '../../support/log/event-service.js'
import { temporaryDirectory } from '../../support/log/log.js'
import { freePort } from '../../support/cli.js'
import { send, startTestService } from '../../support/service.js'
import { seeded } from '../../support/random.js'

const by: Origin = { actor: 'ann', source: 'rest', request: null, correlation: null, causation: null }

let directory: { path: string; remove: () => void }
let service: EventService
let open: Connection[]
const file = () => join(directory.path, 'log.sqlite')

beforeEach(() => {
  directory = temporaryDirectory()
  open = []
})
afterEach(async () => {
  for (const { cut } of open) cut()
  await service.stop()
  directory.remove()
})

const start = async (options: Parameters<typeof startEventService>[1] = {}) => {
  service = await startEventService(file(), options)
  if ((await service.log.head()).position === 0) await service.ledger.execute({ type: 'CreateProject', data: { project: 'p' } }, by)
}
const follow = async (query = '', options: Parameters<typeof connect>[1] = {}): Promise<Connection> => {
  const connection = await connect(`${service.url}/api/events/stream${query}`, options)
  open.push(connection)
  return connection
}
let made = 0
const write = (params: object = {}, actor = 'ann') =>
  service.ledger.execute(
    { type: 'CreateSkill', data: { project: 'p', skill: `s${(made += 1)}`, type: 't', params: { ...params } } },
    { ...by, actor },
  )

test('a stream begins at the head unless it is told where, and a client knows its place at once', async () => {
  await start()
  await write()
  const fromNow = await follow()
  await until(() => fromNow.parser.lastEventId === '2')
  const all = await follow('?after=0')
  await write()
  await until(() => fromNow.parser.messages.length === 1 && all.parser.messages.length === 3)
  expect(fromNow.parser.messages[0]).toMatchObject({ id: '3', event: 'SkillCreated' })
  expect(all.parser.messages.map(({ data }) => data)).toEqual((await service.log.readAll(0, 10)).map(({ text }) => text))
  expect(all.parser.retry).toBeGreaterThan(0)
})

test('a stream of one resource has each event once, however often its reader falls behind and catches up', async () => {
  await start()
  await write()
  const { stream } = (await service.log.readAll(1, 1)).map(readEvent)[0]!
  const name = `s${made}`
  const seen: number[] = []
  const following = new AbortController()
  const steps = service.feed.forwards({ stream }, { after: 0, until: Infinity }, following.signal)
  const readToHead = async () => {
    for (let at = 0; at < service.feed.head;) {
      const { value } = await steps.next()
      if (!value) throw new Error('the stream ended')
      seen.push(...value.events.map(({ version }) => version))
      at = value.at
    }
  }
  const change = () => service.ledger.execute({ type: 'UpdateSkill', data: { project: 'p', skill: name, params: { n: (made += 1) } } }, by)
  for (let round = 0; round < 3; round++) {
    await change()
    await Promise.all(Array.from({ length: limits.eventSliceMaxEvents + 1 }, () => write()))
    await readToHead()
    await change()
    await readToHead()
  }
  following.abort()
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
})

test('Last-Event-ID goes before the address, as a browser that connects again sends both', async () => {
  await start()
  for (let n = 0; n < 5; n++) await write()
  const { parser } = await follow('?after=0', { lastEventId: '4' })
  await until(() => parser.messages.length === 2)
  expect(parser.messages.map(({ id }) => id)).toEqual(['5', '6'])
})

test('heartbeats are no messages, and take along the place up to which nothing matched', async () => {
  await start({ eventStreamHeartbeatMs: 30 })
  const { parser } = await follow('?actor=nobody&after=0')
  for (let n = 0; n < 5; n++) await write()
  await until(() => parser.comments > 2 && parser.lastEventId === '6')
  expect(parser.messages).toEqual([])
})

test('a stream ends when its node no longer follows the log, and the client reads on elsewhere from its place', async () => {
  let follows = true
  await start({ eventStreamHeartbeatMs: 20, follows: () => Promise.resolve(follows) })
  const all = await follow('?after=0')
  const none = await follow('?actor=nobody&after=0')
  await write()
  await until(() => all.parser.messages.length === 2 && none.parser.lastEventId === '2')
  follows = false
  await Promise.all([all.ended, none.ended])
  expect([all.parser.lastEventId, none.parser.lastEventId]).toEqual(['2', '2'])
  follows = true
  await write()
  const { parser } = await follow('?after=0', { lastEventId: all.parser.lastEventId })
  await until(() => parser.messages.length === 1)
  expect(parser.messages.map(({ id }) => id)).toEqual(['3'])
})

test('a stream with an end ends there, and a client that comes back is told that there is no more', async () => {
  await start()
  for (let n = 0; n < 5; n++) await write()
  const { parser, ended } = await follow('?after=1&until=4')
  await ended
  expect(parser.messages.map(({ id }) => id)).toEqual(['2', '3', '4'])
  expect((await follow('?after=1&until=4', { lastEventId: parser.lastEventId })).status).toBe(204)
})

test('more clients than may be are refused for a while, and those that left make room', async () => {
  await start({ eventStreamsMax: 3 })
  const clients = [await follow(), await follow(), await follow()]
  const refused = await fetch(`${service.url}/api/events/stream`)
  expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
    503,
    '5',
    expect.objectContaining({ code: 'busy' }),
  ])
  clients[1]!.cut()
  await until(async () => {
    const answer = await fetch(`${service.url}/api/events/stream`)
    await answer.body?.cancel()
    return answer.status === 200
  })
})

test('one client has its share of the streams, and others find room', async () => {
  await start({ eventStreamsMax: 4, eventStreamsPerClientMax: 2 })
  await follow()
  await follow()
  const refused = await fetch(`${service.url}/api/events/stream`)
  expect(await refused.json()).toMatchObject({ status: 503, code: 'busy', detail: expect.stringContaining('eventStreamsPerClientMax') })
  const other = get(`${service.url}/api/events/stream`, { localAddress: '127.0.0.2' })
  const [answer] = (await once(other, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(200)
  answer.destroy()
})

test('a stop ends streams well, also one whose client takes nothing', async () => {
  await start()
  const idle = await follow('?after=0')
  const slow = await follow('?after=0')
  slow.response.pause()
  for (let n = 0; n < 60; n++) await write({ big: 'x'.repeat(100_000) })
  await until(() => idle.parser.messages.length > 1)
  const stopped = service.stop()
  await idle.ended
  expect(idle.parser.messages.at(-1)?.event).toBe('SkillCreated')
  slow.response.resume()
  await stopped
  await start()
})

test('streams that have ended leave nothing on a signal that outlives them', async () => {
  await start()
  const any = jest.spyOn(AbortSignal, 'any')
  try {
    for (let n = 0; n < 3; n++) {
      const { cut } = await follow()
      await until(() => service.clients() === 1)
      cut()
      await until(() => service.clients() === 0)
    }
    // Node keeps a reference in each signal that it joins.
    const joined = any.mock.calls.flatMap(([signals]) => [...signals])
    expect(joined).toHaveLength(new Set(joined).size)
  } finally {
    any.mockRestore()
  }
})

test('a client that takes nothing falls behind without costing memory, is cut at last, and reads on where it was', async () => {
  await start({ eventReaderStallMs: 500 })
  const slow = await follow('?after=0')
  slow.response.pause()
  let held = 0
  const original = service.log.readAll.bind(service.log)
  service.log.readAll = async (...of) => {
    const events = await original(...of)
    for (const { text } of events) held += text.length
    return events
  }
  for (let n = 0; n < 100; n++) await write({ big: 'x'.repeat(100_000) })
  // 10 MB were written; what was read for the client is what fits the sockets and one slice.
  expect(held).toBeLessThan(6_000_000)
  await until(() => service.clients() === 0)
  slow.response.resume()
  await slow.ended
  const seen = [...slow.parser.messages]
  let { lastEventId } = slow.parser
  // On a busy machine the next reader may be cut as well.
  while (seen.length < 101) {
    const { parser, cut, ended } = await follow('', { lastEventId })
    let isCut = false
    void ended.then(() => (isCut = true))
    await until(() => isCut || seen.length + parser.messages.length >= 101)
    cut()
    await ended
    seen.push(...parser.messages)
    lastEventId = parser.lastEventId
  }
  expect(seen.map(({ id }) => Number(id))).toEqual(Array.from({ length: 101 }, (_, i) => i + 1))
})

test('with a login only those get a stream who have logged in, and it ends with the session', async () => {
  await start({ eventStreamHeartbeatMs: 20, user: { username: 'ann', password: 'secret' } })
  expect((await fetch(`${service.url}/api/events/stream`)).status).toBe(401)
  const login = await send(service.url, 'POST', '/api/login', { username: 'ann', password: 'secret' })
  const cookie = (login.headers.get('set-cookie') ?? '').replace(/;.*/, '')
  const { parser, ended } = await follow('?after=0', { headers: { cookie } })
  await write()
  await until(() => parser.messages.length === 2)
  await fetch(`${service.url}/api/logout`, { method: 'POST', headers: { cookie } })
  await ended
  expect((await fetch(`${service.url}/api/events/stream`, { headers: { cookie } })).status).toBe(401)
})

test('the whole service stops while clients follow, and they read on from the next one', async () => {
  await start()
  const whole = await startTestService()
  const clients = await Promise.all([0, 0, 1].map((after) => connect(`${whole.url}/api/events/stream?after=${after}`)))
  await until(() => clients.every(({ parser }) => parser.lastEventId === '1'))
  await whole.service.close()
  await Promise.all(clients.map(({ ended }) => ended))
  expect(clients.map(({ parser }) => parser.messages.length)).toEqual([1, 1, 0])
  await whole.stop()
})

test('many clients at the head share what is read', async () => {
  await start()
  const clients = await Promise.all(Array.from({ length: 50 }, () => follow('?after=0')))
  await until(() => clients.every(({ parser }) => parser.messages.length === 1))
  let reads = 0
  const original = service.log.readAll.bind(service.log)
  service.log.readAll = (...of) => {
    reads += 1
    return original(...of)
  }
  for (let n = 0; n < 20; n++) await write()
  await until(() => clients.every(({ parser }) => parser.messages.length === 21))
  expect(reads).toBeLessThanOrEqual(40)
})

type Reader = { seen: Message[]; lastEventId: string; within: number }

type Cuts = { cuts: number; within: number }

/** Reads on as a browser does, cut at random moments: so many times at least, and until more than `within` cuts were within a message. */
const cutAgainAndAgain = async (reader: Reader, { cuts, within }: Cuts, random: () => number, query: string): Promise<void> => {
  for (let n = 0; n < cuts || reader.within <= within; n++) {
    const connection = await follow(query, { lastEventId: reader.lastEventId }).catch(() => undefined)
    if (!connection) {
      // The service is being started again; that was a cut, too.
      await sleep(20)
      continue
    }
    const { response, cut, ended } = connection
    let left = random() * 30_000
    const isSlow = random() < 0.3
    const late = setTimeout(cut, 20 + random() * 150)
    response.on('data', (bytes: Buffer) => {
      left -= bytes.length
      if (left < 0) cut()
      else if (isSlow) {
        response.pause()
        setTimeout(() => response.resume(), random() * 40)
      }
    })
    await ended
    clearTimeout(late)
    takeFrom(reader, connection)
  }
}

const takeFrom = (reader: Reader, { parser }: Connection): void => {
  if (parser.isWithin) reader.within += 1
  reader.seen.push(...parser.messages)
  reader.lastEventId = parser.lastEventId
}

const readToHead = async (reader: Reader, query: string): Promise<void> => {
  const last = await follow(query, { lastEventId: reader.lastEventId })
  const head = String((await service.log.head()).position)
  await until(() => last.parser.lastEventId === head)
  last.cut()
  await last.ended
  takeFrom(reader, last)
}

test('a client that is cut 50 times sees every event once and in order: within messages, reading slowly, over restarts, under writes', async () => {
  const random = seeded(11)
  // A port that the system chose could be given to another process during a restart.
  await start({ eventStreamHeartbeatMs: 20, port: await freePort() })
  const load = { isOn: true }
  const writing = (async () => {
    while (load.isOn) {
      const size = random() < 0.2 ? 40_000 : Math.floor(random() * 2_000)
      const group = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
        write({ text: 'é"\\'.repeat(size / 8) }, random() < 0.3 ? 'bob' : 'ann'),
      )
      // A restart refuses some.
      await Promise.allSettled(group)
      await sleep(random() * 4)
    }
  })()
  const restarting = (async () => {
    for (let n = 0; n < 3; n++) {
      await sleep(700)
      const { port } = new URL(service.url)
      await service.stop()
      await start({ eventStreamHeartbeatMs: 20, port: Number(port) })
    }
  })()
  const every: Reader = { seen: [], lastEventId: '', within: 0 }
  const bobs: Reader = { seen: [], lastEventId: '', within: 0 }
  await Promise.all([
    restarting,
    cutAgainAndAgain(every, { cuts: 50, within: 5 }, random, '?after=0'),
    cutAgainAndAgain(bobs, { cuts: 50, within: -1 }, random, '?after=0&actor=bob'),
  ])
  const byBob = async () => (await service.log.readAll(0, 100_000)).map(({ text }) => text).filter((text) => text.includes('"actor":"bob"'))
  // A slow disk may take fewer events than the cuts take time.
  await until(async () => (await byBob()).length > 20)
  load.isOn = false
  await writing
  await readToHead(every, '?after=0')
  await readToHead(bobs, '?after=0&actor=bob')
  const texts = (await service.log.readAll(0, 100_000)).map(({ text }) => text)
  expect(every.seen.map(({ id }) => Number(id))).toEqual(texts.map((_, i) => i + 1))
  expect(every.seen.map(({ data }) => data)).toEqual(texts)
  const ofBob = await byBob()
  expect(bobs.seen.map(({ data }) => data)).toEqual(ofBob)
  // Enough happened for this to say something.
  expect(ofBob.length).toBeGreaterThan(20)
})

test('pages read while events are written hold each once, in order, and end at the head they name', async () => {
  await start()
  const load = { isOn: true }
  const writing = (async () => {
    while (load.isOn) await Promise.all([write(), write(), write()])
  })()
  for (let round = 0; round < 5; round++) {
    const positions: number[] = []
    let [cursor, head] = ['', 0]
    for (;;) {
      const answer = await fetch(`${service.url}/api/events?limit=50${cursor === '' ? '' : `&cursor=${cursor}`}`)
      const page = (await answer.json()) as { events: { position: number }[]; next: string | null; head: number }
      positions.push(...page.events.map(({ position }) => position))
      head = page.head
      if (page.next === null) break
      cursor = page.next
    }
    expect(positions).toEqual(Array.from({ length: head }, (_, i) => i + 1))
    const lines = (await (await fetch(`${service.url}/api/events`, { headers: { accept: 'application/x-ndjson' } })).text())
      .trim()
      .split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { position: number }).position)).toEqual(lines.map((_, i) => i + 1))
  }
  load.isOn = false
  await writing
})
