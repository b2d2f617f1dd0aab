/** Room: one answer, from the question to its record. It imports only events, basics, log/contract, log/read, commands, llm and agents. */

import type { AnswerOutcome, AnswerStep } from '../../../events/records/answers.js'
import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { ChatExchange, ChatMessage, ChatRequest, LanguageModel, TokenUsage, ToolCall } from '../../llm/contract/language-model.js'
import type { AnswerBounds, ToolUse } from '../contract/answer-record.js'
import type { AnswerFrame, AnswerRows } from '../contract/answering.js'
import { replyOf } from '../../llm/contract/messages.js'
import { promptLimit, promptTooLong, saysNoAnswer } from '../prompt/prompt.js'
import { charsIn, charsOf, tokensOf } from '../../llm/tokens/estimates.js'
import { exchange, type ExchangeResult } from '../../llm/ask-model.js'
import { leastOutput, outputLimit, usualOutput } from './output-limit.js'
import type { ReservedTokens, ReserveTokens } from '../../llm/tokens/daily-token-quotas.js'
import type { ToolExecutor } from './tool-executor.js'
import { addUsage, noUsage, tokensUsed } from '../../llm/tokens/token-usage.js'
import { tokensOfExchange, usageOf } from '../../llm/exchange-usage.js'

/** The result of an answer, with all texts and steps on the way. */
export type FinishedRun = {
  content: string
  outcome: AnswerOutcome
  problem: Problem | undefined
  exchanges: readonly ChatExchange[]
  tools: readonly ToolUse[]
  steps: readonly AnswerStep[]
  queries: readonly AnswerRows[]
  usage: TokenUsage
  /** Tokens that the provider did not report, by estimate. */
  estimatedTokens: number
  firstTextMs: number | null
  durationMs: number
  /** The fault of this service that ended it. */
  fault?: unknown
}

/** Why an answer is given up before its end: there is no fault, but nobody waits for it any more. */
export class CancelledError extends Error {}

/** How an answer ended. */
type Ending = Pick<FinishedRun, 'outcome' | 'problem' | 'fault'>

const broken = (): Problem => new Problem('internal', 'Internal error', 'a fault of this service; its log says more')

/** How an answer ends after an error: given up, or failed. After a fault of this service it is recorded as well: words may have been said. */
export const endingOf = (error: unknown, signal: AbortSignal): Ending => {
  const reason: unknown = signal.aborted ? signal.reason : error
  if (reason instanceof CancelledError) return { outcome: 'aborted', problem: new Problem('busy', reason.message, reason.message) }
  return isProblem(reason) ? { outcome: 'failed', problem: reason } : { outcome: 'failed', problem: broken(), fault: reason }
}

/** An answer that ended before its language model was asked. `began`: when the question came, as `performance.now()` tells it. */
export const unasked = (ending: Ending, began: number): FinishedRun => ({
  ...{ content: '', exchanges: [], tools: [], steps: [], queries: [], usage: noUsage, estimatedTokens: 0, firstTextMs: null },
  ...ending,
  durationMs: performance.now() - began,
})

type RunParts = {
  model: LanguageModel
  messages: readonly ChatMessage[]
  request: Omit<ChatRequest, 'messages' | 'tools' | 'toolChoice'>
  bounds: AnswerBounds
  executor: ToolExecutor
  reserve: ReserveTokens
  emit: (frame: AnswerFrame) => void
  signal: AbortSignal
  /** When the question came, as `performance.now()` tells it; else now. */
  began?: number
  /** Whether the agent was granted data, and nothing of them was there or could be read when its prompt was made. */
  isGone?: boolean
}

const nothingSaid = 'No answer: the language model said nothing.'
const restsOnNothing = 'No query and no search for this answer succeeded: it rests on no data.'
const dataAreGone = 'Nothing of the data that this agent may use is there now: this answer rests on no data.'
const answerNow = 'Answer now with what you have. Use no more tools.'
const notRun = 'It was not run: the prompt has no room for its result.'

const limit = (title: string, detail: string): Problem =>
  new Problem('answer_limit', title, detail, { hint: 'Ask for less at once, or let the agent use fewer tables and tools.' })

/** The name of the limit behind a bound: that of the service, or the setting of the agent. */
const limitNamed = (bound: number, ofService: 'agentStepsMax' | 'agentAnswerMaxTokens', setting: string): string =>
  bound < limits[ofService] ? setting : ofService

