import type { AnswerOutcome } from '../../../events/records/answers.js'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { ChatEnd, ChatPart, LanguageModel } from '../../llm/contract/language-model.js'
import type { AnswerBounds, AnswerRecord, ToolUse } from '../contract/answer-record.js'
import { reserveAll } from '../../llm/tokens/daily-token-quotas.js'
import { Fence } from '../prompt/fence.js'
import type { RecordedAnswer } from '../record/answer-records.js'
import { answerRecord } from '../record/record-schema.js'
import { AnswerRun, CancelledError, type FinishedRun } from '../run/answer-run.js'
import { ToolExecutor, type ToolOutcome } from '../run/tool-executor.js'
import { givenBy, markIn, RecordedUses, RecordEnd } from '../tools/replayed-tool.js'
import { sqlTraits } from '../tools/sql-tool.js'
import type { Tool } from '../tools/tool.js'

/** A replay of an answer from its record. `isSame`: text, tool outputs, rows and exchanges equal the record, byte for byte. */
export type AnswerReplay = { finished: FinishedRun; outcome: AnswerOutcome; isSame: boolean }

/** The reason for the end of the answer, if it was outside of an exchange: the client left, or a limit of time or tokens was reached. */
const endingOf = ({ outcome, error }: RecordedAnswer): Error =>
  outcome === 'aborted'
    ? new CancelledError(error ?? 'It was aborted')
    : new Problem('llm_failed', error ?? 'It failed', 'it failed then, too')

/** A language model that repeats recorded texts. */
class RecordedModel implements LanguageModel {
  readonly provider: string
  readonly model: string
  readonly host: string
  #next = 0

  constructor(
    { provider, model, host }: RecordedAnswer,
    private readonly exchanges: AnswerRecord['exchanges'],
    private readonly ending: Error,
  ) {
    this.provider = provider
    this.model = model
    this.host = host
  }

  /** @throws the recorded end, if the recorded answer did not ask the language model again */
  needNext(): void {
    if (this.#next >= this.exchanges.length) throw this.ending
  }

  async *chat(): AsyncGenerator<ChatPart, ChatEnd, void> {
    const said = this.exchanges[this.#next++]?.response
    if (!said) throw this.ending
    const { text, remarks = '', toolCalls, ...end } = said
    if (remarks !== '') {
      yield { text: remarks }
      yield { remark: true }
    }
    if (text !== '') yield { text }
    for (const toolCall of toolCalls) yield { toolCall }
    if ('error' in end) throw this.ending
    return end
  }
}

/** Uses the tools of a record, and ends the answer where its record has no further use: it may have had no tokens left. */
class RecordedExecutor extends ToolExecutor {
  #left: number
  readonly #ending: Error

  constructor(tools: readonly Tool[], uses: readonly ToolUse[], ending: Error) {
    super(tools, new Fence(markIn(uses)))
    this.#left = uses.length
    this.#ending = ending
  }

  override async use(...asked: Parameters<ToolExecutor['use']>): Promise<ToolOutcome> {
    if (this.#left-- === 0) throw this.#ending
    return super.use(...asked)
  }
}

/** The bounds of answers whose record does not name them. */
const boundsOfBefore: Omit<AnswerBounds, 'answerTokens'> = {
  promptTokens: Infinity,
  history: limits.agentHistoryMaxTurns,
  steps: limits.agentStepsMax,
  queries: limits.agentSqlMaxCalls,
  repairs: limits.agentRepairsMax,
}

/** The tools of a record. `cut` ends the answer at a tool that was cut off. */
const toolsOf = ({ settings, tools }: AnswerRecord, bounds: AnswerBounds, ending: Error, cut: () => void): Tool[] => {
  const uses = new RecordedUses(tools)
  return settings.tools.map((description): Tool => {
    const { name } = description
    const traits = name === 'sql' ? sqlTraits(bounds) : ({ kind: 'other', givesData: name !== 'describe_tables' } as const)
    return {
      ...traits,
      description,
      async use(input, _, { onReplayed }) {
        const known = uses.take(name, input, { repeats: false })
        if (!known) throw new RecordEnd(ending)
        if (known.aborted === true) cut()
        onReplayed(known)
        return givenBy(known)
      },
    }
  })
}

/**
 * Replays an answer from its record. The same loop runs, but the language model and the tools return their recorded outputs. It calls no
 * other service, and records nothing. It uses the recorded marks around data.
 *
 * @example (await replay(answer, await records.open(answer))).isSame // true
 */
export const replay = async (answer: RecordedAnswer, record: AnswerRecord): Promise<AnswerReplay> => {
  const { tools: _, params: __, bounds: recorded = boundsOfBefore, ...request } = record.settings
  // Estimates of tokens are not on record, so an answer that had no tokens left ends with its record.
  const bounds = { ...recorded, answerTokens: Infinity }
  const stop = new AbortController()
  const ending = endingOf(answer)
  const model = new RecordedModel(answer, record.exchanges, ending)
  const finished = await new AnswerRun({
    ...{ model, request, bounds, signal: stop.signal, isGone: record.data_gone === true },
    messages: record.exchanges[0]?.new ?? [],
    executor: new RecordedExecutor(
      toolsOf(record, bounds, ending, () => stop.abort(ending)),
      record.tools,
      ending,
    ),
    reserve: async (tokens) => {
      model.needNext()
      return reserveAll(tokens)
    },
    emit: () => undefined,
  }).finish()
  const { exchanges, tools, content, outcome, fault } = finished
  if (fault !== undefined) throw fault as Error
  // The same schema has read the record, so that its members are in the same order.
  const again = answerRecord.parse({ ...record, exchanges, tools, answer: content })
  const isSame = outcome === answer.outcome && JSON.stringify(again) === JSON.stringify(record)
  return { finished, outcome, isSame }
}
