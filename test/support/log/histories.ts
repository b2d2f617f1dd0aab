import { fc } from '../random/properties.js'
import { instant } from '../../../events/stored/envelope.js'
import { jobOutcomes, jobUnits } from '../../../events/job.js'
import type { Kind } from '../../../events/catalogue/catalogue.js'
import type { Json, JsonObject } from '../../../events/common.js'
import { configNames } from '../../../events/config.js'
import { conversationChannels, messageFailures } from '../../../events/conversation.js'
import { MemoryLog, streamOf, type Written } from './memory-log.js'

const word = fc.constantFrom('sales', 'Größe', 'a "quoted" name', 'back\\slash', 'null', '', '猫', 'x'.repeat(40))
const json: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom('a', 'b.c', '$', 'null', 'ü'),
  fc.oneof(
    word,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
    fc.boolean(),
    fc.constant<Json>([1, [null]]),
  ),
  { maxKeys: 3 },
)
const hash = fc.integer({ min: 0, max: 999 }).map((n) => n.toString(16).padStart(64, '0'))
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })
const stream = fc.integer({ min: 1, max: 5 }).map(streamOf)
const some = <T extends object>(of: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(of, { requiredKeys: [] })

const agent = {
  model_name: orNull(word),
  provider: orNull(word),
  skills: fc.array(fc.record({ skill: stream, params: json }), { maxLength: 2 }),
  params: json,
}
const chatbot = { agent: orNull(stream), model_name: orNull(word), database: stream, is_running: fc.boolean(), params: json }
const file = {
  content: hash,
  bytes: fc.nat(),
  row_count: fc.nat(),
  columns: fc.array(fc.record({ name: word, type: word }), { maxLength: 2 }),
  original_name: orNull(word),
}
const uuid = fc.integer({ min: 1, max: 3 }).map((n) => `00000000-0000-4000-8000-00000000000${n}`)
const delivery = { message: uuid, reply: uuid, answer: uuid, answered_at: fc.integer({ min: 1, max: 99 }), payload: hash }
const knowledge = {
  embedding_model: orNull(json),
  reranking_model: orNull(json),
  storage: orNull(json),
  content_columns: fc.array(word, { maxLength: 2 }),
  metadata_columns: fc.array(word, { maxLength: 2 }),
  id_column: orNull(word),
  chunking: fc.record({ size: fc.integer({ min: 1, max: 99 }), overlap: fc.nat() }),
  params: json,
}
const nothing = fc.constant({})

type Data = fc.Arbitrary<object>
type Life = { begins: [string, Data]; changes: [string, Data][]; ends: string }

/** The possible events of each kind of simple resource; models and jobs have their own steps. */
const lives: Record<Exclude<Kind, 'model' | 'job'>, Life> = {
  project: {
    begins: ['ProjectCreated', fc.record({ name: word })],
    changes: [['ProjectRenamed', fc.record({ name: word })]],
    ends: 'ProjectDeleted',
  },
  skill: {
    begins: ['SkillCreated', fc.record({ project: stream, name: word, type: word, params: json })],
    changes: [
      ['SkillUpdated', some({ type: word, params: json })],
      ['SkillRenamed', fc.record({ name: word })],
    ],
    ends: 'SkillDeleted',
  },
  agent: {
    begins: ['AgentCreated', fc.record({ project: stream, name: word, ...agent })],
    changes: [
      ['AgentUpdated', some(agent)],
      ['AgentRenamed', fc.record({ name: word })],
    ],
    ends: 'AgentDeleted',
  },
  chatbot: {
    begins: ['ChatbotCreated', fc.record({ project: stream, name: word, ...chatbot })],
    changes: [
      ['ChatbotUpdated', some(chatbot)],
      ['ChatbotRenamed', fc.record({ name: word })],
    ],
    ends: 'ChatbotDeleted',
  },
  conversation: {
    begins: ['ConversationStarted', fc.record({ chatbot: stream, name: word, channel: fc.constantFrom(...conversationChannels) })],
    changes: [
      [
        'MessageReceived',
        fc.record({
          message: uuid,
          origins: fc.array(
            word.filter((text) => text !== ''),
            { maxLength: 2 },
          ),
          payload: hash,
        }),
      ],
      ['DeliveryBegun', fc.record(delivery)],
      ['MessageSent', fc.record(delivery)],
      ['NoticeBegun', fc.record({ message: uuid, reply: uuid, reason: fc.constantFrom(...messageFailures), error: word, notice: word })],
      ['MessageFailed', fc.record({ message: uuid, reason: fc.constantFrom(...messageFailures), error: word, notice: fc.option(word) })],
    ],
    ends: 'ConversationEnded',
  },
  database: {
    begins: ['DatabaseCreated', fc.record({ name: word, engine: word, parameters: json })],
    changes: [
      ['DatabaseUpdated', some({ engine: word, parameters: json })],
      ['DatabaseRenamed', fc.record({ name: word })],
    ],
    ends: 'DatabaseDeleted',
  },
  view: {
    begins: ['ViewCreated', fc.record({ project: stream, name: word, query: word, database: word })],
    changes: [
      ['ViewUpdated', some({ query: word, database: word })],
      ['ViewRenamed', fc.record({ name: word })],
    ],
    ends: 'ViewDeleted',
  },
  file: { begins: ['FileCreated', fc.record({ name: word, ...file })], changes: [['FileReplaced', fc.record(file)]], ends: 'FileDeleted' },
  config: {
    begins: ['ConfigCreated', fc.record({ name: fc.constantFrom(...configNames), value: json })],
    changes: [['ConfigUpdated', fc.record({ value: json })]],
    ends: 'ConfigDeleted',
  },
  engine: {
    begins: ['EngineCreated', fc.record({ name: word, handler: word, parameters: json })],
    changes: [],
    ends: 'EngineDeleted',
  },
  knowledge_base: {
    begins: ['KnowledgeBaseCreated', fc.record({ project: stream, name: word, ...knowledge })],
    changes: [
      ['KnowledgeBaseUpdated', some(knowledge)],
      ['KnowledgeBaseRenamed', fc.record({ name: word })],
    ],
    ends: 'KnowledgeBaseDeleted',
  },
}

const plain: Partial<Record<string, Life>> = lives

const request = fc.record(
  {
    engine: word,
    target: word,
    database: word,
    query: word,
    using: json,
    seed: fc.nat(),
    activate: fc.boolean(),
    tag: orNull(word),
    keep_training_data: fc.boolean(),
  },
  { requiredKeys: ['engine', 'target', 'database', 'query', 'using', 'seed', 'activate', 'tag'] },
)
const result = fc.record({
  artefact: hash,
  matrix: hash,
  read_at: fc.nat(),
  rows: fc.nat(),
  accuracy: orNull(fc.double({ min: 0, max: 1, noNaN: true })),
  report: json,
  runtime: json,
  seconds: fc.double({ min: 0, max: 1e6, noNaN: true }),
})

const time = fc.integer({ min: 0, max: 2e9 }).map((seconds) => instant(seconds * 1_000, seconds % 1_000))
const schedule = fc.record({ count: fc.integer({ min: 1, max: 99 }), unit: fc.constantFrom(...jobUnits), said: word })
const job = fc.record({
  project: stream,
  name: word,
  query: word,
  if_query: orNull(word),
  sealed: orNull(hash.map((of) => ({ $secret: of }))),
  start_at: time,
  end_at: orNull(time),
  schedule: orNull(schedule),
})
const jobChange = fc.record(
  {
    query: word,
    if_query: orNull(word),
    sealed: orNull(hash.map((of) => ({ $secret: of }))),
    start_at: time,
    end_at: orNull(time),
    schedule: orNull(schedule),
    next_run_at: orNull(time),
    keeps_last: fc.record({ condition: fc.boolean(), statements: fc.array(orNull(fc.nat(2)), { maxLength: 3 }) }),
  },
  { requiredKeys: [] },
)
const last = fc.array(fc.record({ column: word, type: word, value: orNull(word) }), { minLength: 1, maxLength: 2 })
const run = fc.record({
  due_at: time,
  started_at: time,
  next_run_at: orNull(time),
  outcome: fc.constantFrom(...jobOutcomes),
  error: orNull(word),
  statements: fc.array(
    fc.record(
      { positions: fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 2 }), error: orNull(word), last },
      { requiredKeys: ['positions', 'error'] },
    ),
    { maxLength: 2 },
  ),
  condition_last: fc.option(last, { nil: undefined }),
  change: jobChange,
})

