import { expect, test } from '@jest/globals'
import { fc } from '../support/random/properties.js'
import { v7 as uuidv7 } from 'uuid'
import { sha256Hex } from '../../events/stored/chain.js'
import { streamId, type Json, type JsonObject } from '../../events/common.js'
import { Replay, replay, replayLimits } from '../../projections/replay.js'
import { factsOf } from '../support/agents/answer-maker.js'
import { countOf } from '../support/counts.js'
import { MemoryLog, streamOf } from '../support/log/memory-log.js'
import { dump, rowsOf } from '../support/log/states.js'
import { memoryDatabase } from '../support/memory-database.js'

const agent = streamId.parse(streamOf(1))
const words = fc.constantFrom('', 'how many?', 'it\'s "quoted"', 'Größe 猫 \u2028', 'a\u0000b', '{"$secret":"x"}', 'x'.repeat(300))
/** Any JSON, in the place of what should be there. */
const forged: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json)
const kind = fc.constantFrom('model' as const, 'sql' as const, 'search' as const)
const outcome = fc.constantFrom('complete' as const, 'failed' as const)
const step = fc.record({ kind, outcome, rows: fc.option(fc.nat(99), { nil: null }), text: words, output: words })
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

type Doing =
  | { kind: 'answer'; question: string; answer: string; steps: Step[]; lost: number }
  | { kind: 'forge'; payload: Json | string }
  | { kind: 'judge'; of: number; verdict: 'good' | 'bad'; comment: string | null }
  | { kind: 'evaluate'; questions: string[]; miscounted: boolean }
  | { kind: 'search'; question: string; said: string | null; isTold: boolean }
  | { kind: 'erase'; which: number }
  | { kind: 'follow'; events: number }

const one = <T>(value: T) => fc.constant(value)
const doing: fc.Arbitrary<Doing> = fc.oneof(
  fc.record({ kind: one('answer' as const), question: words, answer: words, steps: fc.array(step, { maxLength: 5 }), lost: fc.nat(2) }),
  fc.record({
    kind: one('forge' as const),
    payload: fc.oneof(
      forged,
      fc.constantFrom('', '{', 'not JSON', '{"question":"a\\ud800b"}'),
      fc.record({ question: forged, answer: forged, exchanges: forged, tools: forged }),
      fc.record({ exchanges: fc.array(forged), tools: fc.array(fc.record({ call: forged, output: forged, sql: forged })) }),
    ),
  }),
  fc.record({
    kind: one('judge' as const),
    of: fc.nat(9),
    verdict: fc.constantFrom('good' as const, 'bad' as const),
    comment: fc.option(words, { nil: null }),
  }),
  fc.record({ kind: one('evaluate' as const), questions: fc.array(words, { maxLength: 3 }), miscounted: fc.boolean() }),
  fc.record({ kind: one('search' as const), question: words, said: fc.option(words, { nil: null }), isTold: fc.boolean() }),
  fc.record({ kind: one('erase' as const), which: fc.nat(19) }),
  fc.record({ kind: one('follow' as const), events: fc.integer({ min: 1, max: 4 }) }),
)

type Told = { position: number; hash: string | null; rows: (isReadable: boolean) => Record<string, JsonObject[]> }

const openAi = { provider: 'openai', model: 'small', host: 'api.openai.com' }

/** A log of answers and of what was said of them, some erased; and what every row should show at the end. */
class History {
  readonly log = new MemoryLog()
  readonly #told: Told[] = []
  #payloads = 0

