import { describe, expect, test } from '@jest/globals'
import { fc } from '../support/random/properties.js'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue, evolve, kinds, upcast, type Kind } from '../../events/catalogue/catalogue.js'
import { foldName, type Json, type JsonObject, type StreamId } from '../../events/common.js'
import { instant, parseEnvelope } from '../../events/stored/envelope.js'
import { jobOutcomes } from '../../events/job.js'
import { Replay, replay, replayLimits, type EventReader } from '../../projections/replay.js'
import type { LedgerCommand } from '../../src/commands/dispatch.js'
import type { Ledger } from '../../src/commands/ledger.js'
import { isProblem } from '../../src/basics/errors.js'
import type { AnyResource, ServedLog } from '../../src/log/contract/log.js'
import { verifyLog } from '../../src/log/verify/verify.js'
import { countOf } from '../support/counts.js'
import { origin, stream, withLog } from '../support/log/log.js'
import { dump, expectTables } from '../support/log/states.js'
import { memoryDatabase } from '../support/memory-database.js'

const times = countOf('PROPERTY_TIMES')
const planted = 'PLANTED-3f9a'
const otherCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
const named = (...names: string[]) => fc.constantFrom(...names, ...names.map(otherCase))

// Few names, so that commands meet; numbers among them, which are ids as well.
const project = named('shop', 'shop', 'office', '1')
const name = named('a', 'b', 'Σας', '3', 'e\u0301', '\u00e9')
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
  fc.boolean(),
)
const place = fc.constantFrom('api_key', 'dbPassword', 'TOKEN', 'client-secret', 'credentials')
const hidden: fc.Arbitrary<Json> = fc.constantFrom<Json>(planted, '******', [planted], { deep: [planted] }, 7)
const url = fc.constantFrom(`postgres://u:${planted}@host/db`, `https://h/?a=1&token=${planted}`, 'https://host/')
const params = fc.letrec<{ object: JsonObject }>((tie) => ({
  object: fc
    .tuple(
      fc.dictionary(fc.constantFrom('k', 'list', '', 'constructor', 'ü'), fc.oneof(leaf, fc.array(leaf, { maxLength: 2 }))),
      fc.option(fc.tuple(place, hidden)),
      fc.option(url),
      fc.option(tie('object'), { maxDepth: 2, nil: null }),
    )
    .map(([plain, secret, address, inner]): JsonObject => ({
      ...plain,
      ...(secret && { [secret[0]]: secret[1] }),
      ...(address !== null && { url: address }),
      ...(inner && { inner, list: [inner] }),
    })),
})).object

const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 })
/** Like fc.record, but what is undefined is left out. */
const record = (of: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
  fc.record(of).map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))

const skills = fc.array(fc.record({ name, params }), { maxLength: 2 })
const flags = { unlessExists: maybe(fc.boolean()) }
const ends = { ifExists: maybe(fc.boolean()) }
const hash = fc.constantFrom('ab'.repeat(32), 'cd'.repeat(32))
const content = fc.record({
  content: hash,
  bytes: fc.nat(),
  row_count: fc.nat(),
  columns: fc.constant([]),
  original_name: fc.constant(null),
})
const engineName = fc.constantFrom('mine', 'Mine', 'lightwood')
const using = fc.record({ using: fc.oneof(params, fc.constantFrom({}, { confidence: 0.8 })) })
const request = fc
  .tuple(using, fc.boolean(), fc.constantFrom('lightwood', 'mine'))
  .map(([own, activate, engine]) => ({ engine, target: 'y', database: 'files', query: 'SELECT 1', seed: 1, tag: null, activate, ...own }))
const version = fc.integer({ min: 1, max: 3 })
const result = version.map((n) => ({
  version: n,
  artefact: 'ab'.repeat(32),
  matrix: 'cd'.repeat(32),
  read_at: 1,
  rows: 1,
  accuracy: null,
  report: {},
  runtime: {},
  seconds: 0,
}))
const time = fc.integer({ min: 0, max: 9 }).map((day) => instant(day * 86_400_000))
const run = fc.constantFrom('r1', 'r2')
const done = fc.constant([{ positions: [1], error: null }])
const work = {
  statements: fc.constantFrom('SELECT 1', "CREATE SKILL s USING type = 'sql', api_key = '******'"),
  condition: fc.constantFrom('SELECT 1', null),
  params: fc.constantFrom({}, { secret: { query: planted, if_query: null } }),
  now: time,
  start_at: time,
  end_at: fc.option(time),
  schedule: fc.constantFrom(null, { count: 1, unit: 'day', said: 'every day' }),
}
const was = record({ statements: work.statements, condition: work.condition, payload: fc.constant(null) })
const defaultProject = fc.constant('mindsdb')
const agentSettings = { model_name: fc.constantFrom('gpt-4o', null), provider: fc.constantFrom('openai', 'mindsdb', null) }
const botSettings = {
  agent: maybe(name),
  model: maybe(name),
  database: maybe(name),
  is_running: maybe(fc.boolean()),
  params: maybe(params),
}