/** One possible event, decided when the state is known: random numbers choose among the possible events. */
export type Step = {
  kind: string
  resource: number
  choice: number
  begin: object
  changes: object[]
  request: object
  result: object
  run: {
    due_at: string
    started_at: string
    next_run_at: string | null
    outcome: string
    error: string | null
    statements: object[]
    condition_last: object[] | undefined
    change: object
  }
  word: string
}

const step: fc.Arbitrary<Step> = fc.constantFrom(...Object.keys(plain), 'model', 'model', 'model', 'model', 'job', 'job').chain((kind) => {
  const events = plain[kind]
  return fc.record({
    kind: fc.constant(kind),
    resource: fc.nat(1),
    choice: fc.noBias(fc.integer({ min: 0, max: 39 })),
    begin: events?.begins[1] ?? (kind === 'job' ? job : fc.record({ project: stream, name: word })),
    changes: fc.tuple(...(events?.changes ?? []).map(([, data]) => data)),
    request: events ? nothing : request,
    result: events ? nothing : result,
    run,
    word,
  })
})

/** Histories of all kinds of resources, as the random choices that make them. */
export const steps = (maxLength = 60): fc.Arbitrary<Step[]> => fc.array(step, { minLength: 1, maxLength, size: 'max' })

type ModelState = { versions: { version: number; status: string }[]; active: number | null; next: number }

