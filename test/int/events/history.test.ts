import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { applyPatch, type Operation } from 'rfc6902'
import type { JsonObject } from '../../../events/common.js'
import type { LedgerCommand } from '../../../src/commands/dispatch.js'
import { stateDiff } from '../../../src/log/read/diff.js'
import type { NewEvent, Origin } from '../../../src/log/contract/log.js'
import { maskSecrets } from '../../../src/vault/seal-secrets.js'
import { startEventService, type EventService } from '../../support/log/event-service.js'
import { projectCreated, stream, temporaryDirectory, writes } from '../../support/log/log.js'
import { seeded } from '../../support/random.js'

type Change = {
  position: number
  version: number
  type: string
  actor: string
  request: string | null
  correlation: string | null
  causation: string | null
  source: string
  recorded_at: string
  diff: Operation[]
}
type History = { before: unknown; changes: Change[]; next: number | null; version: number }

let directory: { path: string; remove: () => void }
let service: EventService

beforeEach(async () => {
  directory = temporaryDirectory()
  service = await startEventService(join(directory.path, 'log.sqlite'))
})
afterEach(async () => {
  await service.stop()
  directory.remove()
})

const by: Origin = { actor: 'ann', source: 'sql', request: 'r-1', correlation: 'c-1', causation: null }
const run = (command: LedgerCommand) => service.ledger.execute(command, by)
const skill = (data: object) => ({ project: 'shop', skill: 's', ...data })
const ask = async (path: string) => {
  const answer = await fetch(`${service.url}/api/${path}`)
  return { status: answer.status, body: (await answer.json()) as History & { hint?: string } }
}
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
/** Follows the patches from nothing, as anyone could. */
const follow = (changes: readonly { diff: Operation[] }[], from: unknown = null): unknown[] => {
  const holder = { root: copy(from) }
  return changes.map(({ diff }) => {
    const failed = applyPatch(
      holder,
      diff.map((operation) => ({ ...copy(operation), path: `/root${operation.path}` })),
    ).filter((error) => error !== null)
    expect(failed).toEqual([])
    return copy(holder.root)
  })
}

test('a history says who, when and why, and its patches lead from nothing to what was, and to nothing', async () => {
  await run({ type: 'CreateProject', data: { project: 'shop' } })
  await run({ type: 'CreateSkill', data: skill({ type: 'sql', params: { api_key: 'k1', list: [1, 2, 3] } }) } as LedgerCommand)
  await run({ type: 'UpdateSkill', data: skill({ params: { api_key: 'k2', list: [1, 9, 2, 3] } }) })
  await run({ type: 'UpdateSkill', data: skill({ name: 's2' }) })
  await run({ type: 'DeleteSkill', data: { project: 'shop', skill: 's2' } })
  const found = await service.log.readAll(1, 1)
  const { stream: of } = JSON.parse(found[0]!.text) as { stream: string }
  const { body } = await ask('projects/shop/skills/2/history')
  expect(body).toMatchObject({ version: 4, next: null })
  expect(body.changes[1]).toEqual({
    position: 3,
    version: 2,
    type: 'SkillUpdated',
    recorded_at: expect.stringMatching(/^\d{4}-.*Z$/),
    actor: 'ann',
    source: 'sql',
    request: 'r-1',
    correlation: 'c-1',
    causation: null,
    diff: [
      { op: 'replace', path: '/params/api_key', value: '******' },
      { op: 'add', path: '/params/list/1', value: 9 },
    ],
  })
  const project = JSON.parse((await service.log.readAll(0, 1))[0]!.text) as { stream: string }
  const first = { project: project.stream, name: 's', type: 'sql', params: { api_key: '******', list: [1, 2, 3] } }
  const second = { ...first, params: { api_key: '******', list: [1, 9, 2, 3] } }
  expect(follow(body.changes)).toEqual([first, second, { ...second, name: 's2' }, null])
  expect(JSON.stringify(body)).not.toContain('$secret')
  // By its stream it is the same; by its name it is no more.
  expect((await ask(`projects/SHOP/skills/${of}/history`)).body).toEqual(body)
  const gone = await ask('projects/shop/skills/s2/history')
  expect([gone.status, gone.body.hint]).toEqual([404, expect.stringContaining('id or stream')])
  // A deleted project still leads there.
  await run({ type: 'DeleteProject', data: { project: 'shop', defaultProject: 'mindsdb' } })
  expect((await ask('projects/1/skills/2/history')).body).toEqual(body)
  expect((await ask('projects/1/history')).body.changes.map(({ type }) => type)).toEqual(['ProjectCreated', 'ProjectDeleted'])
  // An id of another kind, or of another project, is none.
  await run({ type: 'CreateProject', data: { project: 'other' } })
  for (const path of [
    'projects/1/agents/2/history',
    'projects/other/skills/2/history',
    'projects/1/skills/3/history',
    'projects/1/skills/0/history',
    'files/2/history',
  ])
    expect({ path, status: (await ask(path)).status }).toEqual({ path, status: 404 })
})

