/** Room: reruns of recorded answers. It imports only events, basics, catalogue, log/contract, log/read, commands, llm and agents. */

import { streamId, type StreamId } from '../../../events/common.js'
import type { AgentAnswered, AgentEvaluated } from '../../../events/records/answers.js'
import { isProblem, notFound, Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import { withDeadline } from '../../basics/concurrency/bounded-waits.js'
import { someAtOnce } from '../../basics/concurrency/some-at-once.js'
import type { Ledger } from '../../commands/ledger.js'
import { causeAt } from '../../log/contract/origins.js'
import type { ErasureGuard, Log, Origin, Resources } from '../../log/contract/log.js'
import type { AnswerRecord } from '../contract/answer-record.js'
import type { EvaluationCase } from '../contract/evaluation-case.js'
import { answerOf, queriesOf, type AgentAnswer, type AskAgent } from '../contract/answering.js'
import type { AnswerRecords, RecordedAnswer } from '../record/answer-records.js'
import { recordEvaluation, type EvaluationFacts } from '../record/record-evaluation.js'
import { addUsage, noUsage } from '../../llm/tokens/token-usage.js'
import { changedAgent, type AgentChange } from './changed-agent.js'
import { compare, meansOf, scoresOf, type AnswerSide, type Comparison, type FailedRerun } from './compare.js'
import { replay } from './recorded-run.js'
import { answersTimeoutMs } from './answers-timeout.js'

/** The replayed part: all outputs of the language model and the tools, only those of the tools, or nothing. */
export type ReplayScope = AgentEvaluated['replayed']

/**
 * The options of a rerun. `asOf` is the log position at which agent and data are read; `then` stands for the position of each recorded
 * answer.
 */
export type RerunRequest = AgentChange & {
  agent: StreamId
  answers: readonly string[]
  replay?: ReplayScope | undefined
  /** With replayed tools: whether a new input of a tool runs now. */
  runsOthers?: boolean | undefined
  asOf?: number | 'then' | undefined
  origin: Origin
  client: string
  signal: AbortSignal
}

/** The result. `evaluation` is the position of the event with the summary; null if nothing was recorded. */
export type Rerun = {
  replayed: ReplayScope
  evaluation: number | null
  metrics: { name: string; value: number }[]
  cases: (Comparison | FailedRerun)[]
}

type Parts = {
  ledger: Ledger
  log: Log
  records: AnswerRecords
  ask: AskAgent
  resourcesAt: (position: number, client?: string) => Resources
  /** Runs work during which no answers are erased. */
  beside: ErasureGuard
}

type CountedTokens = Pick<AgentAnswered, 'input_tokens' | 'output_tokens'>

/** The tokens of an answer that its rerun uses again: a rerun that replays tools does not ask the models of their searches. */
const comparableTokens = ({ steps, input_tokens, output_tokens }: RecordedAnswer, replaying: ReplayScope): CountedTokens => {
  if (replaying !== 'tools' || !steps.some(({ models }) => models)) return { input_tokens, output_tokens }
  const asked = steps.filter(({ kind }) => kind === 'model').map(({ input_tokens: input, output_tokens: output }) => ({ input, output }))
  const { input, output } = asked.reduce(addUsage, noUsage)
  return { input_tokens: input, output_tokens: output }
}

const sideOf = (event: RecordedAnswer, record: AnswerRecord, replaying: ReplayScope): AnswerSide => {
  const { outcome, error, version, model, host, duration_ms } = event
  return {
    text: record.answer,
    queries: queriesOf(record),
    ...{ outcome, error, version, model, host, duration_ms },
    ...comparableTokens(event, replaying),
  }
}

/** The common fields of a new answer and a replayed one. */
const contentsOf = ({ content, outcome, queries, usage }: Pick<AgentAnswer, 'content' | 'outcome' | 'queries' | 'usage'>) => ({
  ...{ text: content, outcome, queries },
  ...{ input_tokens: usage.input, output_tokens: usage.output },
})

const placeOf = ({ answer, position }: Pick<AgentAnswer, 'answer' | 'position'>) => ({ answer: streamId.parse(answer), position })

const isComparison = (one: Comparison | FailedRerun): one is Comparison => one.result !== 'failed'

const caseOf = (one: Comparison | FailedRerun): EvaluationCase =>
  isComparison(one)
    ? { question: one.question, expected: one.before.text, answer: one.after.text, of: one.of, gave: one.gave, scores: scoresOf(one) }
    : { question: '', expected: null, answer: '', of: one.of, gave: null, scores: {} }

/** The default: everything is replayed if nothing is changed, else only the outputs of tools. */
const replayingOf = ({ replay: wanted, version, model, provider, prompt, asOf, runsOthers }: RerunRequest): ReplayScope => {
  const isChanged = [version, model, provider, prompt, asOf].some((change) => change !== undefined)
  const replaying = wanted ?? (isChanged ? 'tools' : 'exchanges')
  if (replaying === 'exchanges' && isChanged)
    throw wrong('a replay of all recorded exchanges cannot change the model, the prompt or the agent', 'Replay tools, or nothing.')
  if (runsOthers === true && replaying !== 'tools')
    throw wrong('other inputs of tools can only run beside replayed tools', 'Replay tools, or leave it out.')
  return replaying
}

/**
 * Asks the questions of recorded answers again. It can replay all recorded outputs (the answer must then be the same), replay only the
 * outputs of tools, or run live. It can use another version of the agent, another model, another prompt, or another position of the log. A
 * new answer of a language model is recorded with the purpose `rerun`, and an event records the summary of the differences. An erasure waits
 * only for the answers that are being asked again at that moment, not for all.
 *
 * @example await reruns.run({ agent, answers: [id], model: 'gpt-4o-mini', origin, client, signal })
 */
export class Reruns {
  constructor(private readonly parts: Parts) {}

  /** @throws Problem not_found, erased for a single answer; with several answers, the case of each has its error */
  async run(asked: RerunRequest): Promise<Rerun> {
    const { answers, agent, client } = asked
    if (answers.length > limits.rerunAnswersMax)
      throw wrong(`at most ${limits.rerunAnswersMax} answers are asked again at once (rerunAnswersMax)`, 'Narrow the query, or send parts.')
    if (answers.length === 0) throw wrong('there is no answer to ask again', 'Name answers by id or position; log.answers lists them.')
    const replaying = replayingOf(asked)
    const began = performance.now()
    const found = await someAtOnce([...new Set(answers)], limits.agentQuestionsAtOnce, (ref) =>
      this.parts.records.one(ref, { agent, client }),
    )
    const events = [...new Map(found.map((event) => [event.position, event])).values()]
    const [only] = events
    // Each answer may be asked of another version of the agent, with another timeout.
    const timeMs = answersTimeoutMs(events.length, 1, limits.agentAnswerMaxTimeoutMs)
    const cases = await withDeadline<Rerun['cases']>(timeMs, asked.signal, async (signal) =>
      only && events.length === 1
        ? [await this.#again(only, replaying, { ...asked, signal })]
        : someAtOnce(events, limits.agentQuestionsAtOnce, (event) => this.#tried(event, replaying, { ...asked, signal }, timeMs)),
    )
    const compared = cases.filter(isComparison)
    const metrics = meansOf(compared.map(scoresOf))
    const isRecorded = compared.length > 0 && (replaying !== 'exchanges' || events.length > 1)
    const summary = { replaying, metrics, durationMs: performance.now() - began }
    // Finished comparisons are recorded, even if the client has left meanwhile.
    const evaluation = isRecorded ? await this.#record(asked, cases, summary) : null
    asked.signal.throwIfAborted()
    return { replayed: replaying, evaluation, metrics, cases }
  }

  /** One of several answers: a refusal becomes its result. */
  async #tried(event: RecordedAnswer, replaying: ReplayScope, request: RerunRequest, timeMs: number): Promise<Comparison | FailedRerun> {
    try {
      return await this.#again(event, replaying, request)
    } catch (error) {
      const isLate = request.signal.aborted && error === request.signal.reason
      if (!isProblem(error) && !isLate) throw error
      const { code, detail } = isProblem(error)
        ? error
        : { code: 'answer_timeout', detail: `the answers together took longer than ${timeMs} ms (rerunTimeoutMs)` }
      return { of: placeOf(event), result: 'failed', code, detail }
    }
  }

  /** No erasure runs meanwhile. So an erasure finds an answer together with its rerun, whose cause it is. */
  #again(event: RecordedAnswer, replaying: ReplayScope, request: RerunRequest): Promise<Comparison> {
    return this.parts.beside(request.origin, (origin) => this.#compared(event, replaying, { ...request, origin }))
  }

  async #compared(event: RecordedAnswer, replaying: ReplayScope, request: RerunRequest): Promise<Comparison> {
    // A record may be as large as an answer, and a replay waits for nothing else.
    const work = new LongWork({ goesOn: true })
    await work.pause()
    request.signal.throwIfAborted()
    const record = await this.parts.records.open(event)
    await work.pause()
    const before = sideOf(event, record, replaying)
    const { question, history_erased } = record
    const places = { of: placeOf(event), question, ...(history_erased && { history_erased }) }
    if (replaying !== 'exchanges') {
      const { version, answered } = await this.#ask(event, record, replaying, request)
      const { model, host, problem, durationMs } = answered
      const after = { ...contentsOf(answered), error: problem?.detail ?? null, version, model, host, duration_ms: durationMs }
      return compare({ ...places, gave: placeOf(answered) }, { before, after })
    }
    const { finished, isSame } = await replay(event, record)
    await work.pause()
    const { problem, durationMs } = finished
    // A record has only the title of a problem.
    const after = { ...before, ...contentsOf(finished), error: problem?.title ?? null, duration_ms: Math.round(durationMs * 10) / 10 }
    return compare({ ...places, gave: null }, { before, after, isSame })
  }

  /** Asks the agent, changed as the request says. */
  async #ask(event: RecordedAnswer, record: AnswerRecord, replaying: ReplayScope, request: RerunRequest) {
    const { log } = this.parts
    const { runsOthers = false, origin, client, signal } = request
    const asOf = request.asOf === 'then' ? event.read_at : request.asOf
    const { position: head } = await log.head()
    if (asOf !== undefined && (asOf < 1 || asOf > head))
      throw new Problem('wrong_arguments', 'No such position', `as_of ${asOf} is no position of the log`, {
        hint: `The log has the positions 1 to ${head}.`,
      })
    const resources = asOf === undefined ? log.resources : this.parts.resourcesAt(asOf, client)
    const agent = await changedAgent({ log, resources, position: asOf }, request.agent, request)
    const project = await resources.byStream('project', agent.state.project)
    if (!project) throw notFound('project', agent.state.project, asOf)
    const began = performance.now()
    const answered = await answerOf(
      this.parts.ask({
        ...{ project, agent, isGiven: true, purpose: 'rerun', client, signal },
        // After a crash before the evaluation event, this answer has no evaluation: its cause then leads to the recorded answer.
        origin: { ...origin, causation: causeAt(event.position) },
        turns: [...record.history, { role: 'user', content: record.question }],
        ...(asOf !== undefined && { asOf }),
        ...(replaying === 'tools' && { replay: { tools: record.tools, runsOthers } }),
      }),
    )
    const durationMs = Math.round((performance.now() - began) * 10) / 10
    return { version: agent.version, answered: { ...answered, durationMs } }
  }

  #record(
    { agent, origin }: RerunRequest,
    cases: readonly (Comparison | FailedRerun)[],
    { replaying, metrics, durationMs }: { replaying: ReplayScope; metrics: Rerun['metrics']; durationMs: number },
  ): Promise<number> {
    const sides = cases.filter(isComparison).map(({ after }) => after)
    const facts: EvaluationFacts = {
      agent,
      version: sides[0]?.version ?? 1,
      test: 'rerun',
      replayed: replaying,
      model: sides[0]?.model ?? '',
      failed: cases.filter((one) => !isComparison(one) || one.after.outcome === 'failed' || one.after.outcome === 'aborted').length,
      metrics,
      judge: null,
      usage: sides.map(({ input_tokens: input, output_tokens: output }) => ({ input, output })).reduce(addUsage, noUsage),
      durationMs,
    }
    return recordEvaluation(this.parts, facts, cases.map(caseOf), origin)
  }
}
