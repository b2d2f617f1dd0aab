import {
  DOUBLE,
  DuckDBDoubleVector,
  DuckDBScalarFunction,
  DuckDBStructVector,
  INTEGER,
  STRUCT,
  VARCHAR,
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBInstance,
  type DuckDBVector,
} from '@duckdb/node-api'
import { limits } from '../../../basics/limits.js'
import { isRemote } from '../../../models/engines/contract/remote.js'
import { perInstance } from '../duckdb-connection/duckdb-connection.js'
import { doubles, rawItems } from '../../encode/vectors.js'
import { inChunk, inputColumns } from './input-columns.js'
import { RowMemo } from './row-memo.js'
import { fieldsOf, type AnyModel, type ArgumentKind, type BoundModel, type Extent, type ScoringModel } from './scoring-model.js'

/**
 * A model in one query. The registered function holds no model, so that models can leave memory. `isServed` says that its rows are recorded
 * one by one, so they are not counted.
 */
type Use = {
  number: number
  name: string
  bound: BoundModel
  isServed: boolean
  scorer: ChunkScorer | undefined
  memo: RowMemo
  calls: number
}

/**
 * The models of one query: the number of rows of each that may be scored inside its function, and the models that were used. `uses` holds
 * them by model and shape. `seen` is the number of functions at the beginning of its transaction, which sees no later functions.
 */
export type Run = { limit: number; uses: Map<string, Use>; gaveUp: boolean; seen: number }

const gaveUp = 'too many rows to score inside the query'

/** The longest time in which a scoring keeps other queries waiting, and the smallest number of rows in one turn. */
const turnMs = 3
const leastRowsPerTurn = 16

/** Buffers for one model's chunks, and the conversion from columns to numbers. */
export class ChunkScorer {
  private features = new Float64Array(0)
  private out = new Float64Array(0)
  private rowsPerTurn = leastRowsPerTurn

  private readonly predict: ScoringModel['predictPoints']

  constructor(
    private readonly bound: BoundModel & { model: ScoringModel },
    extent: Extent,
  ) {
    const { model, level } = bound
    this.predict = extent === 'all' ? (features, rows, out) => model.predictBatch(features, rows, out, level) : model.predictPoints
  }

  /** The places in a memo with the numbers of each row of a chunk. Rows that are not in the memo are scored, at most `most` in all. */
  placesIn(memo: RowMemo, chunk: DuckDBDataChunk, first: number, most: number): Int32Array | undefined {
    this.encode(chunk, first)
    const known = memo.size
    const places = Int32Array.from({ length: chunk.rowCount }, (_, row) => memo.placeOf(this.features, row))
    if (memo.size > most) return undefined
    if (memo.size > known) this.predict(memo.featuresFrom(known), memo.size - known, memo.resultsFrom(known))
    return places
  }

  /**
   * The numbers of a chunk's rows, row by row, valid until the next call; `first` is the first input's column. Each turn takes a few
   * milliseconds. Other queries of this process run between the turns, however many trees the model has. The number of rows in a turn is
   * adjusted to the measured time; it does not affect the numbers.
   */
  async scoreInTurns(chunk: DuckDBDataChunk, first: number): Promise<Float64Array> {
    const { model } = this.bound
    this.encode(chunk, first)
    for (let from = 0; from < chunk.rowCount;) {
      const began = performance.now()
      const to = Math.min(chunk.rowCount, from + this.rowsPerTurn)
      const features = this.features.subarray(from * model.width, to * model.width)
      this.predict(features, to - from, this.out.subarray(from * model.outputWidth, to * model.outputWidth))
      const perRow = (performance.now() - began) / (to - from)
      this.rowsPerTurn = Math.max(leastRowsPerTurn, Math.min(chunk.rowCount, Math.floor(turnMs / perRow)))
      from = to
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    return this.out
  }

  private encode(chunk: DuckDBDataChunk, first: number): void {
    const { model } = this.bound
    const rows = chunk.rowCount
    if (this.out.length < rows * model.outputWidth) {
      this.features = new Float64Array(rows * model.width)
      this.out = new Float64Array(rows * model.outputWidth)
    }
    try {
      model.encodeColumns(inputColumns(chunk, first, model.inputs.length), rows, this.features)
    } catch (error) {
      throw inChunk(this.bound.label, error)
    }
  }
}

/**
 * The scalar functions through which queries of one DuckDB instance use models. DuckDB never removes a function. So all models with one
 * shape of arguments and results share a function. Its first argument is the number of a model's use in a run.
 */
export class ModelFunctions {
  private readonly registered = new Map<string, { name: string; order: number }>()
  private readonly uses = new Map<number, { run: Run; use: Use }>()
  private admin: Promise<DuckDBConnection> | undefined
  private lastUse = 0

  constructor(private readonly instance: DuckDBInstance) {}

  /** Begins a run, which may use models until `end`. */
  begin(limit: number): Run {
    return { limit, uses: new Map<string, Use>(), gaveUp: false, seen: this.registered.size }
  }

