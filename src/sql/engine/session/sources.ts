import { NumberText, type AstNode } from '../ast/json.js'
import { locationOf, walk } from '../ast/nodes.js'
import { Problem } from '../../../basics/errors.js'
import type { Translation } from './translation.js'

/** A text to read: its part that is the query, and the view that it belongs to. */
export type Text = { sql: string; within?: { start: number; end: number } | undefined; view?: string }

/** The text that a part of the query comes from: the user's text, or the text of a view, which has a name. */
export type Source = { translation: Translation; view: string | undefined }

/** A place in a source, as an offset in its text. */
export type SourcePlace = { source: Source; offset: number }

/** No text reaches this length, so a location can also hold the number of its text. */
const span = 2 ** 32

/**
 * The texts that form a query. The rewriting mixes their trees. The location of each node tells them apart: it holds the node's text and
 * its place there.
 */
export class Sources {
  private readonly all: Source[] = []
  /** Columns that DuckDB does not know, such as those of models. A name that DuckDB does not find may mean one of them. */
  readonly columns = new Set<string>()

  /** Adds a text, and marks the tree that was read from it. */
  add(source: Source, tree: AstNode): void {
    const base = this.all.push(source) * span
    walk(tree, (node) => {
      const location = locationOf(node)
      if (location !== undefined) node['query_location'] = new NumberText(String(base + location))
      return true
    })
  }

  /** The user's own text, after it has been read. */
  get first(): Source | undefined {
    return this.all[0]
  }

  /** All texts, the user's first. */
  [Symbol.iterator](): IterableIterator<Source> {
    return this.all.values()
  }

  /** The place that a marked location means; undefined for a location in a text of this service. */
  placeOf(location: number): SourcePlace | undefined {
    const source = this.all[Math.floor(location / span) - 1]
    return source && { source, offset: source.translation.userOffset(location % span) }
  }
}

/** Whether a location is in a source, not in a text of this service. */
export const isMarked = (location: number | undefined): location is number => location !== undefined && location >= span

/** A refusal with the part of the query that it is about. */
export class PlacedProblem extends Problem {
  constructor(
    problem: Problem,
    readonly location: number,
  ) {
    super(problem.code, problem.title, problem.detail, problem.extras)
  }
}

/**
 * Runs a function that may refuse a part of a query, and adds that part to the refusal.
 *
 * @example withPlace(ref, () => checkReference(ref))
 */
export const withPlace = <T>(node: AstNode, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw atPlace(error, node)
  }
}

/** The refusal with its part of the query. Other errors, and refusals that already have a place, stay unchanged. */
export const atPlace = (error: unknown, node: AstNode): unknown => {
  const location = locationOf(node)
  if (location === undefined || !(error instanceof Problem) || error instanceof PlacedProblem) return error
  return error.extras['line'] === undefined ? new PlacedProblem(error, location) : error
}

/**
 * A DuckDB error about a text of this service. The text was printed from `tree` (undefined for a text from memory), and `before` bytes
 * precede it in the text that was run.
 */
export class RunError extends Error {
  constructor(
    override readonly cause: unknown,
    readonly text: string,
    readonly tree: AstNode | undefined,
    readonly before = 0,
  ) {
    super('DuckDB refused a rewritten query')
  }
}

/** Runs a text that was printed from a tree, and adds both to any error. */
export const withText = async <T>(text: string, tree: AstNode | undefined, work: () => Promise<T>, before = 0): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof Problem || error instanceof RunError ? error : new RunError(error, text, tree, before)
  }
}
