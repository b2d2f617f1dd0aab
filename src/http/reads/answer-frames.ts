import type { AgentAnswer, AnswerFrame } from '../../agents/contract/answering.js'
import type { Json, JsonObject } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import { errorMessage } from '../../sql/contract/answer.js'

/** The basis of an answer, beside its text: the queries and their rows, or a note. */
export const groundsOf = ({ outcome, position, queries, note, usage }: AgentAnswer) => ({
  outcome,
  position,
  sql: queries.map(({ sql }) => sql),
  data: queries,
  usage: { input_tokens: usage.input, output_tokens: usage.output },
  ...(note !== undefined && { note }),
})

/** The refusal that an answer ended with; it names the answer, which is recorded. */
export const refusalOf = ({ problem, answer, position }: AgentAnswer): Problem | undefined =>
  problem && new Problem(problem.code, problem.title, problem.detail, { ...problem.extras, trace_id: answer, position })

/**
 * Frames of an answer as server-sent events. Clients of both generations of MindsDB find their fields: the older ones `actions`,
 * `steps`, `output` and `messages`, the newer ones `type` with `text` or `content`.
 *
 * @example new AnswerEvents('How many?').of({ type: 'text', text: '42' }) // data: {"type":"data","text":"42","content":"42","trace_id":…}
 */
export class AnswerEvents {
  #answer = ''

  constructor(private readonly question: string) {}

  of(frame: AnswerFrame): string {
    switch (frame.type) {
      case 'start':
        this.#answer = frame.answer
        return this.#event({ type: 'start', prompt: this.question })
      case 'step':
        return this.#event({
          type: 'status',
          actions: [{ tool: frame.tool, tool_input: frame.input }],
          messages: [{ content: `${frame.tool}: ${frame.input}` }],
        })
      case 'result': {
        const { tool, failed, text } = frame
        const observed = this.#event({
          type: 'event',
          name: 'tool_result',
          data: { tool, failed, text },
          steps: [{ action: { tool }, observation: text }],
        })
        if (!frame.rows) return observed
        const { sql, columns, rows, cut } = frame.rows
        return this.#event({ type: 'sql', content: sql, columns: [...columns], rows: rows.map((row): Json => [...row]), cut }) + observed
      }
      case 'text':
        return this.#event({ type: 'data', text: frame.text, content: frame.text })
      case 'remark':
        return this.#event({ type: 'remark' })
    }
  }

  /** The last events of an answer that was recorded. */
  end(answered: AgentAnswer, { returnsContext }: { returnsContext: boolean }): string {
    const refusal = refusalOf(answered)
    const grounds = groundsOf(answered)
    this.#answer = answered.answer
    const context = returnsContext ? this.#event({ type: 'context', content: [...answered.retrieved] }) : ''
    const said = refusal
      ? this.#failed(refusal)
      : this.#event({
          type: 'answer',
          output: answered.content,
          messages: [{ content: answered.content }],
          ...(grounds as unknown as JsonObject),
        })
    return `${context}${said}${this.#event({ type: 'end', position: answered.position, outcome: answered.outcome })}`
  }

  /** The last events of an answer that could not be recorded. */
  failed(problem: Problem): string {
    return this.#failed(problem) + this.#event({ type: 'end' })
  }

  #failed(problem: Problem): string {
    const said = errorMessage(problem)
    return this.#event({ type: 'error', error: said, content: said, code: problem.code })
  }

  #event(frame: JsonObject): string {
    return `data: ${JSON.stringify({ ...frame, trace_id: this.#answer })}\n\n`
  }
}
