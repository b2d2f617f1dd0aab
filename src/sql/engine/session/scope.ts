import type { AstNode } from '../ast/json.js'
import type { ScoringOptions } from '../scoring/options.js'

/** A SELECT, and one of the tables of its FROM. */
export type Reader = { select: AstNode; ref: AstNode }

/** The context of a query inside a statement: the database for its names, the position, and the visible CTEs. */
export type Scope = {
  db: string
  position: number
  /** The visible CTEs: their names in the text (folded), and their names in the rewritten text. */
  ctes: ReadonlyMap<string, string>
  /** The CTE whose query is read next, in case it is recursive. */
  recursive?: [written: string, unique: string]
  /** The recursive CTE whose second part is being read, by its unique name. The columns of its rows are still unknown. */
  itself?: string
  /** The visible CTEs, rewritten, the outermost first. */
  entries: readonly AstNode[]
  /** The views that are being expanded, by stream. */
  views: readonly string[]
  /** The SELECT whose FROM is being read, except the queries in that FROM. */
  select?: AstNode | undefined
  /** The SELECT that reads the rows of the next query, and the place of that query in its FROM. */
  reader?: Reader | undefined
  /** The options that the query gives its models; a view may have its own options. */
  options: ScoringOptions
}

/** A table of a FROM as the rest of the query sees it. */
export type Leaf = { ref: AstNode; alias: string; columns: readonly LeafColumn[] }
export type LeafColumn = { name: string; kind: 'number' | 'float' | 'boolean' | 'time' | 'text' }