test('connections, files and defaults have histories, too', async () => {
  await run({ type: 'CreateDatabase', data: { database: 'slack', engine: 'slack', parameters: { token: 'x' } } })
  await run({ type: 'DeleteDatabase', data: { database: 'slack' } })
  expect(follow((await ask('databases/1/history')).body.changes)).toEqual([
    { name: 'slack', engine: 'slack', parameters: { token: '******' } },
    null,
  ])
  const content = { content: 'ab'.repeat(32), bytes: 1, row_count: 1, columns: [], original_name: null }
  await run({ type: 'CreateFile', data: { file: 'cars', content } })
  expect((await ask('files/cars/history')).body.changes.map(({ type }) => type)).toEqual(['FileCreated'])
  const streams = { default_llm: stream(7), default_embedding_model: stream(8), default_reranking_model: stream(9), llm_prices: stream(10) }
  await run({ type: 'UpdateConfig', data: { parameters: { default_llm: { model: 'a', api_key: 'k' } }, streams } })
  await run({ type: 'UpdateConfig', data: { parameters: { default_llm: { model: 'b', api_key: 'k2' } }, streams } })
  expect((await ask('config/default_llm/history')).body.changes[1]?.diff).toEqual([
    { op: 'replace', path: '/value/model', value: 'b' },
    { op: 'replace', path: '/value/api_key', value: '******' },
  ])
  expect((await ask('config/default_embedding_model/history')).status).toBe(404)
  await run({ type: 'CreateProject', data: { project: 'shop' } })
  expect((await ask('databases/shop/history')).body.changes.map(({ type }) => type)).toEqual(['ProjectCreated'])
})

test('pages of a history, in any order, are the whole history in pieces', async () => {
  const changes = 1_300
  const random = seeded(3)
  const update = (n: number): NewEvent => ({
    stream: stream(2),
    event: {
      type: 'SkillUpdated',
      data: { params: { n, [`k${Math.floor(random() * 5)}`]: Array.from({ length: Math.floor(random() * 4) }, (_, i) => i) } },
    },
  })
  await service.log.submit(
    writes(projectCreated(1), {
      stream: stream(2),
      event: { type: 'SkillCreated', data: { project: stream(1), name: 's', type: 't', params: {} } },
    }),
  )
  await service.log.submit(writes(...Array.from({ length: changes - 1 }, (_, n) => update(n))))
  const path = `projects/1/skills/2/history`
  const whole: Change[] = []
  for (let after: number | null = 0; after !== null;) {
    const { body }: { body: History } = await ask(`${path}?after=${after}&limit=1000`)
    whole.push(...body.changes)
    after = body.next
  }
  expect(whole.map(({ version }) => version)).toEqual(Array.from({ length: changes }, (_, i) => i + 1))
  const states = follow(whole) as { params: { n: number } }[]
  expect(states.at(-1)!.params.n).toBe(changes - 2)
  for (const after of [1_299, 3, 777, 500, 1_000, 999, 0, 1_300, 5_000]) {
    const { body } = await ask(`${path}?after=${after}&limit=7`)
    expect(body.changes).toEqual(whole.slice(after, after + 7))
    expect(body.next).toBe(after + 7 < changes ? after + 7 : null)
    // The state that a page begins with: its patches lead on from there.
    expect(body.before).toEqual(states[Math.min(after, changes) - 1] ?? null)
    expect(follow(body.changes, body.before)).toEqual(states.slice(after, after + 7))
  }
  for (const query of ['after=-1', 'limit=0', 'limit=1001', 'after=x']) expect((await ask(`${path}?${query}`)).status).toBe(400)
})

