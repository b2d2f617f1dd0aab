/** The purposes of a SELECT whose rows are not the answer. */
export type SelectPurpose =
  /**
   * Its columns: it is planned but not run. For the query of a view, `ofView` is the view's stream, because the view must not read itself.
   */
  | { kind: 'columns'; ofView?: string | undefined }
  /** Its plan. With `analyze` it is also run, and its rows are dropped. */
  | { kind: 'plan'; analyze: boolean }
  /**
   * Its rows in a Parquet file at a path, after the rows of the table `after` if there is one. For rows that replace those of a file, the
   * answer has the content of that file, if the query reads it as it is now.
   */
  | { kind: 'file'; path: string; after?: TableBefore; replaces?: string }

/** The table that gets the rows: its content, its columns, and the target columns of the rows in their order (null: all columns). */
export type TableBefore = { content: string; columns: readonly { name: string; type: string }[]; into: readonly string[] | null }