  #seal(value: Json | string, isText = false): string {
    const hash = sha256Hex(Buffer.from(`payload ${this.#payloads++}`))
    this.log.payloads.set(hash, Buffer.from(isText && typeof value === 'string' ? value : JSON.stringify(value)))
    return hash
  }

  #append(type: string, data: object): number {
    return this.log.append({ stream: `${agent}/answers`, type, data: data as JsonObject })
  }

  #facts(steps: readonly Step[]) {
    const taken = steps.map(({ kind, outcome, rows }) => ({
      kind,
      name: kind,
      outcome,
      duration_ms: 1.5,
      rows,
      input_tokens: 3,
      output_tokens: null,
      ...(kind === 'search' && { models: [{ role: 'embedding' as const, ...openAi, input_tokens: 3, output_tokens: null }] }),
    }))
    return factsOf(agent, { answer: uuidv7(), steps: taken })
  }

  /** `lost`: how many exchanges and uses of tools at the end are not in the payload. */
  answer({ question, answer, steps, lost }: Extract<Doing, { kind: 'answer' }>): void {
    const isModel = ({ kind }: Step) => kind === 'model'
    const [models, others] = [steps.filter(isModel), steps.filter((step) => !isModel(step))]
    const kept = <T>(list: T[]) => list.slice(0, Math.max(0, list.length - lost))
    const exchanges = kept(models).map(({ text, output }) => ({
      new: [{ role: 'user', content: text }],
      response: { text: output, toolCalls: [] },
    }))
    const tools = kept(others).map(({ kind, text, output }) => ({ call: { input: text }, output, ...(kind === 'sql' && { sql: text }) }))
    const hash = this.#seal({ question, answer, exchanges, tools })
    const position = this.#append('AgentAnswered', { ...this.#facts(steps), payload: hash })
    const said = steps.map((step) => {
      const [model, tool] = [exchanges[models.indexOf(step)], tools[others.indexOf(step)]]
      if (isModel(step)) return { input: model ? JSON.stringify(model.new) : null, output: model?.response.text ?? null, sql: null }
      return { input: tool?.call.input ?? null, output: tool?.output ?? null, sql: tool?.sql ?? null }
    })
    const ran = steps.map((step, i) => ({ ...step, ...said[i]! })).filter(({ kind, outcome }) => kind === 'sql' && outcome === 'complete')
    const rows = ran.findLast((step) => step.rows !== null)?.rows ?? null
    // The steps with models tell the tokens of the language model apart.
    const ofModels = models.length > 0 ? 3 * models.length : null
    const input_tokens = steps.some(({ kind }) => kind === 'search') ? ofModels : 200
    this.#told.push({
      position,
      hash,
      rows: (readable) => ({
        answers: [
          readable
            ? {
                position,
                input_tokens,
                question,
                content: answer,
                sql: ran.findLast(({ sql }) => sql !== null)?.sql ?? null,
                rows,
                steps: steps.length,
                readable,
              }
            : { position, input_tokens, question: null, content: null, sql: null, rows, steps: steps.length, readable },
        ],
        answer_steps: said.map((words, i) => ({
          position,
          step: i + 1,
          ...(readable ? words : { input: null, output: null, sql: null }),
          readable,
        })),
      }),
    })
  }

  /** Whatever stands in the payload, the event is told, and nothing stops the tables. */
  forge(payload: Json | string): void {
    const position = this.#append('AgentAnswered', { ...this.#facts([]), payload: this.#seal(payload, typeof payload === 'string') })
    this.#told.push({ position, hash: null, rows: () => ({ forged: [{ position }] }) })
  }

  judge({ of, verdict, comment }: Extract<Doing, { kind: 'judge' }>): void {
    const hash = comment === null ? null : this.#seal({ comment })
    const position = this.#append('AnswerJudged', { agent, answer: uuidv7(), answered_at: of + 1, verdict, payload: hash })
    this.#told.push({
      position,
      hash,
      rows: (readable) => ({
        answer_judgements: [{ position, answered_at: of + 1, verdict, comment: readable ? comment : null, readable }],
      }),
    })
  }

  evaluate({ questions, miscounted }: Extract<Doing, { kind: 'evaluate' }>): void {
    const hash = this.#seal(
      questions.map((question) => ({ question, expected: null, answer: 'a', of: null, gave: null, scores: { s: 1 } })),
    )
    const cases = questions.length + (miscounted ? 1 : 0)
    const data = {
      agent,
      version: 1,
      test: 'table',
      replayed: 'nothing',
      model: 'm',
      cases,
      failed: 0,
      metrics: [],
      input_tokens: 1,
      output_tokens: 2,
      judge: null,
    }
    const position = this.#append('AgentEvaluated', { ...data, duration_ms: 3, payload: hash })
    this.#told.push({
      position,
      hash,
      rows: (isThere) => {
        const readable = isThere && !miscounted
        const shown = questions.map((question, i) => ({ position, n: i + 1, question, scores: { s: 1 } }))
        return { evaluations: [{ position, cases, readable }], evaluation_cases: readable ? shown : [] }
      },
    })
  }

  /** A search that is not told has no payload, like those of earlier releases. */
  search({ question, said, isTold }: Extract<Doing, { kind: 'search' }>): void {
    const asked = { ...openAi, input_tokens: 3, output_tokens: null, duration_ms: 1.5 }
    const exchanges = said === null ? [] : [{ new: [{ role: 'user', content: question }], response: { text: said, toolCalls: [] } }]
    const hash = isTold ? this.#seal({ question, documents: [], exchanges }) : null
    const facts = { knowledge_base: agent, version: 1, purpose: 'search', read_at: 1, chunks: 0, outcome: 'complete', error: null }
    const models = { embedding: asked, reranking: said === null ? null : asked }
    const position = this.#append('KnowledgeSearched', { ...facts, ...models, duration_ms: 3, ...(hash !== null && { payload: hash }) })
    this.#told.push({
      position,
      hash,
      rows: (isThere) => {
        const shown = isThere && isTold ? { question, exchanges: JSON.stringify(exchanges) } : { question: null, exchanges: null }
        return { knowledge_searches: [{ position, embedding_model: 'small', ...shown, readable: isThere }] }
      },
    })
  }

  erase(which: number): void {
    const { hash } = this.#told[which % Math.max(1, this.#told.length)] ?? { hash: null }
    if (hash === null || !this.log.payloads.delete(hash)) return
    const data = { what: 'answer', subject: 'x', reason: null, payloads: [{ hash, replacement: null }], blobs: [] }
    this.log.append({ stream: 'log', type: 'DataErased', data })
  }

  /** The rows of a table in the order of their positions. */
  expected(table: string): JsonObject[] {
    return this.#told.flatMap(({ hash, rows }) => rows(hash === null || this.log.payloads.has(hash))[table] ?? [])
  }
}

