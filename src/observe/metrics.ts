/**
 * Room: metrics, readiness and disk use. It imports only events, projections, basics, setup, vault, log, sql, commands, sql-process and
 * archive.
 */

import type { AgentAnswered } from '../../events/records/answers.js'
import { anyForeign, isForeignType } from '../../events/foreign.js'
import type { Batch } from '../log/contract/log.js'
import { Gauges, type Sources } from './gauges.js'
import { Instruments, type MetricDescription } from './instruments.js'

/** In seconds, from a read out of memory to the longest query. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Finer bounds, because commits are faster than requests, and their durations are the first sign of a slow disk. */
const commitDurations = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const batchSizes = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000]
/** Much finer bounds than those of whole requests: the prediction of one row takes some microseconds. */
const predictDurations = [0.00001, 0.000025, 0.0001, 0.00025, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 2.5]

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A completed request. `route` is the template, such as `/projects/:project`; undefined if no route matched. */
export type CompletedRequest = {
  method: string
  route: string | undefined
  status: string
  seconds: number
  streamed: boolean
  limit: string | undefined
}

/**
 * All metrics of the service, for Prometheus. Each instance has a registry of its own; nothing is global.
 * Label values come from lists in the code (routes, types, outcomes), so that no client can create series.
 *
 * @example const metrics = new Metrics(); metrics.queried('ok', 0.012); await metrics.text()
 */
export class Metrics {
  readonly #make = new Instruments()
  readonly #requests = this.#make.counter('http_requests_total', 'HTTP requests by route, method and status.', [
    'method',
    'route',
    'status',
  ])
  readonly #requestSeconds = this.#make.histogram(
    'http_request_duration_seconds',
    'Time from a request to the end of its answer; streams of events are left out.',
    durations,
    ['method', 'route'],
  )
  readonly #limits = this.#make.counter('limits_hit_total', 'Requests that were refused because of a limit, by its name.', ['limit'])
  readonly #commands = this.#make.counter('commands_total', 'Commands by type and outcome: done, dry_run, repeated, refused, failed.', [
    ...['type', 'outcome'],
  ])
  readonly #events = this.#make.counter('events_total', 'Events written to the log, by type.', ['type'])
  readonly #commits = this.#make.counter('log_commits_total', 'Transactions of the log by outcome: done, failed.', ['outcome'])
  readonly #commitSeconds = this.#make.histogram('log_commit_duration_seconds', 'Time of a transaction of the log.', commitDurations)
  readonly #batchSize = this.#make.histogram('log_commit_commands', 'Commands that shared a transaction of the log.', batchSizes)
  readonly #predictedRows = this.#make.counter(
    'predictions_rows_total',
    'Rows that models scored, as the log records them, by source: rest, sql, mcp.',
    ['source'],
  )
  readonly #predictSeconds = this.#make.histogram(
    'prediction_duration_seconds',
    'Time to compute the rows of one REST prediction, without recording them.',
    predictDurations,
  )
  readonly #trainings = this.#make.counter('trainings_total', 'Trainings that ended, by outcome: complete, error.', ['outcome'])
  readonly #queries = this.#make.counter('sql_queries_total', 'Queries by outcome: ok, or the code of the error.', ['outcome'])
  readonly #querySeconds = this.#make.histogram(
    'sql_query_duration_seconds',
    'Time from a query to its first rows or its refusal, waiting included.',
    durations,
  )
  readonly #jobRuns = this.#make.counter('job_runs_total', 'Runs of jobs that ended, by outcome.', ['outcome'])
  readonly #answers = this.#make.counter('agent_answers_total', 'Answers of agents by outcome: answered, unanswered, failed, aborted.', [
    'outcome',
  ])
  readonly #answerSeconds = this.#make.histogram('agent_answer_duration_seconds', 'Time of a whole answer of an agent.', durations)
  readonly #firstTextSeconds = this.#make.histogram(
    'agent_first_text_duration_seconds',
    'Time from a question to the first text of the language model.',
    durations,
  )
  readonly #answerTokens = this.#make.counter(
    'agent_tokens_total',
    'Tokens of answers of agents, as providers count them, by direction: input, output.',
    ['direction'],
  )
  readonly #uploads = this.#make.counter('uploads_total', 'Files that were received.')
  readonly #uploadBytes = this.#make.counter('upload_bytes_total', 'Bytes of files that were received.')
  readonly #gauges = new Gauges(this.#make)
  readonly contentType = this.#make.contentType
  #sources: Sources | undefined

  /** Sets the sources of the values that are looked up at each scrape. */
  watch(sources: Sources): void {
    this.#sources = sources
  }

  /** Counts a request. Its duration counts only if its answer was not a stream. */
  request({ method, route = 'none', status, seconds, streamed, limit }: CompletedRequest): void {
    const labels = { method: methods.has(method) ? method : 'other', route }
    this.#requests.inc({ ...labels, status })
    if (limit !== undefined) this.#limits.inc({ limit })
    if (!streamed) this.#requestSeconds.observe(labels, seconds)
  }

  /** Counts a command by its type and outcome. */
  command(type: string, outcome: 'done' | 'dry_run' | 'repeated' | 'refused' | 'failed'): void {
    this.#commands.inc({ type, outcome })
  }

  /** Counts a transaction of the log. Its events are counted only when they are durable. */
  batch({ commands, seconds, failed, events }: Batch): void {
    this.#commits.inc({ outcome: failed ? 'failed' : 'done' })
    this.#commitSeconds.observe(seconds)
    this.#batchSize.observe(commands)
    for (const { event, source } of events) {
      // Types from other releases are unlimited in number, so they share one label.
      this.#events.inc({ type: isForeignType(event.type) ? anyForeign : event.type })
      this.#happened(event, source)
    }
  }

  #happened(event: Batch['events'][number]['event'], source: string): void {
    if (event.type === 'PredictionsServed') this.#predictedRows.inc({ source }, event.data.rows)
    else if (event.type === 'AgentAnswered') this.#answered(event.data)
    else if (event.type === 'JobRunFinished') this.#jobRuns.inc({ outcome: event.data.outcome })
    else if (event.type === 'ModelTrained') this.#trainings.inc({ outcome: 'complete' })
    else if (event.type === 'ModelTrainingFailed') this.#trainings.inc({ outcome: 'error' })
  }

  #answered({ outcome, duration_ms, first_token_ms, input_tokens, output_tokens }: AgentAnswered): void {
    this.#answers.inc({ outcome })
    this.#answerSeconds.observe(duration_ms / 1000)
    if (first_token_ms !== null) this.#firstTextSeconds.observe(first_token_ms / 1000)
    this.#answerTokens.inc({ direction: 'input' }, input_tokens ?? 0)
    this.#answerTokens.inc({ direction: 'output' }, output_tokens ?? 0)
  }

  /** Records the duration of a prediction, in seconds. */
  predicted(seconds: number): void {
    this.#predictSeconds.observe(seconds)
  }

  /** Counts a query by its outcome, and records its duration, in seconds. */
  queried(outcome: string, seconds: number): void {
    this.#queries.inc({ outcome })
    this.#querySeconds.observe(seconds)
  }

  /** Counts an upload and its bytes. */
  uploaded(bytes: number): void {
    this.#uploads.inc()
    this.#uploadBytes.inc(bytes)
  }

  /** All metrics, in the text format. */
  async text(): Promise<string> {
    if (this.#sources) await this.#gauges.read(this.#sources)
    return this.#make.text()
  }

  /** The name, type, labels and meaning of each metric, for the docs. */
  described(): Promise<MetricDescription[]> {
    return this.#make.described()
  }
}
