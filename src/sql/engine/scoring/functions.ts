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
import { perInstance } from '../connection/connection.js'
import { doubles, rawItems } from '../../encode/vectors.js'
import { inChunk, inputColumns } from './input-columns.js'
import { RowMemo } from './row-memo.js'
import { fieldsOf, type AnyModel, type ArgumentKind, type BoundModel, type Extent, type ScoringModel } from './scoring-model.js'

/** A model as one query uses it. The registered function holds none, so that models can leave memory. */
type Use = { number: number; name: string; bound: BoundModel; scorer: ChunkScorer | undefined; memo: RowMemo; calls: number }

/**
 * One query's use of models: how many rows of each it may score inside their functions, and which it scored.
 * `uses` holds them by model and shape. `seen` counts the functions there were when its transaction began: it sees no later ones.
 */
export type Run = { limit: number; uses: Map<string, Use>; gaveUp: boolean; seen: number }

const gaveUp = 'too many rows to score inside the query'

/** How long a scoring may keep others waiting, and the rows it scores at least. */
const turnMs = 3
const leastRowsPerTurn = 16

/** Buffers for one model's chunks, and the way from columns to numbers. */
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

  /** Where a memo holds the numbers of each row of a chunk; rows that it does not know are scored, at most `most` in all. */
  placesIn(memo: RowMemo, chunk: DuckDBDataChunk, first: number, most: number): Int32Array | undefined {
    this.encode(chunk, first)
    const known = memo.size
    const places = Int32Array.from({ length: chunk.rowCount }, (_, row) => memo.placeOf(this.features, row))
    if (memo.size > most) return undefined
    if (memo.size > known) this.predict(memo.featuresFrom(known), memo.size - known, memo.resultsFrom(known))
    return places
  }

  /**
   * The numbers of a chunk's rows, row by row, valid until the next call; `first` is the first input's column. Scored a few
   * milliseconds at a time: other queries of this process get their turn in between, however many trees the model has. How many rows fit is learned as it goes; the numbers do not depend on it.
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
 * The scalar functions by which queries of one DuckDB instance reach models. DuckDB keeps each for good: there is one for a
 * shape of arguments and results, however many models have it, and its first argument is the number of a run's use of one.
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

  /** Ends a run, whose uses of models are gone. */
  end(run: Run): void {
    for (const { number } of run.uses.values()) this.uses.delete(number)
  }

  /** Says that a run has begun another transaction, which sees all functions there are. */
  renew(run: Run): void {
    run.seen = this.registered.size
  }

  /** The connection that functions are registered on. A failure to open it is not kept: the next caller tries again. */
  private connected(): Promise<DuckDBConnection> {
    return (this.admin ??= this.instance.connect().catch((error: unknown) => {
      this.admin = undefined
      throw error
    }))
  }

  /** How many functions there are. */
  get size(): number {
    return this.registered.size
  }

  /**
   * How a run reaches a model: a function's name, the number that is its first argument, and whether it is younger than the
   * run's transaction, which then does not see it. DuckDB may call it more than once for a row; the run's memo answers then.
   */
  async reach(run: Run, bound: BoundModel, shape: FunctionShape): Promise<{ name: string; number: number; fresh: boolean }> {
    const admin = await this.connected()
    const fields = fieldsOf(bound.model, shape.extent)
    const key = `${shape.kinds.map((kind) => kind.charAt(0)).join('')} ${fields.length}`
    const { name, order } = this.registered.get(key) ?? { name: `ledger_score_${this.size + 1}`, order: this.size + 1 }
    if (order > this.size) {
      admin.registerScalarFunction(this.create(name, fields, shape))
      this.registered.set(key, { name, order })
    }
    const { number } = this.use(run, bound, shape, name)
    return { name, number, fresh: order > run.seen }
  }

  private use(run: Run, bound: BoundModel, { kinds, extent }: FunctionShape, name: string): Use {
    const key = [bound.artefact, bound.stream, bound.version, ...kinds, extent, bound.level].join(' ')
    const known = run.uses.get(key)
    if (known) return known
    const { model } = bound
    // A model that has to be waited for gives up at the first row. The query then runs again, with its rows scored before it.
    const scorer = isRemote(model) ? undefined : new ChunkScorer({ ...bound, model }, extent)
    const memo = new RowMemo(isRemote(model) ? 1 : model.width, model.outputWidth)
    const use = { number: ++this.lastUse, name, bound, scorer, memo, calls: 0 }
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

/** What a function is given, and how much it answers. */
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

/** Replaces NaN, which says that a model does not know, by NULL: in SQL NaN is a number, the largest one. */
export const hideUnknown = (vector: DuckDBVector, items: Float64Array, rows: number): void => {
  if (!(vector instanceof DuckDBDoubleVector)) return
  for (let row = 0; row < rows; row++) if (Number.isNaN(items[row])) vector.setItem(row, null)
}

/** The model functions of an instance; they live as long as it does. */
export const modelFunctions = perInstance((instance) => new ModelFunctions(instance))
