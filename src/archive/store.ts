/** A file that was made, what it has, and its SHA-256 in hexadecimal. */
export type MadeFile = { path: string; bytes: number; sha256: string }

/**
 * Where an export lies: files by their names, such as `events/000000000001-000000010000.parquet`. What a place throws because it cannot be
 * reached is a ConfigError, which tells nothing of the export.
 */
export interface ArchiveStore {
  /** How messages name it: a folder, or `s3://bucket/prefix`. */
  readonly place: string
  /** The names in one of its folders, or beside them (''), and their bytes; -1 for what is no file. */
  list(folder: string): Promise<ReadonlyMap<string, number>>
  /** The text of a file; undefined when there is none. @throws Error when it is no file, or has more bytes than that */
  readText(name: string, maxBytes: number): Promise<string | undefined>
  /** A folder on the disk of this machine that files are made on. */
  disk(): string
  /** An empty folder of this machine for files on their way. */
  work(): Promise<string>
  /** Gives a file of the work folder its name, in place of what had it. Resolves when a crash loses neither of them. */
  put(file: MadeFile, name: string): Promise<void>
  remove(name: string): Promise<void>
  /** Where files of the export can be read on this machine while something is done with them; undefined for one that is not there. */
  withFiles<T>(names: readonly string[], use: (paths: readonly (string | undefined)[]) => Promise<T>): Promise<T>
  /** Removes the work folder. */
  close(): Promise<void>
}
