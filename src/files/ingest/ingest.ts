/** Room: the process that makes tables of uploads. It imports only basics, setup, files/types, files/tables and files/formats. */

import type { ChildProcess } from 'node:child_process'
import * as z from 'zod'
import { badFile, tooLarge, type OnBadRows } from '../tables/bad-rows.js'
import type { FileFormat } from '../formats/formats.js'
import { ingested, type IngestedTable, type IngestJob } from './ingest-messages.js'
import { isProblemCode, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { residentBytes } from '../../basics/resident-memory.js'
import { startProgram } from '../../setup/start-program.js'

export type IngestRequest = { source: string; originalName: string; format?: FileFormat; onBadRows?: OnBadRows; workDirectory: string }

export type IngestLimits = { timeoutMs: number; memoryMaxBytes: number; concurrentMax: number }

const defaultLimits: IngestLimits = {
  timeoutMs: limits.fileIngestTimeoutMs,
  memoryMaxBytes: limits.fileIngestMemoryMaxBytes,
  concurrentMax: limits.fileIngestConcurrentMax,
}

const memorySampleMs = 50

const answer = z.union([
  z.strictObject({ done: ingested }),
  z.strictObject({
    refused: z.strictObject({
      code: z.string().refine(isProblemCode),
      title: z.string(),
      detail: z.string(),
      extras: z.record(z.string(), z.unknown()),
    }),
  }),
  z.strictObject({ failed: z.string() }),
])

type Outcome = { done: IngestedTable } | { problem: Problem }

const internal = (detail: string): Problem => new Problem('internal', 'File could not be read', detail)

/** Turns the process's answer into a result or a problem to throw. */
const outcome = (message: unknown): Outcome => {
  const { data, error } = answer.safeParse(message)
  if (data === undefined) return { problem: internal(error.message) }
  if ('done' in data) return data
  if ('failed' in data) return { problem: internal(data.failed) }
  const { code, title, detail, extras } = data.refused
  return { problem: new Problem(code, title, detail, extras) }
}

/**
 * Reads each uploaded file in a process of its own, a few at a time, and kills those that take too long or too much memory.
 *
 * @example
 * const ingester = new Ingester()
 * await ingester.ingest({ source: '/data/uploads/1', originalName: 'a.csv', workDirectory: '/data/ingest/1' })
 * // { parquetFile: '/data/ingest/1/out.parquet', sha256: '…', bytes: 512, rowCount: 2, columns: [{ name: 'a', type: 'BIGINT' }], skipped: { count: 0, first: [] }, … }
 */
export class Ingester {
  private readonly limits: IngestLimits
  private readonly waiting: (() => void)[] = []
  private running = 0

  constructor(limitsToUse: Partial<IngestLimits> = {}) {
    this.limits = { ...defaultLimits, ...limitsToUse }
  }

  /** The work directory must exist and be empty; the caller removes it, whatever the result. Throws a `Problem`. */
  async ingest({ onBadRows = 'refuse', ...request }: IngestRequest): Promise<IngestedTable> {
    if (this.running >= this.limits.concurrentMax) await new Promise<void>((start) => this.waiting.push(start))
    else this.running += 1
    try {
      // DuckDB keeps to its own limit only roughly, and buffers and the runtime add to it.
      return await this.run({ ...request, onBadRows, memoryBytes: Math.floor(this.limits.memoryMaxBytes / 2) })
    } finally {
      // The place passes directly to the next waiting request, without becoming free in between.
      const next = this.waiting.shift()
      if (next) next()
      else this.running -= 1
    }
  }

  private run(job: IngestJob): Promise<IngestedTable> {
    return new Promise((resolve, reject) => {
      const child = startProgram('ingest-process', { env: { UV_THREADPOOL_SIZE: '4' }, keeps: { writable: [job.workDirectory] } })
      let result: Outcome | undefined
      const kill = (problem: Problem) => {
        result ??= { problem }
        child.kill('SIGKILL')
      }
      const deadline = setTimeout(() => {
        kill(tooLarge(`The file took longer than ${this.limits.timeoutMs} ms to read.`))
      }, this.limits.timeoutMs)
      const sampler = this.watchMemory(child, kill)
      child.once('message', (message) => (result ??= outcome(message)))
      child.once('error', (error) => (result ??= { problem: internal(error.message) }))
      child.once('close', (code, signal) => {
        clearTimeout(deadline)
        clearInterval(sampler)
        result ??= { problem: badFile(`The process that read the file ended unexpectedly (${signal ?? `exit code ${code}`}).`) }
        if ('done' in result) resolve(result.done)
        else reject(result.problem)
      })
      child.send(job, (error) => {
        if (error) kill(internal(error.message))
      })
    })
  }

  private watchMemory(child: ChildProcess, kill: (problem: Problem) => void): NodeJS.Timeout {
    const { memoryMaxBytes } = this.limits
    const sample = async () => {
      if (child.pid === undefined) return
      if ((await residentBytes(child.pid)) > memoryMaxBytes)
        kill(tooLarge(`The file needs more than ${memoryMaxBytes} bytes of memory to be read.`))
    }
    return setInterval(() => void sample(), memorySampleMs)
  }
}
