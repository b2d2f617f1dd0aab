import type { Log } from '../../log/contract/log.js'
import type { PredictionRecorder } from '../../models/serving/recorder.js'
import { cutSecretsInTurns } from '../../dialect/secrets.js'
import { rowsFrom, type SqlAnswer } from '../contract/answer.js'
import type { RunningStatement } from '../contract/request.js'
import type { SelectService, PredictedRows, ScoreCount, SelectPart, SelectAnswer, SelectRequest } from '../contract/select.js'

/** What answers a SELECT, and what records its predictions. */
export type AnswerParts = {
  log: Pick<Log, 'head'>
  analytics: SelectService
  recorder: Pick<PredictionRecorder, 'records' | 'served' | 'scored'>
  defaultProject: string
}

/** Records what models did in a SELECT that is part of a statement, at the position that the SELECT was read at. */
class Receipts {
  constructor(
    private readonly recorder: AnswerParts['recorder'],
    private readonly statement: RunningStatement,
    private readonly readAt: number,
  ) {}

  /** Predictions of given rows; they may be answered when this is done. */
  async served(served: readonly PredictedRows[]): Promise<number[]> {
    const { recorder, readAt } = this
    const { origin } = this.statement
    const recorded = served.map(async ({ model, version, rows }) =>
      (await recorder.records(model)) ? [await recorder.served({ model, version, rows, origin, readAt })] : [],
    )
    return (await Promise.all(recorded)).flat()
  }

  /** Scorings inside a query: their rows are counted. */
  async scored(scored: readonly ScoreCount[]): Promise<number[]> {
    if (scored.length === 0) return []
    const { recorder, readAt } = this
    const { origin, query } = this.statement
    const statement = await cutSecretsInTurns(query)
    return Promise.all(scored.map((count) => recorder.scored({ ...count, origin, statement, readAt })))
  }
}

/** Passes the rows on; what they were scored by is known, and recorded, when they end. */
const withReceipts = ({ rows }: SelectAnswer, receipts: Receipts, positions: number[]): AsyncIterable<Buffer> => {
  const next = async () => {
    const chunk = await rows.next()
    if (chunk.done === true) positions.push(...(await receipts.scored(chunk.value?.scored ?? [])))
    return chunk
  }
  return rowsFrom(next, rows)
}

/** The SELECT as the process is sent it. */
const requestOf = (select: SelectPart, statement: RunningStatement, head: number, project: string) => {
  const { context, origin, params, format, position, last, readsOnly } = statement
  const request: SelectRequest = {
    ...select,
    db: context.db,
    defaultProject: project,
    upTo: head,
    user: origin.actor,
    origin,
    // What is answered instead of rows is a few rows of our own.
    format: select.wanted ? 'json' : (format ?? 'json'),
    ...(params && { params }),
    ...(last && { last: last.known }),
    ...(readsOnly === true && { readsOnly }),
    ...(position !== undefined && position !== head && { asOf: position }),
  }
  return request
}

/**
 * Answers a SELECT that a statement is or became, as the log is now. Resolves with its first rows, so that most failures are still
 * an answer of their own.
 *
 * @example await answerSelect({ sql: 'SELECT 1' }, statement, { log, analytics, recorder, defaultProject: 'mindsdb' })
 */
export const answerSelect = async (select: SelectPart, statement: RunningStatement, parts: AnswerParts): Promise<SqlAnswer> => {
  const { position: head } = await parts.log.head()
  const request = requestOf(select, statement, head, parts.defaultProject)
  const { signal, client, context, position = head } = statement
  const receipts = new Receipts(parts.recorder, statement, position)
  const answer = await parts.analytics.query(request, { signal, client })
  try {
    const positions = await receipts.served(answer.served ?? [])
    if (answer.scored) positions.push(...(await receipts.scored(answer.scored)))
    if (answer.last) statement.last?.note(answer.last)
    const rows = answer.scored ? answer.rows : withReceipts(answer, receipts, positions)
    const scores = answer.scores && { scores: answer.scores }
    return { type: 'table', columns: answer.columns, rows, format: request.format ?? 'json', context, positions, ...scores }
  } catch (error) {
    await answer.rows.return(undefined)
    throw error
  }
}