test("a model's versions are told apart by their numbers, and a training shows what it changed", async () => {
  const request = (version: number) => ({
    version,
    engine: 'lightwood',
    target: 't',
    database: 'files',
    query: 'SELECT 1',
    using: { key: { $secret: 'ab'.repeat(32) } },
    seed: 1,
    activate: true,
    tag: null,
  })
  const events = [
    { type: 'ModelCreated', data: { project: stream(1), name: 'm' } },
    { type: 'ModelTrainingRequested', data: request(1) },
    { type: 'ModelTrainingFailed', data: { version: 1, error: 'no rows' } },
    { type: 'ModelTrainingRequested', data: request(2) },
    { type: 'ModelVersionActivated', data: { version: 2 } },
    { type: 'ModelVersionDeleted', data: { version: 1 } },
  ] as NewEvent['event'][]
  await service.log.submit(writes(projectCreated(1), ...events.map((event) => ({ stream: stream(2), event }))))
  const { body } = await ask('projects/1/models/m/history')
  expect(body.changes[2]?.diff).toEqual([
    { op: 'replace', path: '/versions/1/status', value: 'error' },
    { op: 'replace', path: '/versions/1/error', value: 'no rows' },
  ])
  expect(body.changes[3]?.diff).toEqual([
    { op: 'replace', path: '/latest', value: 2 },
    { op: 'add', path: '/versions/2', value: { ...request(2), using: { key: '******' }, status: 'generating', error: null, result: null } },
  ])
  expect(body.changes[4]?.diff).toEqual([{ op: 'replace', path: '/active', value: 2 }])
  expect(body.changes[5]?.diff).toEqual([{ op: 'remove', path: '/versions/1' }])
  const { body: last } = await ask('projects/1/models/m/history?after=4')
  expect(last.before).toMatchObject({ versions: { 1: { using: { key: '******' } }, 2: { status: 'generating' } } })
})

test('a list too long to compare is replaced, and secrets that moved within one stay hidden', () => {
  const state = (list: unknown[]) => ({ project: stream(1), name: 's', type: 't', params: { list } as JsonObject })
  const long = Array.from({ length: 5_000 }, (_, i) => i)
  expect(stateDiff('skill', state(long), state([...long]))).toEqual([])
  expect(stateDiff('skill', state(long), state([-1, ...long]))).toEqual([{ op: 'replace', path: '/params/list', value: [-1, ...long] }])
  const secret = (n: number) => ({ $secret: String(n).repeat(64) })
  const [before, after] = [state([secret(1), secret(2), 'a']), state([secret(2), 'a', secret(3), { key: secret(4) }])]
  const diff = stateDiff('skill', before, after)
  expect(JSON.stringify(diff)).not.toContain('$secret')
  expect(follow([{ diff }], maskSecrets(before))).toEqual([maskSecrets(after)])
  // A secret that was replaced by something else, and the other way round.
  expect(stateDiff('skill', state([secret(1)]), state([{ a: 1 }]))).toEqual([{ op: 'replace', path: '/params/list/0', value: { a: 1 } }])
  expect(stateDiff('skill', state([{ a: 1 }]), state([secret(1)]))).toEqual([{ op: 'replace', path: '/params/list/0', value: '******' }])
})
