import { describe, expect, test } from '@jest/globals'
import type { DuckDBInstance } from '@duckdb/node-api'
import { fc } from '../support/random/properties.js'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StreamId } from '../../events/common.js'
import { parseEnvelope, type Envelope } from '../../events/stored/envelope.js'
import { predictionsStream } from '../../events/records/predictions.js'
import { replay, type EventReader, type PayloadReader } from '../../projections/replay.js'
import type { LedgerCommand } from '../../src/commands/dispatch.js'
import { isProblem } from '../../src/basics/errors.js'
import type { ServedLog } from '../../src/log/contract/log.js'
import { catalogue } from '../../src/sql/relations/catalogue.js'
import { runSelect } from '../../src/sql/engine/run/run-select.js'
import type { SelectRequest } from '../../src/sql/contract/select.js'
import { countOf } from '../support/counts.js'
import { AnswerMaker, recordOf } from '../support/agents/answer-maker.js'
import { fakeArtefact, loadFakeModel } from '../support/models/fake-model.js'
import { play, steps } from '../support/log/histories.js'
import { origin, stream, testKey, withLog, writes } from '../support/log/log.js'
import { memoryDatabase } from '../support/memory-database.js'

const times = countOf('PROPERTY_TIMES')

type Log = EventReader & PayloadReader

/** Where in a log to look, from its begin to its end. */
const anywhere = fc.noBias(fc.integer({ min: 0, max: 999 })).map((n) => n / 1_000)

/** The tables of a log up to a position, and what SELECTs say over them. */
class Tables {
  private constructor(
    readonly instance: DuckDBInstance,
    readonly head: number,
    private readonly blobs: string,
  ) {}

  static async of(log: Log, until: number, blobs: string): Promise<Tables> {
    const instance = await memoryDatabase()
    await replay({ events: log, payloads: log, database: instance, until })
    const connection = await instance.connect()
    await connection.run(`SET GLOBAL TimeZone = 'UTC'`)
    connection.closeSync()
    return new Tables(instance, until, blobs)
  }

  /** The columns and the sorted rows of an answer, or the code that it is refused with. */
  async outcome(sql: string, request: Partial<SelectRequest> = {}): Promise<string[]> {
    const services = { blobsDirectory: this.blobs, signal: new AbortController().signal, loadModel: loadFakeModel }
    const rows: string[] = []
    let columns = ''
    try {
      const asked = { sql, db: 'shop', defaultProject: 'shop', upTo: this.head, ...request }
      for await (const frame of runSelect({ instance: this.instance }, asked, services)) {
        if ('columns' in frame) columns = JSON.stringify(frame.columns)
        if ('rows' in frame) rows.push(...(JSON.parse(`[${frame.rows.toString()}]`) as unknown[]).map((row) => JSON.stringify(row)))
      }
    } catch (error) {
      if (!isProblem(error)) throw error
      return [`refused: ${error.code}`]
    }
    return [columns, ...rows.sort()]
  }

  async names(sql: string): Promise<string[][]> {
    const [, ...rows] = await this.outcome(sql)
    return rows.map((row) => JSON.parse(row) as string[])
  }

  close(): void {
    this.instance.closeSync()
  }
}

const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``

/** How a table is asked for: `at` stands behind its name. */
type Asked = (at: string) => string

const select =
  (schema: string, table: string): Asked =>
  (at) =>
    `SELECT * FROM ${quoted(schema)}.${quoted(table)} ${at}`

/** How the tables themselves stand is told of now alone. */
const isOfThePast = (name: string): boolean => name !== 'projections'

/** Everything that SQL offers by itself of the past, in every project there is. */
const offered = (projects: readonly string[]): Asked[] => [
  ...(['information_schema', 'log'] as const).flatMap((schema) =>
    catalogue[schema].filter(({ name }) => isOfThePast(name)).map(({ name }) => select(schema, name)),
  ),
  ...projects.flatMap((project) => catalogue.project.map(({ name }) => select(project, name))),
]