const tooManyTokens = ({ answerTokens }: AnswerBounds): Problem =>
  limit(
    'Too many tokens',
    `the answer needs more than ${answerTokens} tokens (${limitNamed(answerTokens, 'agentAnswerMaxTokens', 'max_answer_tokens')})`,
  )

/** One answer: a conversation between a language model and its tools, until the model has finished, or a limit ends it. */
export class AnswerRun {
  readonly #messages: ChatMessage[] = []
  /** The characters of these messages, counted once instead of for each exchange. */
  #chars = 0
  readonly #exchanges: ChatExchange[] = []
  readonly #tools: ToolUse[] = []
  readonly #steps: AnswerStep[] = []
  readonly #queries: AnswerRows[] = []
  readonly #began: number
  #usage: TokenUsage = noUsage
  /** The tokens that were used; an estimate if the provider does not report them. */
  #counted = 0
  #estimated = 0
  #firstTextMs: number | null = null
  #text = ''

  constructor(private readonly parts: RunParts) {
    this.#began = parts.began ?? performance.now()
  }

  /** Runs the answer to its end, which may be a failure, also by a fault of this service. */
  async finish(): Promise<FinishedRun> {
    const { signal, executor, isGone = false } = this.parts
    try {
      await this.#converse()
    } catch (error) {
      return this.#ended(endingOf(error, signal))
    }
    const { tried, given } = executor.data
    if (this.#text.trim() === '') this.#say(nothingSaid)
    else if (tried > 0 && given === 0) this.#say(`\n\n${restsOnNothing}`)
    else if (!saysNoAnswer(this.#text)) {
      // Its database may have come back since.
      if (!isGone || given > 0) return this.#ended({ outcome: 'answered', problem: undefined })
      this.#say(`\n\n${dataAreGone}`)
    }
    return this.#ended({ outcome: 'unanswered', problem: undefined })
  }

  #ended(ending: Ending): FinishedRun {
    return {
      ...ending,
      content: this.#text.trim(),
      exchanges: this.#exchanges,
      tools: this.#tools,
      steps: this.#steps,
      queries: this.#queries,
      usage: this.#usage,
      estimatedTokens: this.#estimated,
      firstTextMs: this.#firstTextMs,
      durationMs: performance.now() - this.#began,
    }
  }

  #say(text: string): void {
    this.#text += text
    this.parts.emit({ type: 'text', text })
  }

  async #converse(): Promise<void> {
    const { signal, bounds } = this.parts
    let fresh: ChatMessage[] = [...this.parts.messages]
    let isFull = false
    for (let step = 1; step <= bounds.steps; step++) {
      signal.throwIfAborted()
      isFull ||= step > 1 && !this.#hasRoom(fresh, 1)
      const isLast = isFull || step === bounds.steps
      if (isLast) fresh.push({ role: 'user', content: answerNow })
      const response = await this.#ask(fresh, isLast ? 'none' : 'auto')
      const { toolCalls } = response
      if (toolCalls.length === 0) return
      if (isFull)
        throw limit(
          'The prompt is full',
          `the language model still wanted tools, and no further result fits into ${bounds.promptTokens} tokens (${promptLimit(bounds)})`,
        )
      if (isLast) break
      fresh = []
      const reply = replyOf(response)
      isFull = !this.#hasRoom([reply], toolCalls.length)
      if (isFull) {
        // The language model is asked again without this reply, so that even a long reply leaves room for an answer.
        this.#leaveOut(toolCalls)
        continue
      }
      this.#add(reply)
      for (const [i, call] of toolCalls.entries())
        fresh.push(await this.#use(call, Math.floor(this.#roomBeside(fresh) / (toolCalls.length - i))))
    }
    throw limit(
      'Too many steps',
      `the language model still wanted tools after ${bounds.steps} steps (${limitNamed(bounds.steps, 'agentStepsMax', 'max_steps')})`,
    )
  }

  /** The characters that the prompt has left for results, beside messages that are not sent yet. */
  #roomBeside(fresh: readonly ChatMessage[]): number {
    const { bounds, executor } = this.parts
    const used = fresh.reduce((sum, message) => sum + charsOf(message), this.#chars + executor.descriptionChars)
    return charsIn(bounds.promptTokens) - used - answerNow.length
  }

