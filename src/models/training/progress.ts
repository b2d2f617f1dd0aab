import * as z from 'zod'
import { limits } from '../../basics/limits.js'
import type { Peers } from '../../log/contract/peers.js'
import type { Progress } from '../engines/tabular/fit.js'

/** The progress of training a model's version (the model is named by its stream); undefined when the training waits or is over. */
export type ProgressOf = (model: string, version: number) => Progress | undefined

const phases: readonly Progress['phase'][] = ['prepare', 'series', 'folds', 'linear', 'interval', 'refit']

const said = z.object({
  training: z.object({ model: z.string(), version: z.int(), phase: z.enum(phases), done: z.number(), total: z.number() }),
})

/**
 * The progress of trainings on other nodes. Each training node reports it every second. A report older than `trainingProgressHeardMs` no
 * longer counts, because its node may be silent.
 *
 * @example const heard = new HeardProgress(peers.talk); heard.of(stream, 2) // { phase: 'folds', done: 120, total: 600 }
 */
export class HeardProgress {
  readonly #heard = new Map<string, { progress: Progress; at: number }>()
  readonly stop: () => void

  constructor(private readonly talk: Peers['talk']) {
    this.stop = talk.onHeard((text) => this.#hear(text))
  }

  of(model: string, version: number): Progress | undefined {
    this.#forgetOld()
    return this.#heard.get(`${model} ${version}`)?.progress
  }

  /** Reports the progress of a training, now and while it runs. Returns a function that ends this. */
  tell({ model, version }: { model: string; version: number }, progress: () => Progress): () => void {
    const say = () => this.talk.say(JSON.stringify({ training: { model, version, ...progress() } }))
    say()
    const timer = setInterval(say, limits.trainingProgressToldMs).unref()
    return () => clearInterval(timer)
  }

  #hear(text: string): void {
    const parsed = said.safeParse(parsedJson(text))
    // Newer releases may send other messages.
    if (!parsed.success) return
    this.#forgetOld()
    const { model, version, ...progress } = parsed.data.training
    this.#heard.set(`${model} ${version}`, { progress, at: performance.now() })
  }

  #forgetOld(): void {
    const since = performance.now() - limits.trainingProgressHeardMs
    for (const [name, { at }] of this.#heard) if (at < since) this.#heard.delete(name)
  }
}

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
