import { signal } from '@preact/signals'
import { request, silentError, type ApiError } from '../../api/request.js'
import { serverEvents } from '../../api/server-events.js'
import type { Value } from '../../api/sql.js'
import { ofStream, SilenceTimer } from '../../api/silence-timer.js'
import { asApiError } from '../../basics/loading.js'

/** The agent of a question: its current version, or the version at an earlier position. */
export type Side = { project: string; agent: string; asOf: string | undefined }

/** One call of a tool. */
export type Step = {
  tool: string
  input: string
  output: string | undefined
  hasFailed: boolean
  rows: { sql: string; columns: string[]; rows: Value[][]; isCut: boolean } | undefined
}

export type AnswerState = {
  state: 'asking' | 'answered' | 'stopped' | 'failed'
  text: string
  steps: Step[]
  answer: string | undefined
  /** The position of the event that records it. */
  position: number | undefined
  /** The version of the agent that a record names. */
  version: number | undefined
  outcome: string | undefined
  note: string | undefined
  tokens: { read: number | null; written: number | null } | undefined
  ms: number | undefined
  error: ApiError | undefined
}

export type Turn = { role: 'user' | 'assistant'; content: string }

type Frame = {
  type: string
  trace_id: string
  text?: string
  content?: string
  output?: string
  note?: string
  outcome?: string
  error?: string
  position?: number
} & Partial<{
  actions: { tool: string; tool_input: string }[]
  columns: string[]
  rows: Value[][]
  cut: boolean
  data: { tool: string; failed: boolean; text: string }
  usage: { input_tokens: number | null; output_tokens: number | null }
}>

/** An answer that has not begun. */
export const nothing: AnswerState = {
  ...{ state: 'asking', text: '', steps: [], answer: undefined, position: undefined, version: undefined },
  ...{ outcome: undefined, note: undefined, tokens: undefined, ms: undefined, error: undefined },
}

const lastStep = (steps: readonly Step[], change: Partial<Step>): Step[] =>
  steps.map((step, i) => (i === steps.length - 1 ? { ...step, ...change } : step))

/** The state after a frame. A text before a tool call is only a remark, so the answer begins again after the call; so is one before `remark`. */
const after = (said: AnswerState, frame: Frame): AnswerState => {
  const answer = frame.trace_id || said.answer
  switch (frame.type) {
    case 'status': {
      const [action] = frame.actions ?? []
      if (!action) return { ...said, answer }
      const step = { tool: action.tool, input: action.tool_input, output: undefined, hasFailed: false, rows: undefined }
      return { ...said, answer, text: '', steps: [...said.steps, step] }
    }
    case 'sql': {
      const rows = { sql: frame.content ?? '', columns: frame.columns ?? [], rows: frame.rows ?? [], isCut: frame.cut === true }
      return { ...said, answer, steps: lastStep(said.steps, { rows }) }
    }
    case 'event':
      return { ...said, answer, steps: lastStep(said.steps, { output: frame.data?.text, hasFailed: frame.data?.failed === true }) }
    case 'data':
      return { ...said, answer, text: said.text + (frame.text ?? '') }
    case 'remark':
      return { ...said, answer, text: '' }
    case 'answer': {
      const tokens = frame.usage && { read: frame.usage.input_tokens, written: frame.usage.output_tokens }
      const { position, outcome, note } = frame
      return { ...said, answer, position, state: 'answered', text: frame.output ?? said.text, outcome, note, tokens }
    }
    case 'error':
      return { ...said, answer, state: 'failed', error: asApiError(new Error(frame.error ?? 'the answer failed')) }
    case 'end':
      return { ...said, answer, position: frame.position ?? said.position }
    default:
      return { ...said, answer }
  }
}

/** One question to one agent, while it is answered. */
export class LiveAnswer {
  readonly said = signal<AnswerState>(nothing)
  readonly #aborting = new AbortController()

  constructor(readonly side: Side) {}

  /** Whether nothing of an answer came: the service refused the question, or it was not reached. */
  get isUnheard(): boolean {
    const { state, answer } = this.said.peek()
    return state === 'failed' && answer === undefined
  }

  /** Sends the question with the previous turns; resolves when the answer has ended. */
  async ask(turns: readonly Turn[]): Promise<void> {
    const { project, agent, asOf } = this.side
    const from = performance.now()
    const path = `projects/${encodeURIComponent(project)}/agents/${encodeURIComponent(agent)}/completions/stream`
    const silence = new SilenceTimer(ofStream)
    try {
      const response = await request(path, {
        method: 'POST',
        body: { messages: turns },
        at: asOf,
        signal: this.#aborting.signal,
        headers: { Accept: 'text/event-stream' },
        silence,
      })
      for await (const { data } of serverEvents(response)) {
        silence.heard()
        if (data !== '') this.said.value = after(this.said.value, JSON.parse(data) as Frame)
      }
      if (this.said.value.state === 'asking') throw new Error('The answer was cut off. Ask again.')
    } catch (error) {
      this.said.value = this.#aborting.signal.aborted
        ? { ...this.said.value, state: 'stopped' }
        : { ...this.said.value, state: 'failed', error: silence.isSilent ? silentError(false) : asApiError(error) }
    } finally {
      silence.end()
    }
    this.said.value = { ...this.said.value, ms: performance.now() - from }
  }

  /** The service records the text so far as an interrupted answer. */
  stop(): void {
    this.#aborting.abort()
  }
}