  /** Whether some results of tools have room beside messages that are not sent yet. */
  #hasRoom(fresh: readonly ChatMessage[], results: number): boolean {
    return this.#roomBeside(fresh) >= results * limits.agentResultMinChars
  }

  /** Tells the reader of the answer that tools were not run. */
  #leaveOut(calls: readonly ToolCall[]): void {
    for (const { tool, input } of calls) {
      this.parts.emit({ type: 'step', tool, input })
      this.parts.emit({ type: 'result', tool, failed: true, text: notRun })
    }
  }

  #add(message: ChatMessage): void {
    this.#messages.push(message)
    this.#chars += charsOf(message)
  }

  /** Sends the language model one request, with a few more messages than before. */
  async #ask(fresh: readonly ChatMessage[], toolChoice: 'auto' | 'none') {
    const { model, request, bounds, executor, reserve, signal } = this.parts
    for (const message of fresh) this.#add(message)
    const read = tokensOf(this.#chars + executor.descriptionChars)
    if (read > bounds.promptTokens) throw promptTooLong(read, bounds)
    const left = bounds.answerTokens - this.#counted - read
    if (left < 0) throw tooManyTokens(bounds)
    const reserved = await reserve(read + usualOutput(request, left), read + leastOutput(request))
    this.#text = ''
    const exchanged = await exchange(
      model,
      {
        ...{ ...request, ...outputLimit(request, read, left, reserved) },
        ...{ toolChoice, messages: [...this.#messages], tools: executor.descriptions },
      },
      { signal, onText: (text) => this.#heard(text), onRemark: () => this.#beginAgain() },
    )
    reserved.settle(this.#count(exchanged, read))
    this.#exchanges.push({ new: fresh, response: exchanged.response })
    this.#steps.push(this.#stepOf(exchanged))
    if ('failure' in exchanged) throw exchanged.failure
    return exchanged.response
  }

  #heard(text: string): void {
    this.#firstTextMs ??= performance.now() - this.#began
    this.#say(text)
  }

  #beginAgain(): void {
    this.#text = ''
    this.parts.emit({ type: 'remark' })
  }

  #count(exchanged: ExchangeResult, read: number): number {
    const used = tokensOfExchange(exchanged, read)
    const usage = usageOf(exchanged.response)
    this.#usage = addUsage(this.#usage, usage)
    this.#estimated += used - tokensUsed(usage)
    this.#counted += used
    return used
  }

  /**
   * Reserves tokens for a model that a tool asks, if the answer and the day have as many left, or at least some.
   *
   * @throws Problem answer_limit, tokens_spent
   */
  async #reserveForTool(tokens: number, least = tokens): Promise<ReservedTokens> {
    const { bounds, reserve } = this.parts
    const left = bounds.answerTokens - this.#counted
    if (left < least) throw tooManyTokens(bounds)
    const reserved = await reserve(Math.min(tokens, left), least)
    const settle = (used: number) => {
      this.#counted += used
      reserved.settle(used)
    }
    return { ...reserved, settle }
  }

  #stepOf({ response, durationMs, failure }: ExchangeResult): AnswerStep {
    const usage = usageOf(response)
    return {
      kind: 'model',
      name: this.parts.model.model,
      outcome: failure === undefined ? 'complete' : 'failed',
      duration_ms: Math.round(durationMs),
      rows: null,
      input_tokens: usage.input,
      output_tokens: usage.output,
    }
  }

  async #use(call: ToolCall, room: number): Promise<ChatMessage> {
    const { executor, emit, signal, bounds } = this.parts
    // The exchange, or another tool beside this one, may have used more than was estimated.
    if (this.#counted > bounds.answerTokens) throw tooManyTokens(bounds)
    emit({ type: 'step', tool: call.tool, input: call.input })
    const reserving: ReserveTokens = (...wanted) => this.#reserveForTool(...wanted)
    const { use, step, text, query, usage, estimated, fault } = await executor.use(call, { signal, room, reserve: reserving })
    this.#tools.push(use)
    this.#steps.push(step)
    if (query) this.#queries.push(query)
    this.#usage = addUsage(this.#usage, usage ?? noUsage)
    this.#estimated += estimated
    // Nobody gets the output of a tool that was cut off.
    if (use.aborted === true) throw fault ?? signal.reason
    emit({ type: 'result', tool: call.tool, failed: use.failed, text, ...(query && { rows: query }) })
    // If the language model got this failure, it would answer without the data.
    if (fault) throw fault
    return { role: 'tool', toolCallId: call.id, tool: call.tool, content: use.output }
  }
}
