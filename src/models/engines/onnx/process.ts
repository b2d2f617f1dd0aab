/**
 * Room: models that were trained elsewhere, in a process of their own. It imports only events, basics, setup, catalogue, log/contract,
 * files, models/numerics, models/data, models/engines/tabular and models/engines/contract.
 */

import type { ChildProcess } from 'node:child_process'
import { residentBytes } from '../../../basics/resident-memory.js'
import { Problem, problemOf } from '../../../basics/errors.js'
import { withoutPaths } from '../../../basics/shown.js'
import { limits } from '../../../basics/limits.js'
import { startProgram } from '../../../setup/start-program.js'
import type { FromProcess, ModelFile, Output, Run, Signature, TokenizerFile, ToProcess } from './messages.js'

export type OnnxLimits = { loadTimeoutMs: number; runTimeoutMs: number; memoryMaxBytes: number; queueMaxCalls: number; idleMaxMs: number }

const defaultLimits: OnnxLimits = {
  loadTimeoutMs: limits.onnxLoadTimeoutMs,
  runTimeoutMs: limits.onnxRunTimeoutMs,
  memoryMaxBytes: limits.onnxMemoryMaxBytes,
  queueMaxCalls: limits.onnxQueueMaxCalls,
  idleMaxMs: limits.onnxIdleMaxMs,
}

const memorySampleMs = 50
const longestReason = 500

const tooLong = (what: string, timeoutMs: number): Problem =>
  new Problem('query_limit', 'The model took too long', `The imported model was stopped: ${what} took longer than ${timeoutMs} ms`, {
    hint: 'Import a smaller model, or send fewer rows at a time.',
  })

const tooMuchMemory = (memoryMaxBytes: number): Problem =>
  new Problem(
    'query_limit',
    'The model needs too much memory',
    `The imported model was stopped: it needed more than ${memoryMaxBytes} bytes`,
    {
      hint: 'Import a smaller model.',
    },
  )

const crashed = (how: string): Problem =>
  new Problem('query_failed', 'The model failed', `The process of the imported model ended by itself (${how})`)

/** The runtime's message, without its source locations and paths. */
const failed = (message: string): Problem => {
  const words = withoutPaths(message.replace(/\s+/g, ' ').replace(/\S+\.(cc|h|cpp):\d+ /g, ''))
  return new Problem('query_failed', 'The model failed', `The imported model cannot be run: ${words.slice(0, longestReason)}`)
}

type Reply = Exclude<FromProcess, { failed: string } | { problem: unknown }>

const replyIn = (message: FromProcess): Reply => {
  if ('failed' in message) throw failed(message.failed)
  if (!('problem' in message)) return message
  throw problemOf(message.problem)
}

/**
 * Runs one imported model in a separate process, so that the model can neither read this process's memory nor block it. Its tokenizer runs
 * there, too, because its file has regular expressions. A call that takes too long or too much memory ends the process, and the next call
 * starts a new one. Calls run one at a time.
 *
 * @example
 * const model = new OnnxProcess({ file: '/data/blobs/c0ffee…', offset: 512 })
 * await model.run({ tensors, columns, rows: 2, batch: 16, outputs: ['variable'] })
 */
export class OnnxProcess {
  readonly #limits: OnnxLimits
  #child: ChildProcess | undefined
  /** What the process has loaded. */
  #hasModel = false
  #hasTokenizer = false
  #turn: Promise<unknown> = Promise.resolve()
  #calls = 0
  #idle: NodeJS.Timeout | undefined

  constructor(
    private readonly model: ModelFile,
    bounds: Partial<OnnxLimits> = {},
    private readonly tokenizer?: TokenizerFile,
  ) {
    this.#limits = { ...defaultLimits, ...bounds }
  }

  /** Whether the process is running. */
  get isRunning(): boolean {
    return this.#child !== undefined
  }

  get isBusy(): boolean {
    return this.#calls > 0
  }