  /** Ends a run and removes its uses of models. */
  end(run: Run): void {
    for (const { number } of run.uses.values()) this.uses.delete(number)
  }

  /** Notes that a run has begun another transaction, which sees all existing functions. */
  renew(run: Run): void {
    run.seen = this.registered.size
  }

  /** The connection for registering functions. If it cannot be opened, the next caller tries again. */
  private connected(): Promise<DuckDBConnection> {
    return (this.admin ??= this.instance.connect().catch((error: unknown) => {
      this.admin = undefined
      throw error
    }))
  }

  /** The number of functions. */
  get size(): number {
    return this.registered.size
  }

  /**
   * The function for a model in a run: its name, the number that is its first argument, and whether it is newer than the run's transaction,
   * which then does not see it. DuckDB may call it more than once for a row; the run's memo then answers.
   */
  async reach(
    run: Run,
    bound: BoundModel,
    shape: FunctionShape,
    isServed: boolean,
  ): Promise<{ name: string; number: number; fresh: boolean }> {
    const admin = await this.connected()
    const fields = fieldsOf(bound.model, shape.extent)
    const key = `${shape.kinds.map((kind) => kind.charAt(0)).join('')} ${fields.length}`
    const { name, order } = this.registered.get(key) ?? { name: `ledger_score_${this.size + 1}`, order: this.size + 1 }
    if (order > this.size) {
      admin.registerScalarFunction(this.create(name, fields, shape))
      this.registered.set(key, { name, order })
    }
    const { number } = this.use(run, bound, shape, isServed, name)
    return { name, number, fresh: order > run.seen }
  }

  private use(run: Run, bound: BoundModel, { kinds, extent }: FunctionShape, isServed: boolean, name: string): Use {
    const key = [bound.artefact, bound.stream, bound.version, ...kinds, extent, bound.level, isServed].join(' ')
    const known = run.uses.get(key)
    if (known) return known
    const { model } = bound
    // A model in another process fails at the first row here. The query then runs again, with its rows scored before it.
    const scorer = isRemote(model) ? undefined : new ChunkScorer({ ...bound, model }, extent)
    const memo = new RowMemo(isRemote(model) ? 1 : model.width, model.outputWidth)
    const use = { number: ++this.lastUse, name, bound, isServed, scorer, memo, calls: 0 }
    run.uses.set(key, use)
    this.uses.set(use.number, { run, use })
    return use
  }

  private create(name: string, fields: string[], { kinds }: FunctionShape): DuckDBScalarFunction {
    return DuckDBScalarFunction.create({
      name,
      parameterTypes: [INTEGER, ...kinds.map((kind) => (kind === 'number' ? DOUBLE : VARCHAR))],
      returnType: STRUCT(Object.fromEntries(fields.map((field) => [field, DOUBLE]))),
      specialHandling: true,
      mainFunction: (_info, input, output) => {
        if (input.rowCount === 0) return
        const { bound, memo, places } = this.score(input)
        writeScores(memo.results, places, bound.model, fields.length, output)
      },
    })
  }

  private score(input: DuckDBDataChunk): Use & { places: Int32Array } {
    const found = this.uses.get(Number(rawItems(input.getColumnVector(0))?.[0]))
    if (!found) throw new Error('the query has ended')
    const { run, use } = found
    use.calls += input.rowCount
    const places = use.calls > limits.modelInsideMaxCalls ? undefined : use.scorer?.placesIn(use.memo, input, 1, run.limit)
    if (places) return { ...use, places }
    run.gaveUp = true
    throw new Error(gaveUp)
  }
}

/** The arguments of a function, and the amount of its output. */
export type FunctionShape = { kinds: readonly ArgumentKind[]; extent: Extent }

const writeScores = (
  scores: Float64Array,
  places: Int32Array,
  { outputWidth, partial }: AnyModel,
  fields: number,
  output: DuckDBVector,
): void => {
  if (!(output instanceof DuckDBStructVector)) throw new TypeError('a model function returns a STRUCT')
  for (let field = 0; field < fields; field++) {
    const vector = output.entryVectorAt(field)
    const items = doubles(vector)
    for (let row = 0; row < places.length; row++) items[row] = scores[(places[row] ?? 0) * outputWidth + field] ?? NaN
    if (partial) hideUnknown(vector, items, places.length)
  }
  output.flush()
}

/** Replaces NaN, with which the model says that it has no value, with NULL: in SQL, NaN is a number, the largest one. */
export const hideUnknown = (vector: DuckDBVector, items: Float64Array, rows: number): void => {
  if (!(vector instanceof DuckDBDoubleVector)) return
  for (let row = 0; row < rows; row++) if (Number.isNaN(items[row])) vector.setItem(row, null)
}

/** The model functions of an instance; they live as long as it does. */
export const modelFunctions = perInstance((instance) => new ModelFunctions(instance))