/** At position n, all tables say what the tables of the log cut at n say: by position, by time, and as a whole query. */
const sameAsFresh = async (full: Tables, fresh: Tables, { position, recorded_at }: Envelope, asked: readonly Asked[]): Promise<number> => {
  let answered = 0
  for (const [i, of] of asked.entries()) {
    const expected = await fresh.outcome(of(''))
    const sql = of(`AT (VERSION => ${position})`)
    expect({ sql, outcome: await full.outcome(sql) }).toEqual({ sql, outcome: expected })
    const [other, request] = i % 2 === 0 ? [of(`AT (TIMESTAMP => '${recorded_at}')`), {}] : [of(''), { asOf: position }]
    expect({ other, outcome: await full.outcome(other, request) }).toEqual({ other, outcome: expected })
    if (!expected[0]?.startsWith('refused')) answered++
  }
  return answered
}

const withBlobs = async (run: (directory: string) => Promise<void>): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), 'time-travel-'))
  try {
    await run(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

test('random events: at every position each table is that of a replay which ends there', () =>
  withBlobs((blobs) =>
    fc.assert(
      fc.asyncProperty(steps(60), anywhere, async (chosen, where) => {
        const log = play(chosen)
        const position = 1 + Math.floor(where * log.head())
        const [full, fresh] = [await Tables.of(log, log.head(), blobs), await Tables.of(log, position, blobs)]
        const projects = await fresh.names(`SELECT DISTINCT name FROM information_schema.databases WHERE type = 'project' AND name <> ''`)
        await sameAsFresh(full, fresh, log.envelopes[position - 1]!, offered(projects.flat()))
        full.close()
        fresh.close()
      }),
      { numRuns: 2 * times },
    ),
  ))

const project = fc.constantFrom('shop', 'shop', 'shop', 'office')
const name = fc.constantFrom('a', 'b', 'c')
const query = fc.constantFrom(
  'SELECT count(*) AS n, min(x) AS x FROM files.a',
  'SELECT * FROM a',
  'SELECT * FROM office.b AS t',
  'SELECT t.x, m.y FROM files.b AS t JOIN shop.a AS m',
  'SELECT name, project, type FROM information_schema.skills',
  'SELECT count(*) AS n FROM log.events AT (VERSION => 2)',
  'SELECT name, version, active FROM models',
)
const params = fc.constantFrom({}, { k: 1 }, { api_key: 'sk-1' })
const price = fc.record({ input: fc.nat(9), output: fc.nat(9) })
const prices = fc.record({ llm_prices: fc.oneof(fc.record({ 'gpt-4o': price }), fc.record({ 'openai/gpt-4o': price }), fc.constant({})) })
const configStreams = {
  default_llm: stream(1),
  default_embedding_model: stream(2),
  default_reranking_model: stream(3),
  llm_prices: stream(4),
}
const weight = fc.integer({ min: 0, max: 2 })
const version = fc.integer({ min: 1, max: 3 })
const request = { engine: 'lightwood', target: 'y', database: 'files', query: 'SELECT 1', using: {}, seed: 1, tag: null, activate: true }

/** What a random command is made from; blobs are chosen by number, models by their place. */
type Choice = { type: LedgerCommand['type'] | 'Predict' | 'Answer'; data: object; weight: number; version: number }

const choice: fc.Arbitrary<Choice> = fc
  .oneof(
    ...(
      [
        ['CreateProject', fc.record({ project })],
        ['RenameProject', fc.record({ project, name: project, defaultProject: fc.constant('') })],
        ['DeleteProject', fc.record({ project, defaultProject: fc.constant('') })],
        ['CreateSkill', fc.record({ project, skill: name, type: fc.constantFrom('sql', 'kb'), params })],
        ['UpdateSkill', fc.record({ project, skill: name, name, params })],
        ['DeleteSkill', fc.record({ project, skill: name })],
        [
          'CreateAgent',
          fc.record({
            project,
            agent: name,
            model_name: fc.constant('gpt-4o'),
            provider: fc.constant('openai'),
            skills: fc.array(fc.record({ name, params: fc.constant({}) }), { maxLength: 2 }),
            params,
          }),
        ],
        ['UpdateAgent', fc.record({ project, agent: name, name })],
        ['DeleteAgent', fc.record({ project, agent: name })],
        ['CreateDatabase', fc.record({ database: fc.constantFrom('d', 'e'), engine: fc.constant('slack'), parameters: params })],
        [
          'CreateChatbot',
          fc.record({ project, chatbot: name, agent: name, database: fc.constantFrom('d', 'e'), is_running: fc.boolean() }),
        ],
        ['DeleteChatbot', fc.record({ project, chatbot: name })],
        ['CreateView', fc.record({ project, view: name, query, database: project })],
        ['CreateView', fc.record({ project, view: name, query, database: project })],
        ['PutView', fc.record({ project, view: name, query, database: project })],
        ['DeleteView', fc.record({ project, view: name })],
        ['CreateFile', fc.record({ file: name })],
        ['CreateFile', fc.record({ file: name })],
        ['ReplaceFile', fc.record({ file: name })],
        ['DeleteFile', fc.record({ file: name })],
        ['CreateModel', fc.record({ project, model: name, request: fc.constant(request) })],
        ['CreateModel', fc.record({ project, model: name, request: fc.constant(request) })],
        ['RetrainModel', fc.record({ project, model: name, request: fc.constant(request) })],
        ['ActivateModelVersion', fc.record({ project, model: name, version })],
        ['DeleteModelVersion', fc.record({ project, model: name, version })],
        ['DeleteModel', fc.record({ project, model: name })],
        ['StartTraining', fc.record({})],
        ['CompleteTraining', fc.record({})],
        ['CompleteTraining', fc.record({})],
        ['CompleteTraining', fc.record({})],
        ['FailTraining', fc.record({})],
        ['Predict', fc.record({})],
        ['Answer', fc.record({})],
        ['Answer', fc.record({})],
        ['UpdateConfig', fc.record({ parameters: prices, streams: fc.constant(configStreams) })],
      ] as [Choice['type'], fc.Arbitrary<object>][]
    ).map(([type, data]) => data.map((of) => ({ type, data: of }))),
  )
  .chain((made) => fc.record({ type: fc.constant(made.type), data: fc.constant(made.data), weight, version }))

type Blobs = { contents: string[]; artefacts: string[] }

const makeBlobs = async (directory: string): Promise<Blobs> => {
  const stored = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
  const instance = await memoryDatabase()
  const connection = await instance.connect()
  const contents: string[] = []
  for (const n of [1, 2, 3]) {
    const path = join(directory, 'writing')
    await connection.run(`COPY (SELECT range * ${n} AS x FROM range(${n * 2})) TO '${path}' (FORMAT parquet)`)
    const hash = stored(readFileSync(path))
    renameSync(path, join(directory, hash))
    contents.push(hash)
  }
  connection.closeSync()
  instance.closeSync()
  const artefacts = [1, 2, 3].map((n) => {
    const bytes = fakeArtefact({ target: 'y', inputs: [{ name: 'x', type: 'number', weight: n }] })
    writeFileSync(join(directory, stored(bytes)), bytes)
    return stored(bytes)
  })
  return { contents, artefacts }
}

const trained = (n: number, artefact: string) => ({
  version: n,
  artefact,
  matrix: 'cd'.repeat(32),
  read_at: 1,
  rows: 1,
  accuracy: 0.5,
  report: { inputs: [{ name: 'x', type: 'number' }], target: { name: 'y', type: 'number' } },
  runtime: {},
  seconds: 1,
})

/** A receipt; with a payload that nobody has, its rows are unreadable. */
const predict = (log: ServedLog, model: StreamId, of: Choice) =>
  log.submit(
    writes({
      stream: predictionsStream(model),
      event: {
        type: 'PredictionsServed',
        data: {
          model,
          version: of.version,
          rows: 2,
          requests: [{ request: 'r', rows: 2 }],
          payload: of.weight === 0 ? null : 'ef'.repeat(32),
          statement: null,
          read_at: 1,
        },
      },
    }),
  )

/** An answer of an agent, with a verdict on it and an evaluation that asks it again. */
const answerWith = async (maker: AnswerMaker, { weight, version }: Choice): Promise<void> => {
  const agents = await maker.log.resources.list('agent')
  const agent = agents[version % Math.max(agents.length, 1)]?.stream
  if (agent === undefined) return
  const made = await maker.answer(agent, recordOf(`question ${weight}`, 'answer'))
  const place = { agent, ...made }
  if (weight > 0) await maker.judge(place, version === 1 ? 'bad' : 'good', 'because', `actor ${version}`)
  if (weight === 2)
    await maker.evaluate(agent, [{ question: 'q', expected: null, answer: 'a', of: made, gave: null, scores: { same_text: 1 } }])
}

/** The command that a choice becomes, when there is what it needs. */
const commandOf = async (log: ServedLog, of: Choice, { contents, artefacts }: Blobs): Promise<LedgerCommand | undefined> => {
  const file = { content: contents[of.weight], bytes: 1, row_count: 2, columns: [{ name: 'x', type: 'BIGINT' }], original_name: null }
  if (of.type === 'CreateFile' || of.type === 'ReplaceFile')
    return { type: of.type, data: { ...of.data, content: file } } as unknown as LedgerCommand
  if (!/Training$/.test(of.type)) return of as unknown as LedgerCommand
  const models = await log.resources.list('model')
  const open = models.flatMap(({ stream, state }) =>
    state.versions
      .filter(({ status }) => status === 'generating' || status === 'training')
      .map((one) => ({ stream, version: one.version })),
  )
  const target = open[of.version % Math.max(open.length, 1)]
  if (!target) return undefined
  const data = { ...target, result: trained(target.version, artefacts[of.weight] ?? ''), error: 'no rows' }
  return { type: of.type, data } as unknown as LedgerCommand
}

const refusedProperly = (error: unknown) => {
  if (!isProblem(error) || error.status >= 500) throw error
}

/** The users' own tables at the head or at a position: views, files and models, which are asked by a JOIN. */
const owned = async (tables: Tables): Promise<Asked[]> => {
  const rows = await tables.names(
    `SELECT table_schema, table_name, table_type FROM information_schema.tables
     WHERE table_type IN ('VIEW', 'MODEL') OR table_schema = 'files'`,
  )
  return rows.flatMap(([schema = '', table = '', type]) =>
    type === 'MODEL'
      ? [
          (at: string) => `SELECT t.x, m.y FROM (VALUES (1), (5)) AS t(x) JOIN ${quoted(schema)}.${quoted(table)} ${at} AS m`,
          (at: string) => `SELECT y FROM ${quoted(schema)}.${quoted(table)} ${at} WHERE x = 7`,
          (at: string) => `SELECT y FROM ${quoted(schema)}.${quoted(table)}.1 ${at} WHERE x = 7`,
        ]
      : [select(schema, table)],
  )
}

const thirds = 3

describe('random commands', () => {
  test('at every position each table, view, file and model is that of a replay which ends there', () =>
    withBlobs(async (directory) => {
      const blobs = await makeBlobs(directory)
      let [asked, answered] = [0, 0]
      const histories = fc.array(choice, { minLength: 60, maxLength: 120, size: 'max' })
      // A position in each third of a log: early ones alone would have little to say.
      const inThird = (third: number) =>
        fc.asyncProperty(histories, anywhere, (chosen, where) =>
          withLog(async ({ log, ledger }) => {
            for (const begun of ['shop', 'office']) await ledger.execute({ type: 'CreateProject', data: { project: begun } }, origin)
            for (const of of chosen) {
              const models = await log.resources.list('model')
              const model = models[of.version % Math.max(models.length, 1)]
              if (of.type === 'Answer') {
                await answerWith(new AnswerMaker(log, testKey), of)
                continue
              }
              if (of.type === 'Predict') {
                if (model) await predict(log, model.stream, of)
                continue
              }
              const command = await commandOf(log, of, blobs)
              if (command) await ledger.execute(command, origin).catch(refusedProperly)
            }
            const { position: head } = await log.head()
            const events = (await log.readAll(0, head)).map(({ text }) => parseEnvelope(text))
            // Of events that share a time, the time means the last.
            const last = events.filter((event, i) => event.recorded_at !== events[i + 1]?.recorded_at)
            const at = last[Math.floor(((third + where) / thirds) * last.length)]!
            const reader: Log = {
              head: () => head,
              read: (after, limit) => log.readAll(after, limit),
              payload: (hash) => log.payload(hash),
            }
            const [full, fresh] = [await Tables.of(reader, head, directory), await Tables.of(reader, at.position, directory)]
            const own = [...(await owned(fresh)), ...(await owned(full))]
            asked += own.length
            answered += await sameAsFresh(full, fresh, at, own)
            await sameAsFresh(full, fresh, at, offered(['shop', 'office']))
            full.close()
            fresh.close()
          }),
        )
      for (let third = 0; third < thirds; third++) await fc.assert(inThird(third), { numRuns: times, seed: countOf('SEED') })
      // Enough is there at most positions to say something.
      expect(asked).toBeGreaterThan(10 * times)
      expect(answered / asked).toBeGreaterThan(0.3)
    }))
})
