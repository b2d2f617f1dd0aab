import { limits } from '../../../basics/limits.js'
import type { OnnxProcess } from './process.js'

/** The processes of imported models, in order of last use. When there are too many, the least recently used ones end. */
export class OnnxProcesses {
  readonly #known = new Set<OnnxProcess>()

  constructor(private readonly most: number = limits.onnxProcessesMax) {}

  /** Marks a model's process as recently used. Busy processes are never ended to make room. */
  use(process: OnnxProcess): void {
    this.#known.delete(process)
    for (const known of this.#known) if (!known.isRunning && !known.isBusy) this.#known.delete(known)
    for (const known of this.#known) {
      if (this.#known.size < this.most) break
      if (known.isBusy) continue
      known.end()
      this.#known.delete(known)
    }
    this.#known.add(process)
  }
}
