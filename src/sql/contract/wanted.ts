/** What is wanted of a SELECT instead of its rows. */
export type Wanted =
  /** Its columns, found by planning it: nothing is run. `ofView` is the stream of the view that it is to be of, which it may not read. */
  | { kind: 'columns'; ofView?: string | undefined }
  /** How it is answered; with `analyze` it is run, and its rows are thrown away. */
  | { kind: 'plan'; analyze: boolean }
  /** What keeps it from giving the same rows when it is run again; it is planned, not run. */
  | { kind: 'chances' }
  /** Its rows as a Parquet file at a path; behind the rows of the table `after` when there is one. */
  | { kind: 'file'; path: string; after?: TableBefore | undefined }

/** The table that rows are added to: its content, its columns, and which of them the rows are for, in their order (null: all). */
export type TableBefore = { content: string; columns: readonly { name: string; type: string }[]; into: readonly string[] | null }
