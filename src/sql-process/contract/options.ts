import { limits } from '../../basics/limits.js'
import type { Question, ServerAnswer } from '../../sql/contract/connected.js'
import type { HeldBlob } from '../../files/blob-store.js'
import type { SelectRequest } from '../../sql/contract/select.js'

/** The end of the reading of rows, and whether the database may have changed permanently by then. */
export type ReadingEnd = Promise<{ changed: boolean }>

/**
 * Answers a query's question about a connected database or a knowledge base. If the answer says where the query reads rows, `onReading`
 * gets the end of that reading, and `leave`, which is called when the query ends.
 */
export type AnswerQuestion = (
  question: Question,
  request: SelectRequest,
  onReading: (end: ReadingEnd, leave?: () => void) => void,
) => Promise<ServerAnswer>

/** Keeps the file of a blob in the data directory until it is released. */
export type HoldBlob = (sha: string) => Promise<HeldBlob>

/** The limits of the SQL process. They are part of `limits`; tests use smaller ones. */
export type SqlProcessLimits = {
  timeoutMs: number
  memoryMaxBytes: number
  memorySampleMs: number
  queueMaxQueries: number
  concurrentMaxQueries: number
  longMaxQueries: number
  quickMs: number
  clientMaxPercent: number
  waitingMaxQueries: number
  streamingMaxAnswers: number
  threads: number
  retriesMax: number
  cancelGraceMs: number
  answerMaxAgeMs: number
  startWaitMs: number
  purgeWaitMs: number
  walMaxBytes: number
  followerIntervalMs: number
  followerBatchEvents: number
  checkIntervalMs: number
  pingIntervalMs: number
  silentMaxPings: number
}

export const sqlProcessLimits: SqlProcessLimits = {
  timeoutMs: limits.sqlTimeoutMs,
  memoryMaxBytes: limits.sqlMemoryMaxBytes,
  memorySampleMs: limits.sqlMemorySampleMs,
  queueMaxQueries: limits.sqlQueueMaxQueries,
  concurrentMaxQueries: limits.sqlConcurrentMaxQueries,
  longMaxQueries: limits.sqlLongMaxQueries,
  quickMs: limits.sqlQuickMs,
  clientMaxPercent: limits.sqlClientMaxPercent,
  waitingMaxQueries: limits.sqlWaitingMaxQueries,
  streamingMaxAnswers: limits.sqlStreamingMaxAnswers,
  threads: limits.sqlThreads,
  retriesMax: limits.sqlRetriesMax,
  cancelGraceMs: limits.sqlCancelGraceMs,
  answerMaxAgeMs: limits.sqlAnswerMaxAgeMs,
  startWaitMs: limits.sqlStartWaitMs,
  purgeWaitMs: limits.erasurePurgeWaitMs,
  walMaxBytes: limits.sqlWalMaxBytes,
  followerIntervalMs: limits.followerIntervalMs,
  followerBatchEvents: limits.followerBatchEvents,
  checkIntervalMs: limits.tablesCheckIntervalMs,
  pingIntervalMs: limits.sqlPingIntervalMs,
  silentMaxPings: limits.sqlSilentMaxPings,
}

export type SqlProcessOptions = {
  dataDirectory: string
  /** The master keys that are in use, when they are not those in the data directory's files. */
  masterKeys?: () => readonly Buffer[]
  /** Called if it becomes known after the start that the tables have followed events that the log does not have. */
  onForeign?: (reason: string) => void
  logger?: { warn: (fields: object, message: string) => void } | undefined
  limits?: Partial<SqlProcessLimits>
  /** Answers questions of queries about connected databases; without it there are no such databases. */
  answerQuestion?: AnswerQuestion
  /** Brings the file of a blob to this machine; without it all files are already here. @throws Problem not_found */
  holdBlob?: HoldBlob | undefined
  /** The program of the process; tests use another one. */
  entry?: string
}