// JSON writes -0 as 0, and so does the log.
const asData = (data: object): JsonObject => JSON.parse(JSON.stringify(data)) as JsonObject

const trainingStep = (state: ModelState, { choice, ...of }: Step): Omit<Written, 'stream'> => {
  const open = state.versions.find(({ status }) => status === 'generating' || status === 'training')
  const complete = state.versions.filter(({ status }) => status === 'complete')
  const idle = state.versions.find(({ version, status }) => version !== state.active && (status === 'complete' || status === 'error'))
  const pick = choice >> 2
  if (open && pick < 6) {
    if (open.status === 'generating' && pick < 2) {
      open.status = 'training'
      return { type: 'ModelTrainingStarted', data: { version: open.version } }
    }
    open.status = pick === 2 ? 'error' : 'complete'
    if (pick === 2) return { type: 'ModelTrainingFailed', data: { version: open.version, error: of.word } }
    return { type: 'ModelTrained', data: asData({ ...of.result, version: open.version }) }
  }
  const chosen = complete[choice % Math.max(complete.length, 1)]
  if (chosen && pick % 3 === 1) {
    state.active = chosen.version
    return { type: 'ModelVersionActivated', data: { version: chosen.version } }
  }
  if (pick === 9) return { type: 'ModelRecordingChanged', data: { recording: choice % 2 === 0 ? 'off' : 'all' } }
  if (idle && pick % 3 === 2) {
    state.versions.splice(state.versions.indexOf(idle), 1)
    return { type: 'ModelVersionDeleted', data: { version: idle.version } }
  }
  const version = state.next++
  state.versions.push({ version, status: 'generating' })
  return { type: 'ModelTrainingRequested', data: asData({ ...of.request, version }) }
}

type JobState = { running: string | null; next: number }

/** Runs begin and end in turn, and changes come at any time. */
const runStep = (state: JobState, { choice, run }: Step): Omit<Written, 'stream'> => {
  const { due_at, started_at, next_run_at, outcome, error, statements, condition_last } = run
  if (choice % 7 === 6) return { type: 'JobExpired', data: {} }
  if (choice % 7 === 5) return { type: 'JobUpdated', data: asData(run.change) }
  if (state.running === null) {
    state.running = `run ${state.next++}`
    return { type: 'JobRunStarted', data: asData({ run: state.running, due_at, started_at, next_run_at }) }
  }
  const ended = state.running
  state.running = null
  return { type: 'JobRunFinished', data: asData({ run: ended, outcome, error, statements, ...(condition_last && { condition_last }) }) }
}

/** Turns random choices into a log that `decide` could have written. */
export const play = (chosen: readonly Step[]): MemoryLog => {
  const log = new MemoryLog()
  const alive = new Set<string>()
  const models = new Map<string, ModelState>()
  const jobs = new Map<string, JobState>()
  const begins = (kind: string): string => plain[kind]?.begins[0] ?? (kind === 'job' ? 'JobCreated' : 'ModelCreated')
  const ends = (kind: string): string => plain[kind]?.ends ?? (kind === 'job' ? 'JobDeleted' : 'ModelDeleted')
  for (const of of chosen) {
    const kinds = [...Object.keys(plain), 'model', 'job']
    const stream = streamOf(1_000 * (kinds.indexOf(of.kind) + 1) + of.resource)
    const events = plain[of.kind]
    if (!alive.has(stream)) {
      alive.add(stream)
      models.set(stream, { versions: [], active: null, next: 1 })
      jobs.set(stream, { running: null, next: log.head() })
      log.append({ stream, type: begins(of.kind), data: asData(of.begin) })
    } else if (of.choice % 5 === 4) {
      // `decide` never begins a stream again after its end, but the result must be right even then.
      alive.delete(stream)
      log.append({ stream, type: ends(of.kind), data: {} })
    } else if (events) {
      const n = of.choice % Math.max(events.changes.length, 1)
      const [type] = events.changes[n] ?? []
      if (type !== undefined) log.append({ stream, type, data: asData(of.changes[n]!) })
    } else if (of.kind === 'job') {
      log.append({ stream, ...runStep(jobs.get(stream)!, of) })
    } else {
      log.append({ stream, ...trainingStep(models.get(stream)!, of) })
    }
  }
  return log
}
