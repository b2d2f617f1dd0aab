import { expect, jest, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { Erasures } from '../../../src/erasure/erasures.js'
import type { ErasureResult } from '../../../src/erasure/plan/plan.js'
import type { StepBounds } from '../../../src/erasure/plan/older-steps.js'
import { keepFor } from '../../../src/erasure/retention.js'
import { Blobs } from '../../../src/files/blobs.js'
import type { NewEvent, Origin } from '../../../src/log/contract/log.js'
import { causeAt } from '../../../src/log/contract/origins.js'
import { factsOf, type Facts } from '../../support/agents/answer-maker.js'
import { origin, stream, withLog, type OpenLog } from '../../support/log/log.js'

const predictions = `${stream(5)}/predictions`

const record = async (
  { log, vault }: OpenLog,
  kept: object,
  eventOf: (payload: string) => NewEvent['event'],
  { of = predictions, by = origin }: { of?: string; by?: Origin } = {},
): Promise<number> => {
  const payload = vault.seal(Buffer.from(JSON.stringify(kept)))
  const decide = () => [{ stream: of, event: eventOf(payload.hash) }]
  return (await log.submit({ origin: by, lookups: {}, decide, payloads: [payload] })).positions[0]!
}

/** Records an answer, with its cause if it has one. */
const answer = (open: OpenLog, facts: Facts, cause?: number): Promise<number> =>
  record(open, { question: 'q', answer: 'a' }, (payload) => ({ type: 'AgentAnswered', data: { ...factsOf(stream(6), facts), payload } }), {
    of: `${stream(6)}/answers`,
    ...(cause !== undefined && { by: { ...origin, causation: causeAt(cause) } }),
  })

const facts = {
  ...{ knowledge_base: stream(7), version: 1, purpose: 'skill' as const, embedding: null, reranking: null, read_at: 1 },
  ...{ chunks: 0, outcome: 'complete' as const, error: null, duration_ms: 1 },
}

/** Records a search in a query of an answer. */
const search = (open: OpenLog, of: string): Promise<number> =>
  record(
    open,
    { question: 'q', documents: [], exchanges: [] },
    (payload) => ({ type: 'KnowledgeSearched', data: { ...facts, answer: of, payload } }),
    { of: `${stream(7)}/searches` },
  )

/** Records a prediction of one row. */
const predict = (open: OpenLog): Promise<number> =>
  record(open, [{ request: 'r', row: 0, input: {}, output: {} }], (payload) => {
    const requests = [{ request: 'r', rows: 1 }]
    return { type: 'PredictionsServed', data: { model: stream(5), version: 1, rows: 1, requests, payload, statement: null, read_at: 0 } }
  })

/** Reports the truths of predictions. */
const report = (open: OpenLog, positions: readonly number[]): Promise<number> =>
  record(
    open,
    positions.map((position) => ({ position, request: 'r', row: 0, truth: position, probability: null })),
    (payload) => {
      const places = positions.map((position) => ({ position, version: 1, request: 'r', rows: [0] }))
      return { type: 'OutcomesReported', data: { model: stream(5), rows: positions.length, predictions: places, payload } }
    },
  )

/** The rows that an event kept, as they are now; undefined when all of them are erased. */
const rowsOf = async ({ log }: OpenLog, position: number): Promise<{ truth?: number }[] | undefined> => {
  const [stored] = await log.readAll(position - 1, 1)
  const { payload } = (JSON.parse(stored!.text) as { data: { payload: string } }).data
  const bytes = await log.payload(payload)
  return bytes && (JSON.parse(bytes.toString()) as { truth?: number }[])
}

const erasuresOf = ({ ledger, log, directory }: OpenLog, stepBounds?: StepBounds) =>
  new Erasures({ ledger, log, blobs: new Blobs(`${directory}/blobs`), purge: async () => undefined, stepBounds })

/** A time between the events before and those after. */
const between = async (): Promise<Date> => {
  await sleep(5)
  const time = new Date()
  await sleep(5)
  return time
}

/** Counts how often each event is read in a slice of several; a search for a time reads single ones. */
const counting = ({ log }: OpenLog): Map<number, number> => {
  const times = new Map<number, number>()
  const readAll = log.readAll.bind(log)
  log.readAll = async (after, limit, maxChars) => {
    const events = await readAll(after, limit, maxChars)
    if (limit > 1) for (const { position } of events) times.set(position, (times.get(position) ?? 0) + 1)
    return events
  }
  return times
}

test('older rows are erased in steps, and what refers to rows goes on between two of them', () =>
  withLog(async (open) => {
    const { ledger } = open
    for (let n = 0; n < 7; n++) await predict(open)
    const erasures = erasuresOf(open, { payloads: 2, positions: 3 })
    const order: string[] = []
    const execute = ledger.execute.bind(ledger)
    const besides: Promise<unknown>[] = []
    ledger.execute = async (...asked) => {
      const outcome = await execute(...asked)
      order.push('a step')
      if (besides.length === 0) besides.push(erasures.beside(origin, async () => order.push('other work')))
      return outcome
    }
    const result = await erasures.eraseOlder('rows', await between(), origin)
    await Promise.all(besides)
    expect(result).toMatchObject({ payloads: 7, rows: 7, already_erased: 0 })
    expect(result.positions).toHaveLength(order.length - 1)
    expect(order.slice(0, 3)).toEqual(['a step', 'other work', 'a step'])
    for (let position = 1; position <= 7; position++) expect(await rowsOf(open, position)).toBeUndefined()
  }))

test('an erasure of all before a time holds no more of it at once, and tells all of it, also in a dry run', () =>
  withLog(async (open) => {
    for (let n = 0; n < 5; n++) await predict(open)
    const erasures = erasuresOf(open, { payloads: 2, positions: 100 })
    const erase = (dryRun: boolean) =>
      erasures.erase({ subject: { what: 'before', of: '2999-01-01' }, reason: null, shared: false, dryRun }, origin)
    expect(await erase(true)).toMatchObject({ payloads: 5, rows: 5, positions: [] })
    expect(await erase(false)).toMatchObject({ payloads: 5, rows: 5, positions: [6, 7, 8] })
    expect(await erase(false)).toMatchObject({ payloads: 0, rows: 0, positions: [], already_erased: 5 })
  }))

test('an erasure by age reads on where the last one ended, also after a start, and looks at later events once', () =>
  withLog(async (open) => {
    const { log } = open
    const old = [await predict(open), await predict(open), await predict(open)]
    const first = await between()
    const middle = await predict(open)
    const reported = await report(open, [old[0]!, middle])
    const second = await between()
    const young = await predict(open)
    const later = await report(open, [middle])
    const times = counting(open)
    const erasures = erasuresOf(open)
    expect(await erasures.eraseOlder('rows', first, origin)).toMatchObject({ rows: 4, positions: [8] })
    expect(await log.erasedByAge('rows')).toBe(3)
    expect((await rowsOf(open, reported))?.map(({ truth }) => truth)).toEqual([undefined, middle])
    expect(await rowsOf(open, later)).toHaveLength(1)

    const before = new Map(times)
    expect(await erasures.eraseOlder('rows', second, origin)).toMatchObject({ rows: 4, positions: [9] })
    for (const position of [middle, reported, later]) expect(await rowsOf(open, position)).toBeUndefined()
    expect(await rowsOf(open, young)).toHaveLength(1)
    for (const position of old) expect(times.get(position)).toBe(before.get(position))
    for (const position of [young, later]) expect(times.get(position)).toBe(1)

    times.clear()
    expect(await erasuresOf(open).eraseOlder('rows', second, origin)).toMatchObject({ rows: 0, positions: [] })
    expect([...times.keys()].filter((position) => position <= reported)).toEqual([])
  }))

test('a later answer that goes with an older one takes the searches of its queries along, and other searches stay', () =>
  withLog(async (open) => {
    const [old, again, other] = [uuidv7(), uuidv7(), uuidv7()]
    const first = await answer(open, { answer: old })
    const time = await between()
    const searched = [await search(open, again), await search(open, again)]
    const stays = await search(open, other)
    const rerun = await answer(open, { answer: again, purpose: 'rerun' }, first)
    await answer(open, { answer: other })
    // Each step has room for one payload.
    const erasures = erasuresOf(open, { payloads: 1, positions: 100 })
    expect(await erasures.eraseOlder('answers', time, origin)).toMatchObject({ payloads: 4, rows: 4 })
    for (const position of [first, rerun, ...searched]) expect(await rowsOf(open, position)).toBeUndefined()
    expect(await rowsOf(open, stays)).toBeDefined()
  }))

test('a look for older data is left out while one still runs', async () => {
  jest.useFakeTimers()
  try {
    const nothing: ErasureResult = {
      ...{ what: 'before', subject: '', dry_run: false, positions: [], payloads: 0, rows: 0 },
      ...{ blobs: [], kept_answers: false, already_erased: 0, shared_with: [], also_in: [] },
    }
    const ends: (() => void)[] = []
    const eraseOlder = () => new Promise<ErasureResult>((resolve) => ends.push(() => resolve(nothing)))
    const logger = { info: () => undefined, error: () => undefined }
    const stop = keepFor(86_400_000, { what: 'rows', erasures: { eraseOlder }, clock: { now: () => 86_400_000 }, logger, everyMs: 10 })
    jest.advanceTimersByTime(100)
    expect(ends).toHaveLength(1)
    ends[0]?.()
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    jest.advanceTimersByTime(10)
    expect(ends).toHaveLength(2)
    stop()
  } finally {
    jest.useRealTimers()
  }
})
