/**
 * Room: the questions of a table asked of an agent, and the judgement of its answers. It imports only events, basics, catalogue,
 * log/contract, dialect, sql, commands, llm and agents.
 */

import { streamId, type JsonObject } from '../../../events/common.js'
import type { Agent } from '../../../events/agent.js'
import type { EvaluationJudge } from '../../../events/records/answers.js'
import { isProblem, notFound } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { withDeadline } from '../../basics/concurrency/bounded-waits.js'
import { someAtOnce } from '../../basics/concurrency/some-at-once.js'
import { StoppableWork } from '../../basics/concurrency/stoppable-work.js'
import type { Ledger } from '../../commands/ledger.js'
import type { ChatExchange, LanguageModel, TokenUsage } from '../../llm/contract/language-model.js'
import type { ErasureGuard, Log, Resource, Origin } from '../../log/contract/log.js'
import { withoutIds } from '../../log/contract/lookups.js'
import type { SqlAnswer } from '../../sql/contract/answer.js'
import type { RunningStatement } from '../../sql/contract/request.js'
import type { StatementOf } from '../../sql/statements/statement.js'
import type { EvaluationCase } from '../contract/evaluation-case.js'
import { answerOf, type AgentAnswer, type AnswerRows, type AgentRequest, type AskAgent } from '../contract/answering.js'
import { settingsOf } from '../prompt/settings.js'
import { recordEvaluation, type EvaluationFacts } from '../record/record-evaluation.js'
import type { Spending } from '../../llm/tokens/daily-token-quotas.js'
import { addUsage, noUsage } from '../../llm/tokens/token-usage.js'
import { changedAgent } from '../rerun/changed-agent.js'
import { meansOf } from '../rerun/compare.js'
import { sameLastRows } from '../rerun/same-rows.js'
import { answersTimeoutMs } from '../rerun/answers-timeout.js'
import { judge, type Judge } from './judge.js'
import { evaluationSettings, isSameText, readTestTable, type MetricName, type TestCase } from './test-table.js'

type Parts = {
  ledger: Ledger
  log: Log
  ask: AskAgent
  /** The rows of a query over the data that the agent may read. */
  rowsFor: (asked: AgentRequest, sql: string) => Promise<AnswerRows>
  modelOf: (agent: Pick<Agent, 'model_name' | 'provider' | 'params'>) => Promise<LanguageModel>
  /** Spends tokens of the agent's day for its judge. */
  spending: (agent: Resource<'agent'>) => Promise<Spending>
  select: (sql: string, running: RunningStatement) => Promise<SqlAnswer>
  /** Runs work during which no answers are erased. */
  beside: ErasureGuard
}

/** What is kept of an answer once it has its scores. Its rows may be large. */
type ScoredAnswer = Pick<AgentAnswer, 'answer' | 'position' | 'content' | 'outcome' | 'usage' | 'problem'> & { sql: string | null }

const withoutRows = ({ answer, position, content, outcome, usage, problem, queries }: AgentAnswer): ScoredAnswer => ({
  ...{ answer, position, content, outcome, usage, sql: queries.at(-1)?.sql ?? null },
  ...(problem && { problem }),
})

/**
 * One case with its scores, and what was said to the judge and by it. `notes` say why a metric has no score, and give the judge's reason.
 */
type ScoredCase = {
  test: TestCase
  answered: ScoredAnswer | undefined
  scores: Record<string, number>
  reason: string | null
  judged: ChatExchange | undefined
  notes: string[]
}

/** The judge of an evaluation, and the tokens that it used; `estimated` are those that its provider did not report. */
type MeteredJudge = Judge & Spending & { usage: TokenUsage; estimated: number }

/** A row for each case, and the position of the event. */
type EvaluationResult = { rows: JsonObject[]; position: number }

const never = new AbortController().signal

const whyOf = (error: unknown): string => {
  if (!isProblem(error)) throw error
  return error.detail
}

