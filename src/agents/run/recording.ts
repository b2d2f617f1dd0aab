import type { StreamId } from '../../../events/common.js'
import type { AgentAnswered } from '../../../events/records/answers.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import type { Problem } from '../../basics/errors.js'
import { retryWhileBusy } from '../../basics/concurrency/retry.js'
import type { Execution, Ledger } from '../../commands/ledger.js'
import { keyOfRecord, mayPass, recordPatience } from '../../commands/record-patiently.js'
import type { Log, Outcome } from '../../log/contract/log.js'
import { eventAt } from '../../log/read/slices.js'
import type { ChatRequest, LanguageModel } from '../../llm/contract/language-model.js'
import type { AnswerRecord } from '../contract/answer-record.js'
import { hasAnswer, type AgentRequest } from '../contract/answering.js'
import { sealAnswer } from '../record/seal-record.js'
import type { AgentSettings } from '../prompt/settings.js'
import type { AgentScope } from '../scope/agent-scope.js'
import type { PerformedSearch } from '../tools/search-tool.js'
import type { FinishedRun } from './answer-run.js'

/** The parts that record answers. */
type Parts = { ledger: Ledger; log: Pick<Log, 'readAll'> }

/** Everything that the service records of an answer. */
export type AnswerRecording = {
  answer: string
  asked: AgentRequest
  scope: AgentScope
  /** Whether the agent was granted data, and nothing of them was there or could be read. */
  isGone: boolean
  settings: AgentSettings
  model: LanguageModel
  readAt: number
  request: Omit<ChatRequest, 'messages'>
  searched: readonly PerformedSearch[]
  finished: FinishedRun
}

/** The last search of each knowledge base. */
const basesOf = (searched: readonly PerformedSearch[]): PerformedSearch[] => [
  ...new Map<StreamId, PerformedSearch>(searched.map((one) => [one.knowledge_base, one])).values(),
]

const eventOf = (payload: string, { answer, asked, scope, model, readAt, searched, finished }: AnswerRecording): AgentAnswered => {
  const { usage, estimatedTokens, outcome, problem, firstTextMs, durationMs } = finished
  return {
    agent: scope.agent.stream,
    version: scope.agent.version,
    answer,
    purpose: asked.purpose,
    conversation: asked.conversation ?? null,
    skills: scope.skills.map(({ stream, version }) => ({ skill: stream, version })),
    models: scope.models.map(({ found, version }) => ({ model: found.stream, version: version.version })),
    knowledge_bases: basesOf(searched),
    provider: model.provider,
    model: model.model,
    host: model.host,
    read_at: readAt,
    steps: [...finished.steps],
    input_tokens: usage.input,
    output_tokens: usage.output,
    ...(estimatedTokens > 0 && { estimated_tokens: estimatedTokens }),
    outcome,
    // Only titles: a detail may repeat words of the conversation.
    error: problem?.title ?? null,
    first_token_ms: firstTextMs === null ? null : Math.round(firstTextMs * 10) / 10,
    duration_ms: Math.round(durationMs * 10) / 10,
    payload,
  }
}

const failureOf = ({ code, title, detail }: Problem): Required<AnswerRecord>['failure'] => ({ code, title, detail })

const recordOf = ({ asked, isGone, settings, request, finished }: AnswerRecording): AnswerRecord => ({
  question: asked.turns.at(-1)?.content ?? '',
  history: asked.turns.slice(0, -1),
  settings: { ...request, params: settings.params, bounds: settings.bounds },
  exchanges: finished.exchanges,
  tools: finished.tools,
  answer: finished.content,
  ...(finished.problem && { failure: failureOf(finished.problem) }),
  ...(isGone && { data_gone: true as const }),
})

/** Whether the event at a position is the record of this answer. */
const isRecordOf = async (log: Pick<Log, 'readAll'>, position: number, answer: string): Promise<boolean> => {
  const stored = await eventAt(log, position)
  return stored !== undefined && parseEnvelope(stored.text).data['answer'] === answer
}

/**
 * Records an answer: the event, and the texts as a payload that can be erased. Nobody gets an answer before this is done. If another node
 * has answered the same request meanwhile, the outcome is `repeated`, and this answer is recorded without the key of the request: nobody
 * gets it, but its tokens were used. While the log is away for a moment, it tries again.
 *
 * @throws Problem storage_failed, disk_full, busy, too_large
 */
export const record = async ({ ledger, log }: Parts, recorded: AnswerRecording, isStopping: () => boolean): Promise<Outcome> => {
  const payload = await sealAnswer(ledger.vault, recordOf(recorded))
  const { answer, finished } = recorded
  const { origin, idempotency } = recorded.asked
  const command = { type: 'RecordAnswer' as const, data: eventOf(payload.hash, recorded) }
  const isOver = recordPatience(isStopping)
  const patiently = <T>(ask: () => Promise<T>) => retryWhileBusy(ask, isOver, mayPass)
  const execute = (execution: Execution) => patiently(() => ledger.execute(command, origin, { payloads: [payload], ...execution }))
  const own = keyOfRecord('answer', answer)
  if (!idempotency || !hasAnswer(finished)) return { ...(await execute(own)), repeated: false }
  const outcome = await execute({ idempotency })
  if (!outcome.repeated) return outcome
  const [position] = outcome.positions
  if (position !== undefined && (await patiently(() => isRecordOf(log, position, answer)))) return { ...outcome, repeated: false }
  await execute(own)
  return outcome
}
