import * as z from 'zod'
import { answerOutcomes } from '../../../events/records/answers.js'
import type { AnswerFrame, AskAgent } from '../../agents/contract/answering.js'
import { fittingQueries } from '../../agents/contract/fitting-queries.js'
import { limits } from '../../basics/limits.js'
import { refusalOf } from '../../http/reads/answer-frames.js'
import type { Moment } from '../../http/reads/read-routes.js'
import { inProject } from '../../log/read/by-name.js'
import { Budget } from '../tool-parts/budget.js'
import { tool, type Tool } from '../tool-parts/tool.js'
import { project } from './arguments.js'

const turn = z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() })

const input = z.strictObject({
  agent: z.string().min(1).describe('The name of the agent'),
  project,
  question: z.string().min(1).max(limits.mcpQuestionMaxChars),
  history: z.array(turn).max(limits.mcpHistoryMaxTurns).optional().describe('The conversation before the question, oldest first'),
})

const output = z.object({
  answer_id: z.string().describe('By this id the answer is found in the log'),
  position: z.int().describe('The log position at which the answer is recorded'),
  outcome: z.enum(answerOutcomes).describe('unanswered: the agent said that it has no answer'),
  answer: z.string(),
  queries: z
    .array(
      z.object({
        sql: z.string(),
        columns: z.array(z.string()),
        rows: z.array(z.array(z.unknown())),
        cut: z.boolean().describe('Whether the query gave more rows than these'),
      }),
    )
    .describe('The queries behind the answer, in their order, with their rows'),
  note: z
    .string()
    .optional()
    .describe('That the answer or its prompt is cut off, and its basis if no query returned rows: other tools, or no data'),
  truncated: z.boolean().describe('Whether rows of queries or a part of the answer were left out, because the answer would be too long'),
  usage: z.object({ input: z.int().nullable(), output: z.int().nullable() }).describe('Tokens'),
})

/** The progress in words; nothing for parts of the answer itself. */
const stepOf = (frame: AnswerFrame): string | undefined => {
  switch (frame.type) {
    case 'start':
    case 'text':
    case 'remark':
      return undefined
    case 'step':
      return `${frame.tool}: ${frame.input}`
    case 'result':
      return `${frame.tool} ${frame.failed ? 'failed' : 'answered'}`
  }
}

/** A question to an agent. Its answer is recorded before it is returned, as over REST. */
export const askAgentTool = (ask: AskAgent, moment: Moment, defaultProject: string): Tool =>
  tool({
    name: 'ask_agent',
    title: 'Ask an agent',
    description:
      'Asks an agent of this service a question. It answers from the data that its skills name, with the SQL that it ran and the rows behind it.',
    effect: { readsOnly: true, reachesOut: true },
    input,
    output,
    async run({ agent: name, project: of = defaultProject, question, history = [] }, { origin, client, signal, tell, note }) {
      const { project, found: agent } = await inProject(moment, 'agent', of, name)
      const turns = [...history, { role: 'user' as const, content: question }]
      const frames = ask({ project, agent, turns, purpose: 'tool', origin, client, signal })
      for (;;) {
        const { done, value } = await frames.next()
        if (done !== true) {
          const step = stepOf(value)
          if (step !== undefined) tell(step)
          continue
        }
        note([value.position])
        const refusal = refusalOf(value)
        if (refusal) throw refusal
        const { answer: answer_id, position, outcome, content, note: basis, usage } = value
        const answer = content.slice(0, limits.mcpAnswerMaxBytes / 4).toWellFormed()
        const said = {
          ...{ answer_id, position, outcome, answer, usage: { input: usage.input, output: usage.output } },
          ...(basis !== undefined && { note: basis }),
        }
        const budget = new Budget()
        budget.takes(said)
        const { queries, isCut } = fittingQueries(value.queries, budget)
        return {
          ...said,
          queries: queries.map((query) => ({ ...query, columns: [...query.columns], rows: query.rows.map((row) => [...row]) })),
          truncated: isCut || answer.length < content.length,
        }
      }
    },
  })