/**
 * Asks an agent the questions of a table, and scores the answers. Each answer is recorded with the purpose `evaluation`. The metrics:
 * `exact` compares texts, `result_set` compares the rows of the last query with those of an expected query, and `judge` asks a language
 * model. One event records the summary.
 *
 * @example await evaluations.run(parseStatement("EVALUATE AGENT helper USING test_table = 'files.questions'"), running)
 */
export class AgentEvaluations {
  readonly #evaluations = new StoppableWork()

  constructor(private readonly parts: Parts) {}

  /** A row for each case, and the position of the event. @throws Problem */
  run(statement: StatementOf<'evaluate_agent'>, running: RunningStatement): Promise<EvaluationResult> {
    return this.#evaluations.run(running.signal ?? never, (signal) => this.#run(statement, { ...running, signal }))
  }

  /** Ends the evaluations under way, and waits until they are recorded with what was answered and judged so far. */
  stop(): Promise<void> {
    return this.#evaluations.stop()
  }

  async #run(
    { target, using }: StatementOf<'evaluate_agent'>,
    running: RunningStatement & { signal: AbortSignal },
  ): Promise<EvaluationResult> {
    const { log } = this.parts
    const resources = withoutIds(log.resources)
    const settings = evaluationSettings(using)
    const ref = target.project ?? running.context.db
    const project = await resources.one('project', ref)
    if (!project) throw notFound('project', ref)
    const named = await resources.one('agent', target.name, project)
    if (!named) throw notFound('agent', target.name)
    const agent = await changedAgent({ log, resources }, named.stream, { version: settings.version })
    const { cases, metrics } = await readTestTable(settings, (sql) => this.parts.select(sql, running))
    const judging = metrics.includes('judge') ? await this.#judging(agent, settings.judge) : undefined
    const { model } = await this.parts.modelOf(agent.state)
    const asked = { project, agent, isGiven: true, purpose: 'evaluation', client: running.client } as const
    const began = performance.now()
    const eachMs = Math.max(settingsOf(agent.state).timeoutMs, limits.agentAnswerTimeoutMs)
    const timeMs = answersTimeoutMs(cases.length, judging ? 2 : 1, eachMs)
    const scored = await withDeadline(timeMs, running.signal, (signal) =>
      someAtOnce(cases, limits.agentQuestionsAtOnce, (test) =>
        this.#case(test, metrics, { ...asked, origin: running.origin, signal }, { judging, timeMs }),
      ),
    )
    // Finished answers and judgements are recorded, even if the client has left meanwhile.
    if (!scored.some(({ answered }) => answered)) running.signal.throwIfAborted()
    const { origin } = running
    const position = await this.#record(agent, scored, { model, origin, durationMs: performance.now() - began, judging })
    judging?.recorded(addUsage(judging.usage, { input: null, output: judging.estimated }))
    running.signal.throwIfAborted()
    return { rows: scored.map((one) => rowOf(one, metrics)), position }
  }

  async #judging(agent: Resource<'agent'>, params: JsonObject): Promise<MeteredJudge> {
    const model = await this.parts.modelOf({ model_name: null, provider: null, params })
    const judging: MeteredJudge = {
      ...{ model, ...(await this.parts.spending(agent)), usage: noUsage, estimated: 0 },
      onUsed: (usage, untold) => {
        judging.usage = addUsage(judging.usage, usage)
        judging.estimated += untold
      },
    }
    return judging
  }

  async #case(
    test: TestCase,
    metrics: readonly MetricName[],
    asking: Omit<AgentRequest, 'turns'>,
    { judging, timeMs }: { judging: Judge | undefined; timeMs: number },
  ): Promise<ScoredCase> {
    const scored: ScoredCase = { test, answered: undefined, scores: {}, reason: null, judged: undefined, notes: [] }
    const asked: AgentRequest = { ...asking, turns: [{ role: 'user', content: test.question }] }
    let answered: AgentAnswer
    try {
      asked.signal.throwIfAborted()
      answered = await answerOf(this.parts.ask(asked))
    } catch (error) {
      if (asked.signal.aborted) scored.notes.push(`the questions together took longer than ${timeMs} ms (rerunTimeoutMs)`)
      else scored.notes.push(whyOf(error))
      return scored
    }
    scored.answered = withoutRows(answered)
    if (answered.problem) scored.notes.push(answered.problem.detail)
    // An answer that was cut off has no scores.
    if (answered.outcome === 'aborted') return scored
    for (const metric of metrics)
      try {
        const score = await this.#score(metric, scored, { answered, asked, judging })
        if (score !== null) scored.scores[metric] = Number(score)
      } catch (error) {
        if (!asked.signal.aborted) scored.notes.push(`${metric}: ${whyOf(error)}`)
      }
    return scored
  }

  /** Null if there is nothing to compare. */
  async #score(
    metric: MetricName,
    scored: ScoredCase,
    { answered, asked, judging }: { answered: AgentAnswer; asked: AgentRequest; judging: Judge | undefined },
  ): Promise<boolean | null> {
    const { test } = scored
    if (metric === 'exact') return test.answer === null ? null : isSameText(test.answer, answered.content)
    if (metric === 'result_set') {
      if (test.sql === null) return null
      return sameLastRows([await this.parts.rowsFor(asked, test.sql)], answered.queries)
    }
    // There is nothing to judge, and the note says why.
    if (answered.problem) return false
    if (!judging) return null
    const verdict = await judge(
      judging,
      { question: test.question, expected: test.answer, answer: answered.content },
      { signal: asked.signal, onExchange: (exchange) => (scored.judged = exchange) },
    )
    scored.reason = verdict.reason
    return verdict.isGood
  }

  #record(
    { stream, version }: Resource<'agent'>,
    scored: readonly ScoredCase[],
    { model, origin, durationMs, judging }: { model: string; origin: Origin; durationMs: number; judging: MeteredJudge | undefined },
  ): Promise<number> {
    const facts: EvaluationFacts = {
      ...{ agent: stream, version, test: 'table', replayed: 'nothing', model, durationMs },
      failed: scored.filter(({ answered }) => !answered || answered.problem !== undefined).length,
      metrics: meansOf(scored.map(({ scores }) => scores)),
      usage: scored.map(({ answered }) => answered?.usage ?? noUsage).reduce(addUsage, noUsage),
      judge: judging ? usedBy(judging) : null,
      ...(judging && judging.estimated > 0 && { estimated_tokens: judging.estimated }),
    }
    const cases = scored.map((one) => caseOf(one, judging?.model.model))
    return recordEvaluation({ ...this.parts, isStopping: () => this.#evaluations.isStopping }, facts, cases, origin)
  }
}

const usedBy = ({ model: { provider, model }, usage: { input, output } }: MeteredJudge): EvaluationJudge => {
  return { provider, model, input_tokens: input, output_tokens: output }
}

const expectedOf = ({ answer, sql }: TestCase): string | null => answer ?? sql

const noteOf = ({ notes }: ScoredCase): string | null => (notes.length === 0 ? null : notes.join('; '))

const caseOf = (scored: ScoredCase, judgedBy: string | undefined): EvaluationCase => {
  const { test, answered, scores, reason, judged } = scored
  const note = noteOf(scored)
  return {
    question: test.question,
    expected: expectedOf(test),
    answer: answered?.content ?? '',
    of: null,
    gave: answered ? { answer: streamId.parse(answered.answer), position: answered.position } : null,
    scores,
    ...(reason !== null && judgedBy !== undefined && { judgement: { model: judgedBy, reason } }),
    ...(judged && { judged }),
    ...(note !== null && { note }),
  }
}

const rowOf = (scored: ScoredCase, metrics: readonly MetricName[]): JsonObject => {
  const { test, answered, scores, reason } = scored
  return {
    question: test.question,
    expected: expectedOf(test),
    answer: answered?.content ?? null,
    outcome: answered?.outcome ?? 'failed',
    ...Object.fromEntries(metrics.map((metric) => [metric, scores[metric] ?? null])),
    ...(metrics.includes('judge') && { judge_reason: reason }),
    sql: answered?.sql ?? null,
    answer_id: answered?.answer ?? null,
    note: noteOf(scored),
  }
}
