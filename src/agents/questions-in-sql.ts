import { isProblem, notFound } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { ByteBudget } from '../basics/limits/byte-budget.js'
import { someAtOnce } from '../basics/concurrency/some-at-once.js'
import type { Resource, Resources } from '../log/contract/log.js'
import type { AgentQuestions, AgentReply } from '../sql/contract/select.js'
import type { RunningStatement } from '../sql/contract/request.js'
import { answerOf, type AgentAnswer, type AskAgent } from './contract/answering.js'
import { fittingQueries } from './contract/fitting-queries.js'

type Parts = {
  ask: AskAgent
  resources: Resources
  /** Resources as they were at an earlier position. */
  resourcesAt: (position: number, client?: string) => Resources
}

/** An agent that gets questions, in its project. */
type AskedAgent = { agent: Resource<'agent'>; project: Resource<'project'> }

/** The reply to one question without the parts that all replies share; `failure` says why it has no answer. */
type Result = Pick<AgentReply, 'answer' | 'context' | 'traceId'> & { failure?: Error }

const never = new AbortController().signal

/** What an answer rests on, as JSON, with the rows that fit. The record has all rows. */
const contextOf = ({ queries: all, note, position, outcome, problem }: AgentAnswer): string => {
  const { queries } = fittingQueries(all, new ByteBudget(limits.replyQueriesMaxBytes))
  return JSON.stringify({ outcome, position, queries, ...(note !== undefined && { note }), ...(problem && { error: problem.detail }) })
}

/** The reply with an answer. The rows behind an answer may be large, so no more of them is kept than the reply has. */
const answered = (answer: AgentAnswer): Result => {
  const { problem: failure, content, answer: traceId } = answer
  return { answer: failure ? null : content, context: contextOf(answer), traceId, ...(failure && { failure }) }
}

const failed = (error: unknown): Result => {
  const context = JSON.stringify({ error: isProblem(error) ? error.detail : 'a fault of this service' })
  return { answer: null, context, traceId: '', failure: error instanceof Error ? error : new Error(String(error)) }
}

/**
 * Asks agents the questions of an SQL statement. Each answer is recorded separately. If some of several questions fail, they have no
 * answer, and their context says why.
 *
 * @example await new QuestionsInSql(parts).answer({ agent, label: 'shop.helper', questions: ['How many cars?'] }, statement)
 */
export class QuestionsInSql {
  constructor(private readonly parts: Parts) {}

  /** @throws Problem of the first question, when none has an answer */
  async answer({ agent: stream, label, at, questions }: AgentQuestions, statement: RunningStatement): Promise<AgentReply[]> {
    const agent = await this.#askedAgent(stream, at, statement)
    if (!agent) throw notFound('agent', label, at)
    const results = await someAtOnce(questions, limits.agentQuestionsAtOnce, (question) => this.#ask(agent, question, at, statement))
    statement.signal?.throwIfAborted()
    const [first] = results
    if (first?.failure && results.every(({ failure }) => failure !== undefined)) throw first.failure
    return results.map(({ answer, context, traceId }, i) => ({
      ...{ agent: stream, question: questions[i] ?? '', answer, context, traceId },
      ...(at !== undefined && { at }),
    }))
  }

  async #askedAgent(
    stream: AgentQuestions['agent'],
    at: number | undefined,
    { client }: RunningStatement,
  ): Promise<AskedAgent | undefined> {
    const resources = at === undefined ? this.parts.resources : this.parts.resourcesAt(at, client)
    const agent = await resources.byStream('agent', stream)
    const project = agent && (await resources.byStream('project', agent.state.project))
    return agent && project && { agent, project }
  }

  async #ask(
    agent: AskedAgent,
    question: string,
    at: number | undefined,
    { origin, client, signal = never }: RunningStatement,
  ): Promise<Result> {
    try {
      const turns = [{ role: 'user', content: question }] as const
      const asked = { ...agent, turns, purpose: 'sql', origin, client, signal, ...(at !== undefined && { asOf: at }) } as const
      return answered(await answerOf(this.parts.ask(asked)))
    } catch (error) {
      return failed(error)
    }
  }
}
