import { once } from 'node:events'
import type { DuckDBDataChunk } from '@duckdb/node-api'
import { inChunk, inputColumns } from './input-columns.js'
import type { BoundModel, RemoteModel } from './scoring-model.js'

/** Scores chunks with a model that runs in a separate process. */
export class RemoteScorer {
  constructor(
    private readonly bound: BoundModel & { model: RemoteModel },
    private readonly signal: AbortSignal,
  ) {}

  /**
   * The numbers of a chunk's rows, row by row; `first` is the first input's column. A stopped query does not wait for the model. It gets
   * zeros, and must not use them.
   */
  async score(chunk: DuckDBDataChunk, first: number): Promise<Float64Array> {
    const { model, label } = this.bound
    const done = new AbortController()
    const stopped = once(this.signal, 'abort', { signal: done.signal })
    stopped.catch(() => undefined)
    const scores = model.predictColumns(inputColumns(chunk, first, model.inputs.length), chunk.rowCount)
    // If the query was stopped, nobody waits for this result.
    scores.catch(() => undefined)
    try {
      await Promise.race([scores, stopped])
      return this.signal.aborted ? new Float64Array(chunk.rowCount * model.outputWidth) : await scores
    } catch (error) {
      throw inChunk(label, error)
    } finally {
      done.abort()
    }
  }
}