  /** Loads the model again, and returns its inputs and outputs. */
  signature(): Promise<Signature> {
    return this.#inTurn(() => {
      if (this.#hasModel) this.end()
      return this.#loadModel()
    })
  }

  /** @throws Problem query_limit, query_failed, busy, runtime_missing */
  run(run: Run): Promise<readonly Output[]> {
    return this.#inTurn(async () => {
      if (!this.#hasModel) await this.#loadModel()
      const reply = await this.#ask({ run }, 'a prediction', this.#limits.runTimeoutMs)
      if ('ran' in reply) return reply.ran
      throw new TypeError('the process answered something else')
    })
  }

  /** The tokens of a text, in parts that fit the model. @throws Problem bad_file for a file that is no tokenizer, and as `run` */
  parts(text: string, maxTokens: number): Promise<readonly (readonly number[])[]> {
    return this.#inTurn(async () => {
      if (!this.#hasTokenizer) await this.#loadTokenizer()
      const reply = await this.#ask({ cut: { text, maxTokens } }, 'cutting a text into tokens', this.#limits.runTimeoutMs)
      if ('parts' in reply) return reply.parts
      throw new TypeError('the process answered something else')
    })
  }

  /** Ends the process, if it runs. The next call starts a new one. */
  end(): void {
    clearTimeout(this.#idle)
    this.#child?.kill('SIGKILL')
    this.#forget()
  }

  #forget(): void {
    this.#child = undefined
    this.#hasModel = this.#hasTokenizer = false
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { queueMaxCalls, runTimeoutMs, idleMaxMs } = this.#limits
    if (this.#calls >= queueMaxCalls) throw busy(`${this.#calls} calls wait for the imported model already`)
    clearTimeout(this.#idle)
    this.#calls += 1
    const came = performance.now()
    const mine = this.#turn.then(() => {
      if (performance.now() - came > runTimeoutMs) throw busy('The imported model was busy with other calls')
      return work()
    })
    this.#turn = mine.catch(() => undefined)
    try {
      return await mine
    } finally {
      this.#calls -= 1
      if (this.#calls === 0) this.#idle = setTimeout(() => this.end(), idleMaxMs).unref()
    }
  }

  #start(): void {
    const child = startProgram('onnx-process', { sendsValues: true, keeps: { writable: [] } })
    this.#child = child
    // An idle process does not keep this one alive.
    child.unref()
    child.channel?.unref()
    child.on('error', () => undefined)
    child.once('exit', () => {
      if (this.#child === child) this.#forget()
    })
  }

  async #loadModel(): Promise<Signature> {
    const reply = await this.#load({ load: this.model }, 'loading it')
    if (!('loaded' in reply)) throw new TypeError('the process answered something else')
    this.#hasModel = true
    return reply.loaded
  }

  async #loadTokenizer(): Promise<void> {
    if (!this.tokenizer) throw new TypeError('the model has no tokenizer')
    await this.#load({ read: this.tokenizer }, 'loading its tokenizer')
    this.#hasTokenizer = true
  }

  /** Loads a file in the process, which is started if it does not run, and is ended if it fails. */
  async #load(message: ToProcess, what: string): Promise<Reply> {
    if (!this.#child) this.#start()
    try {
      return await this.#ask(message, what, this.#limits.loadTimeoutMs)
    } catch (error) {
      this.end()
      throw error
    }
  }

  /** Sends a message and waits for its answer, within a deadline and a memory limit. */
  #ask(message: ToProcess, what: string, timeoutMs: number): Promise<Reply> {
    const child = this.#child
    const { memoryMaxBytes } = this.#limits
    return new Promise<Reply>((resolve, reject) => {
      if (!child?.connected || child.pid === undefined) {
        this.end()
        reject(crashed('it could not be reached'))
        return
      }
      const { pid } = child
      let isSettled = false
      const stop = (problem: Problem) => {
        // A memory sample may arrive after the answer, when the process already handles another call.
        if (isSettled) return
        settle(() => reject(problem))
        this.end()
      }
      const deadline = setTimeout(() => stop(tooLong(what, timeoutMs)), timeoutMs)
      const sampler = setInterval(() => {
        void residentBytes(pid).then((bytes) => bytes > memoryMaxBytes && stop(tooMuchMemory(memoryMaxBytes)))
      }, memorySampleMs)
      const onMessage = (reply: FromProcess) =>
        settle(() => {
          try {
            resolve(replyIn(reply))
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)))
          }
        })
      const onExit = (code: number | null, signal: string | null) => stop(crashed(signal ?? `code ${code}`))
      const settle = (tell: () => void) => {
        isSettled = true
        clearTimeout(deadline)
        clearInterval(sampler)
        child.off('message', onMessage).off('exit', onExit)
        tell()
      }
      child.on('message', onMessage).once('exit', onExit)
      child.send(message, (error) => error && stop(crashed('it could not be reached')))
    })
  }
}

const busy = (detail: string): Problem => new Problem('busy', 'Busy', detail, { retryAfterSeconds: 1 })