const shown: Record<string, string> = {
  answers: `SELECT position, input_tokens, question, content, sql, rows, steps, readable FROM ledger.answers WHERE position NOT IN (SELECT unnest([-1, $forged])) ORDER BY position`,
  answer_steps: 'SELECT position, step, input, output, sql, readable FROM ledger.answer_steps ORDER BY position, step',
  answer_judgements: 'SELECT position, answered_at, verdict, comment, readable FROM ledger.answer_judgements ORDER BY position',
  evaluations: 'SELECT position, cases, readable FROM ledger.evaluations ORDER BY position',
  evaluation_cases: 'SELECT position, n, question, scores FROM ledger.evaluation_cases ORDER BY position, n',
  knowledge_searches: 'SELECT position, embedding_model, question, exchanges, readable FROM ledger.knowledge_searches ORDER BY position',
}

test('tables of answers that followed erasures are those of a replay afterwards, and those that a fold of the events says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(doing, { minLength: 1, maxLength: 40, size: 'max' }), async (all) => {
      const history = new History()
      const [followed, afterwards] = [await memoryDatabase(), await memoryDatabase()]
      const tables = await Replay.open(
        { events: history.log, payloads: history.log, database: followed },
        { ...replayLimits, batchMaxEvents: 3 },
      )
      for (const of of all) {
        if (of.kind === 'answer') history.answer(of)
        else if (of.kind === 'forge') history.forge(of.payload)
        else if (of.kind === 'judge') history.judge(of)
        else if (of.kind === 'evaluate') history.evaluate(of)
        else if (of.kind === 'search') history.search(of)
        else if (of.kind === 'erase') history.erase(of.which)
        else await tables.catchUp(tables.position + of.events)
      }
      await tables.catchUp()
      tables.close()
      await replay({ events: history.log, payloads: history.log, database: afterwards })
      const { checkpoint: _, ...replayed } = await dump(afterwards)
      expect(await dump(followed)).toMatchObject(replayed)
      const connection = await followed.connect()
      const forgedAt = history.expected('forged').map(({ position }) => Number(position))
      for (const [table, query] of Object.entries(shown)) {
        const told = await rowsOf(connection, query.replace('$forged', forgedAt.join(', ') || '-1'))
        expect({ table, told }).toEqual({ table, told: history.expected(table) })
      }
      expect(await rowsOf(connection, 'SELECT count(*) AS n FROM ledger.answers')).toEqual([
        { n: history.expected('answers').length + forgedAt.length },
      ])
      connection.closeSync()
      followed.closeSync()
      afterwards.closeSync()
    }),
    { numRuns: 12 * countOf('PROPERTY_TIMES') },
  )
})
