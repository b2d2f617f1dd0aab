import { isObject, type Json, type JsonObject } from '../../../events/common.js'
import type { AnswerStep, StepModel } from '../../../events/records/answers.js'
import { unlessAborted } from '../../basics/concurrency/bounded-waits.js'
import { isProblem, Problem, shortened, wrong } from '../../basics/errors.js'
import { isNestedDeeper } from '../../basics/json-text.js'
import { limits } from '../../basics/limits.js'
import type { TokenUsage, ToolCall, ToolDescription } from '../../llm/contract/language-model.js'
import type { ToolUse } from '../contract/answer-record.js'
import type { AnswerRows } from '../contract/answering.js'
import type { Fence } from '../prompt/fence.js'
import { RecordEnd, VerbatimFailure } from '../tools/replayed-tool.js'
import type { Tool, ToolModels, ToolResult, UseOfModels } from '../tools/tool.js'
import { charsOfTools } from '../../llm/tokens/estimates.js'
import { AskedModels, type AskedModel } from '../../llm/tokens/asked-models.js'
import type { ReserveTokens } from '../../llm/tokens/daily-token-quotas.js'
import { addUsage, noUsage } from '../../llm/tokens/token-usage.js'

/**
 * One use of a tool, for the record, the steps and the client. `estimated`: tokens of its models that their providers did not report.
 * `fault` says why the answer ends with it: this service could not run it at the moment or is broken, no tokens are left for it, or it was
 * cut off. A language model could not repair that.
 */
export type ToolOutcome = {
  use: ToolUse
  step: AnswerStep
  text: string
  query?: AnswerRows
  usage?: TokenUsage
  estimated: number
  fault?: Error
}

/**
 * How a tool is used. `room`: the size that the prompt has left for its output; a longer output is cut. `reserve` reserves the tokens of
 * models that the tool asks; its refusal ends the answer.
 */
type UseOptions = { signal: AbortSignal; room?: number; reserve: ReserveTokens }

const cutOff = 'It was cut off.'
const broken = 'It ended because of a fault of this service.'
const failed = 'It failed.\n'
const fullPrompt = ' … (the rest is left out: the prompt is full)'

/** The beginning of a text that fits, with a mark where it was cut. A text that fits stays as it is. */
const fitted = (text: string, room: number): string =>
  text.length <= room ? text : text.slice(0, Math.max(0, room - fullPrompt.length)).toWellFormed() + fullPrompt

const readInput = (text: string): JsonObject => {
  let input: Json
  try {
    input = (text.trim() === '' ? {} : JSON.parse(text)) as Json
  } catch {
    throw wrong('the arguments of the tool are not well-formed JSON', 'Send one JSON object.')
  }
  if (!isObject(input)) throw wrong('the arguments of the tool are not a JSON object', 'Send one JSON object.')
  if (isNestedDeeper(input, limits.jsonMaxDepth))
    throw wrong(`the arguments of the tool are nested deeper than ${limits.jsonMaxDepth} levels (jsonMaxDepth)`, 'Send a flat JSON object.')
  return input
}

const textOf = (problem: Problem): string => {
  const { detail, extras } = problem
  if (problem instanceof VerbatimFailure) return detail
  return shortened(extras.hint === undefined ? detail : `${detail}\n${extras.hint}`)
}

/** Whether it is no fault of the input: SQL is not available, or this service is broken. */
const isFault = (error: unknown, tool: Tool | undefined): boolean => {
  if (!isProblem(error)) return true
  const { code } = error
  return code === 'internal' || code === 'analytics_unavailable' || (code === 'busy' && tool?.kind === 'sql')
}

/** The models that a tool asked, for the event. */
const modelsIn = (asked: readonly AskedModel[]): StepModel[] =>
  asked.map(({ role, provider, model, host, usage }) => ({
    ...{ role, provider, model, host },
    ...{ input_tokens: usage.input, output_tokens: usage.output },
  }))

/** The models of one use of a tool: those that it asks, and those whose record a replay repeats. `refusal` is why one was not asked. */
class UsedModels implements ToolModels {
  readonly #asked: AskedModels
  #replayed: UseOfModels = {}
  refusal: unknown

