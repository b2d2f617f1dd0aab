import type { AnswerJudged } from '../../../events/records/answers.js'
import type { StreamId } from '../../../events/common.js'
import type { Execution, Ledger } from '../../commands/ledger.js'
import type { ErasureGuard, Origin, Outcome } from '../../log/contract/log.js'
import type { AnswerRecords } from './answer-records.js'
import { sealRecord } from './seal-record.js'

type Options = {
  ledger: Ledger
  records: AnswerRecords
  /** Runs work during which no answers are erased. */
  beside: ErasureGuard
}

/** A verdict on an answer of one agent. The id or the position names the answer. */
export type Judgement = {
  agent: StreamId
  ref: string
  verdict: AnswerJudged['verdict']
  comment: string | undefined
  origin: Origin
  client?: string
} & Pick<Execution, 'idempotency' | 'dryRun'>

/**
 * Records verdicts on answers. Only the last verdict of an actor counts. An erased answer gets no verdict.
 *
 * @example await judge.record({ agent, ref: traceId, verdict: 'bad', comment: 'counts twice', origin })
 */
export class AnswerJudge {
  constructor(private readonly options: Options) {}

  /** @throws Problem not_found, erased */
  record(judgement: Judgement): Promise<Outcome & { answer: string }> {
    // Otherwise a comment could stay after an erasure of the answer in between.
    return this.options.beside(judgement.origin, (origin) => this.#record({ ...judgement, origin }))
  }

  async #record({ agent, ref, verdict, comment, origin, client, idempotency, dryRun }: Judgement): Promise<Outcome & { answer: string }> {
    const { ledger, records } = this.options
    const found = await records.one(ref, { agent, ...(client !== undefined && { client }) })
    await records.open(found)
    const payload = comment === undefined ? undefined : sealRecord(ledger.vault, { comment })
    const { answer, position: answered_at } = found
    const data = { agent, answer, answered_at, verdict, payload: payload?.hash ?? null }
    const outcome = await ledger.execute({ type: 'JudgeAnswer', data }, origin, {
      payloads: payload ? [payload] : [],
      ...(idempotency && { idempotency }),
      ...(dryRun && { dryRun }),
    })
    return { ...outcome, answer }
  }
}
