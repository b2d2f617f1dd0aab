import type { AstNode } from '../ast/json.js'
import type { ScoringOptions } from '../scoring/options.js'

/** A SELECT, and one of the tables of its FROM. */
export type Reader = { select: AstNode; ref: AstNode }

/** What surrounds a query inside a statement: where names are looked up, at which position, and which CTEs are in sight. */
export type Scope = {
  db: string
  position: number
  /** The CTEs in sight: what they were called (folded), and their names in the rewritten text. */
  ctes: ReadonlyMap<string, string>
  /** The CTE whose query is read next, in case it is a recursive one. */
  recursive?: [written: string, unique: string]
  /** The recursive CTE whose second part is read, by its unique name: nothing is known of its rows. */
  itself?: string
  /** The same CTEs, rewritten, from the outermost on. */
  entries: readonly AstNode[]
  /** The views that are being expanded, by stream. */
  views: readonly string[]
  /** The SELECT whose FROM is read, outside of the queries in it. */
  select?: AstNode | undefined
  /** The SELECT that reads the rows of the next query, and the place in its FROM where they stand. */
  reader?: Reader | undefined
  /** What the query asks of its models; a view may ask for itself. */
  options: ScoringOptions
}

/** A table of a FROM as it is seen from outside. */
export type Leaf = { ref: AstNode; alias: string; columns: readonly LeafColumn[] }
export type LeafColumn = { name: string; kind: 'number' | 'boolean' | 'time' | 'text' }