  constructor(reserve: ReserveTokens) {
    this.#asked = new AskedModels(async (...wanted) => {
      try {
        return await reserve(...wanted)
      } catch (error) {
        this.refusal = error
        throw error
      }
    })
  }

  get asking(): ToolModels['asking'] {
    return this.#asked.asking
  }

  readonly onReplayed = ({ usage, exchanges }: UseOfModels): void => {
    this.#replayed = { ...(usage && { usage }), ...(exchanges && { exchanges }) }
  }

  get usage(): TokenUsage | undefined {
    const { usage } = this.#replayed
    return this.#asked.asked.length > 0 ? addUsage(usage ?? noUsage, this.#asked.usage) : usage
  }

  /** What the record of the use has of them, as far as it is now. */
  get ofUse(): UseOfModels {
    const { usage } = this
    const exchanges = [...(this.#replayed.exchanges ?? []), ...this.#asked.exchanges]
    return { ...(usage && { usage }), ...(exchanges.length > 0 && { exchanges }) }
  }

  get estimated(): number {
    return this.#asked.estimated
  }

  get ofStep(): Pick<AnswerStep, 'models'> {
    const models = modelsIn(this.#asked.asked)
    return models.length > 0 ? { models } : {}
  }
}

const times = (n: number): string => (n === 1 ? '1 time' : `${n} times`)

const refusal = (detail: string): Problem => new Problem('answer_limit', 'No further use of this tool', detail)

/**
 * Executes the tools of one answer. After a failure the language model gets the error and may try again within the limits. It may
 * name unknown tools, send arguments that are no JSON, or repeat the same input.
 *
 * @example const { use } = await executor.use(call, { signal, reserve }); messages.push({ role: 'tool', …, content: use.output })
 */
export class ToolExecutor {
  readonly #byName: ReadonlyMap<string, Tool>
  readonly descriptions: readonly ToolDescription[]
  /** The characters of the tools' descriptions for the language model. */
  readonly descriptionChars: number
  readonly #known = new Map<string, ToolResult>()
  readonly #calls = new Map<string, number>()
  readonly #failures = new Map<string, number>()
  #uses = 0
  /** How often the answer used tools that give data, and how often these gave some. */
  readonly data = { tried: 0, given: 0 }

  constructor(
    tools: readonly Tool[],
    private readonly fence: Fence,
  ) {
    this.#byName = new Map(tools.map((tool) => [tool.description.name, tool]))
    this.descriptions = [...this.#byName.values()].map(({ description }) => description)
    this.descriptionChars = charsOfTools(this.descriptions)
  }

  /**
   * Uses a tool at the request of a language model. It throws no failure: what the tool said to models of its own is part of the outcome.
   */
  async use(call: ToolCall, { signal, room = Infinity, reserve }: UseOptions): Promise<ToolOutcome> {
    const tool = this.#byName.get(call.tool)
    const began = performance.now()
    const models = new UsedModels(reserve)
    const used = () => models.usage && { usage: models.usage }
    const inner = this.#roomIn(call, room)
    const step = (outcome: AnswerStep['outcome'], rows: number | null): AnswerStep => ({
      ...{ kind: tool?.kind ?? 'other', name: tool?.description.name ?? 'unknown', outcome, rows },
      duration_ms: Math.round(performance.now() - began),
      ...{ input_tokens: models.usage?.input ?? null, output_tokens: models.usage?.output ?? null },
      ...models.ofStep,
    })
    if (tool?.givesData === true) this.data.tried += 1
    try {
      const { output, rows, query } = await this.#result(tool, call, { signal, models, room: inner })
      if (tool?.givesData === true) this.data.given += 1
      if (tool) this.#failures.delete(call.tool)
      return {
        use: { call, output: this.#told(call.tool, output), failed: false, ...query, ...models.ofUse },
        step: step('complete', rows),
        text: output,
        ...(query && { query }),
        ...used(),
        estimated: models.estimated,
      }
    } catch (error) {
      if (error instanceof RecordEnd) throw error.ending
      if (signal.aborted)
        return {
          use: { call, output: failed + this.#told('error', cutOff), failed: true, aborted: true, ...models.ofUse },
          step: step('aborted', null),
          text: cutOff,
          ...used(),
          estimated: models.estimated,
          fault: signal.reason as Error,
        }
      if (tool) this.#failures.set(call.tool, (this.#failures.get(call.tool) ?? 0) + 1)
      const text = fitted(isProblem(error) ? textOf(error) : broken, inner)
      return {
        use: { call, output: failed + this.#told('error', text), failed: true, ...models.ofUse },
        step: step('failed', null),
        text,
        ...used(),
        estimated: models.estimated,
        ...((error === models.refusal || isFault(error, tool)) && { fault: error instanceof Error ? error : new TypeError(broken) }),
      }
    }
  }

  /** The characters that an output may have, without the marks around it. */
  #roomIn({ tool }: ToolCall, room: number): number {
    const marks = Math.max(...[tool, 'error'].map((what) => this.#told(what, '').length))
    return room - failed.length - marks
  }

  /** The text for a language model: data between marks. */
  #told(what: string, output: string): string {
    const name = this.#byName.has(what) || what === 'error' ? what : 'result'
    return this.fence.around(name, output)
  }

  async #result(
    tool: Tool | undefined,
    call: ToolCall,
    { signal, models, room }: { signal: AbortSignal; models: ToolModels; room: number },
  ): Promise<ToolResult> {
    this.#uses += 1
    if (this.#uses > limits.agentToolCallsMax)
      throw refusal(`tools were used ${limits.agentToolCallsMax} times for this answer (agentToolCallsMax): answer now`)
    if (!tool) throw wrong('there is no such tool', `There are ${[...this.#byName.keys()].join(', ') || 'none'}.`)
    const { name } = tool.description
    const input = readInput(call.input)
    const key = `${name} ${JSON.stringify(input)}`
    const known = this.#known.get(key)
    if (known) {
      // Its rows are already recorded.
      const { query: _, ...again } = known
      return { ...again, output: fitted(`You have asked this before; it gave:\n${known.output}`, room) }
    }
    const failures = this.#failures.get(name) ?? 0
    if (tool.maxFailures !== undefined && failures >= tool.maxFailures)
      throw refusal(`it failed ${times(failures)} in a row and is not run again: say that you have no answer`)
    const calls = this.#calls.get(name) ?? 0
    if (tool.maxCalls !== undefined && calls >= tool.maxCalls)
      throw refusal(`it was used ${times(calls)} for this answer and is not run again: answer now`)
    this.#calls.set(name, calls + 1)
    // Some tools ignore the signal.
    const given = await unlessAborted(tool.use(input, signal, models), signal)
    // This is the output that the language model gets. A replay of the record has no other one, and cuts it in the same places.
    const result = { ...given, output: fitted(this.fence.inside(given.output), room) }
    this.#known.set(key, result)
    return result
  }
}