type CommandData = [LedgerCommand['type'], fc.Arbitrary<object>][]
const commands: CommandData = [
  ['CreateProject', record({ project, ...flags })],
  ['CreateProject', record({ project, ...flags })],
  ['RenameProject', record({ project, name: project, defaultProject })],
  ['DeleteProject', record({ project, defaultProject, ...ends })],
  ['CreateSkill', record({ project, skill: name, type: fc.constant('sql'), params, ...flags })],
  ['CreateSkill', record({ project, skill: name, type: fc.constant('sql'), params, ...flags })],
  ['UpdateSkill', record({ project, skill: name, name: maybe(name), type: maybe(fc.constant('kb')), params: maybe(params) })],
  ['PutSkill', record({ project, skill: name, name: maybe(name), type: maybe(fc.constant('kb')), params: maybe(params) })],
  ['DeleteSkill', record({ project, skill: name, ...ends })],
  ['CreateAgent', record({ project, agent: name, ...agentSettings, skills, params, ...flags })],
  ['UpdateAgent', record({ project, agent: name, name: maybe(name), skills: maybe(skills), params: maybe(params) })],
  [
    'UpdateAgent',
    record({ project, agent: name, skills_to_add: maybe(skills), skills_to_remove: maybe(fc.array(name, { maxLength: 2 })) }),
  ],
  ['DeleteAgent', record({ project, agent: name, ...ends })],
  ['CreateChatbot', record({ project, chatbot: name, ...botSettings, ...flags })],
  ['UpdateChatbot', record({ project, chatbot: name, name: maybe(name), ...botSettings })],
  ['PutChatbot', record({ project, chatbot: name, name: maybe(name), ...botSettings })],
  ['DeleteChatbot', record({ project, chatbot: name, ...ends })],
  ['CreateDatabase', record({ database: name, engine: fc.constantFrom('slack', 'x'), parameters: params, ...flags })],
  ['UpdateDatabase', record({ database: name, name: maybe(name), parameters: maybe(params) })],
  ['PutDatabase', record({ database: name, engine: maybe(fc.constant('slack')), name: maybe(name), parameters: maybe(params) })],
  ['DeleteDatabase', record({ database: name, ...ends })],
  ['CreateView', record({ project, view: name, query: fc.constant('SELECT 1'), database: name, ...flags })],
  ['PutView', record({ project, view: name, query: fc.constant('SELECT 2'), database: name })],
  ['DeleteView', record({ project, view: name, ...ends })],
  ['CreateFile', record({ file: name, content })],
  ['ReplaceFile', record({ file: name, content })],
  ['DeleteFile', record({ file: name, ...ends })],
  [
    'UpdateConfig',
    record({
      parameters: record({ default_llm: maybe(params), default_embedding_model: maybe(params), default_reranking_model: maybe(params) }),
      streams: fc.nat(1_000_000).map((n) => ({
        default_llm: stream(10_000 + 4 * n),
        default_embedding_model: stream(10_001 + 4 * n),
        default_reranking_model: stream(10_002 + 4 * n),
        llm_prices: stream(10_003 + 4 * n),
      })),
    }),
  ],
  ['CreateEngine', record({ engine: engineName, handler: fc.constantFrom('lightwood', 'x'), parameters: params, ...flags })],
  ['DeleteEngine', record({ engine: engineName, ...ends })],
  ['CreateModel', record({ project, model: name, request, ...flags, orReplace: maybe(fc.boolean()) })],
  ['RetrainModel', record({ project, model: name, request })],
  ['ActivateModelVersion', record({ project, model: name, version })],
  ['DeleteModelVersion', record({ project, model: name, version })],
  ['DeleteModel', record({ project, model: name, ...ends })],
  ['StartTraining', record({ stream: fc.constant(''), version })],
  ['CompleteTraining', record({ stream: fc.constant(''), version, result })],
  ['CreateJob', record({ project, job: name, ...work, ...flags })],
  [
    'UpdateJob',
    record({
      ...{ project, job: name, now: time, start_at: maybe(time), end_at: maybe(fc.option(time)), schedule: maybe(work.schedule) },
      text: maybe(record({ statements: work.statements, condition: work.condition, params: work.params, was })),
    }),
  ],
  ['DeleteJob', record({ project, job: name, ...ends })],
  ['StartJobRun', record({ stream: fc.constant(''), run, now: time })],
  [
    'FinishJobRun',
    record({ stream: fc.constant(''), run, outcome: fc.constantFrom(...jobOutcomes), error: fc.constant('e'), statements: done }),
  ],
  ['FailTraining', record({ stream: fc.constant(''), version, error: fc.constant('no rows') })],
]
const command = fc.oneof(...commands.map(([type, data]) => data.map((of) => ({ type, data: of }) as LedgerCommand)))

/** Trainings and runs are told by stream: of a model or a job that is there, or was never. */
const aimed = async (log: ServedLog, one: LedgerCommand, pick: number): Promise<LedgerCommand> => {
  if (!('stream' in one.data)) return one
  const found = await log.resources.list('run' in one.data ? 'job' : 'model')
  const target = found[pick % Math.max(found.length, 1)]?.stream ?? stream(404)
  const inResult = 'result' in one.data ? { result: { ...one.data.result, version: one.data.version } } : {}
  return { ...one, data: { ...one.data, ...inResult, stream: target } } as LedgerCommand
}

