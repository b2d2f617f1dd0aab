/** The bytes of a blob where they are kept: each upload has an id of its own, so that two of the same bytes never meet. */
export type StoredObject = { id: string; sha: string; bytes: number }

/**
 * A place for the bytes of blobs. It knows neither which of them are whole nor who needs them: the register does.
 *
 * @example
 * await objects.write({ id, sha, bytes }, file)
 * for await (const chunk of objects.read({ id, sha, bytes })) hash.update(chunk)
 */
export interface Objects {
  /** How the register names the place: `postgres`, or `s3://bucket/prefix`. */
  readonly place: string
  /** Stores a file. Resolves when all its bytes are where a crash does not lose them. @throws Problem storage_failed */
  write(object: StoredObject, file: string): Promise<void>
  /** The bytes in order, a part at a time. @throws Problem storage_failed, also when a part is missing */
  read(object: StoredObject): AsyncIterable<Buffer>
  /** Removes the bytes, as far as there are any. @throws Problem storage_failed */
  remove(id: string): Promise<void>
}
