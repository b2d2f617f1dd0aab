/** A file that was made, its content, and its SHA-256 in hexadecimal. */
export type MadeFile = { path: string; bytes: number; sha256: string }

/** A file of an export and its size, as a manifest names them. */
export type NamedFile = { name: string; bytes: number }

/**
 * The place of an export: files by their names, such as `events/000000000001-000000010000.parquet`. If a place cannot be reached, it throws
 * a ConfigError, which says nothing about the export.
 */
export interface ArchiveStore {
  /** The name of the place in messages: a folder, or `s3://bucket/prefix`. */
  readonly place: string
  /** The names in one of its folders, or at the top (''), with their bytes; -1 for anything but a file. */
  list(folder: string): Promise<ReadonlyMap<string, number>>
  /** The text of a file; undefined when it does not exist. @throws Error when it is not a file, or has more bytes than the limit */
  readText(name: string, maxBytes: number): Promise<string | undefined>
  /** A folder of this machine in which files are made. */
  disk(): string
  /** An empty work folder of this machine, for files that are not complete yet. */
  work(): Promise<string>
  /** Gives a file of the work folder its name, and replaces a file of that name. Resolves when a crash cannot undo it. */
  put(file: MadeFile, name: string): Promise<void>
  remove(name: string): Promise<void>
  /**
   * The paths under which files of the export can be read on this machine during a task; undefined for a missing file. Of a file that is
   * longer than named, the path may have only a part, which is longer, too.
   */
  withFiles<T>(files: readonly NamedFile[], use: (paths: readonly (string | undefined)[]) => Promise<T>): Promise<T>
  /** Removes the work folder. */
  close(): Promise<void>
}