const folded = async (log: ServedLog): Promise<AnyResource[]> => {
  const states = new Map<string, AnyResource>()
  for (const { position, text } of await log.readAll(0, 100_000)) {
    const e = parseEnvelope(text)
    const definition = catalogue.get(e.type)
    expect(definition?.schema.safeParse(upcast(e.type, e.schema, e.data)).success).toBe(true)
    expect(e.position).toBe(position)
    const kind = definition?.kind as Kind
    const before = states.get(e.stream)
    const state = evolve(kind, before?.state as never, e)
    if (!state) states.delete(e.stream)
    else {
      const created = before ?? { id: position, created_at: e.recorded_at }
      states.set(e.stream, {
        kind,
        stream: e.stream as StreamId,
        id: created.id,
        version: e.version,
        created_at: created.created_at,
        updated_at: e.recorded_at,
        state,
      } as AnyResource)
    }
  }
  return [...states.values()].sort((a, b) => a.id - b.id)
}

/** Everything that the files of a directory hold, as bytes. */
const bytesOf = (directory: string): Buffer => Buffer.concat(readdirSync(directory).map((file) => readFileSync(join(directory, file))))

const check = async (log: ServedLog, directory: string, file: string) => {
  const stored = (await Promise.all(kinds.map((kind) => log.resources.list<Kind>(kind)))).flat().sort((a, b) => a.id - b.id)
  expect(stored).toEqual(await folded(log))
  const keys = stored.map(({ kind, state }) => [kind, 'project' in state ? state.project : '', foldName(state.name)].join(' '))
  expect(new Set(keys).size).toBe(keys.length)
  expect((await verifyLog({ logFile: file })).findings).toEqual([])
  expect(readdirSync(directory)).toContain('log.sqlite-wal')
  expect(bytesOf(directory).includes(planted)).toBe(false)
}

/** The tables, followed in small steps, are those of one rebuild and what the events fold to. */
const checkTables = async (log: ServedLog, step: number) => {
  const events: EventReader = { head: async () => (await log.head()).position, read: (after, limit) => log.readAll(after, limit) }
  const [once, split] = [await memoryDatabase(), await memoryDatabase()]
  const position = await replay({ events, payloads: log, database: once })
  const tables = await Replay.open({ events, payloads: log, database: split }, { ...replayLimits, batchMaxEvents: step })
  while (tables.position < position) await tables.catchUp(tables.position + step)
  tables.close()
  expect(await dump(split)).toEqual(await dump(once))
  const connection = await split.connect()
  const envelopes = (await log.readAll(0, position)).map(({ text }) => parseEnvelope(text))
  await expectTables(connection, envelopes, [position])
  connection.closeSync()
  once.closeSync()
  split.closeSync()
}

/** Something to begin with, or most commands would meet nothing. */
const begin = async (ledger: Ledger) => {
  await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
  await ledger.execute({ type: 'CreateDatabase', data: { database: 'a', engine: 'slack', parameters: { token: planted } } }, origin)
  await ledger.execute({ type: 'CreateSkill', data: { project: '1', skill: 'b', type: 'sql', params: { api_key: planted } } }, origin)
}

const refusedProperly = (error: unknown) => {
  // A change of a job was made from other texts than it has.
  const isOutdated = isProblem(error) && error.title === 'Changed meanwhile'
  if (!isProblem(error) || (error.status >= 500 && !isOutdated)) throw error
}

describe('random commands of every kind', () => {
  const histories = fc.array(fc.tuple(command, fc.nat({ max: 9 })), { minLength: 30, maxLength: 80, size: 'max' })

  test('one after another: resources and tables are the fold of the events, every event validates, no secret is in any file', async () => {
    const types = new Set<string>()
    await fc.assert(
      fc.asyncProperty(histories, (history) =>
        withLog(async ({ log, ledger, directory, file }) => {
          await begin(ledger)
          for (const [one, pick] of history) await ledger.execute(await aimed(log, one, pick), origin).catch(refusedProperly)
          for (const { text } of await log.readAll(0, 1_000)) types.add(parseEnvelope(text).type)
          await check(log, directory, file)
          await checkTables(log, 1 + (history.length % 7))
        }),
      ),
      { numRuns: 20 * times },
    )
    // The commands meet often enough to say something.
    expect(types.size).toBeGreaterThan(20)
  })

  test('all at once: the same holds', async () => {
    await fc.assert(
      fc.asyncProperty(histories, (history) =>
        withLog(async ({ log, ledger, directory, file }) => {
          await begin(ledger)
          const aims = await Promise.all(history.map(([one, pick]) => aimed(log, one, pick)))
          await Promise.all(aims.map((one) => ledger.execute(one, origin).catch(refusedProperly)))
          await check(log, directory, file)
        }),
      ),
      { numRuns: 10 * times },
    )
  })
})
