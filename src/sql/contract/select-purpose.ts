/** The purposes of a SELECT other than its rows. */
export type SelectPurpose =
  /** Its columns, found by planning it: nothing is run. For the query of a view, `ofView` is the view's stream: it must not read itself. */
  | { kind: 'columns'; ofView?: string | undefined }
  /** Its plan. With `analyze` it is run as well, and its rows are dropped. */
  | { kind: 'plan'; analyze: boolean }
  /** Its rows, written as a Parquet file to a path; behind the rows of the table `after`, when there is one. */
  | { kind: 'file'; path: string; after?: TableBefore | undefined }

/** The table that rows are added to: its content, its columns, and which of them the rows are for, in their order (null: all). */
export type TableBefore = { content: string; columns: readonly { name: string; type: string }[]; into: readonly string[] | null }
