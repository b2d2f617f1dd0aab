import { isProblem, notFound } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { someAtOnce } from '../basics/concurrency/some-at-once.js'
import type { Resource, Resources } from '../log/contract/log.js'
import type { AgentQuestions, AgentReply } from '../sql/contract/select.js'
import type { RunningStatement } from '../sql/contract/request.js'
import { answerOf, type AgentAnswer, type AskAgent } from './contract/answering.js'

type Parts = {
  ask: AskAgent
  resources: Resources
  /** Resources as they were at an earlier position. */
  resourcesAt: (position: number, client?: string) => Resources
}

/** An agent that gets questions, in its project. */
type AskedAgent = { agent: Resource<'agent'>; project: Resource<'project'> }

type Result = { answered: AgentAnswer } | { error: unknown }

const never = new AbortController().signal

const contextOf = ({ queries, note, position, outcome, problem }: AgentAnswer): string =>
  JSON.stringify({ outcome, position, queries, ...(note !== undefined && { note }), ...(problem && { error: problem.detail }) })

const failureOf = (result: Result): Error | undefined => {
  if (!('error' in result)) return result.answered.problem
  return result.error instanceof Error ? result.error : new Error(String(result.error))
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
    const failures = results.map(failureOf)
    const [first] = failures
    if (first && failures.every((failure) => failure !== undefined)) throw first
    return results.map((result, i) => ({
      ...{ agent: stream, question: questions[i] ?? '', ...(at !== undefined && { at }) },
      ...('error' in result
        ? {
            answer: null,
            context: JSON.stringify({ error: isProblem(result.error) ? result.error.detail : 'a fault of this service' }),
            traceId: '',
          }
        : {
            answer: result.answered.problem ? null : result.answered.content,
            context: contextOf(result.answered),
            traceId: result.answered.answer,
          }),
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
      return { answered: await answerOf(this.parts.ask(asked)) }
    } catch (error) {
      return { error }
    }
  }
}
