/** The stored bytes of a blob. Each upload has an id of its own, so that two uploads of the same bytes do not disturb each other. */
export type StoredObject = { id: string; sha: string; bytes: number }

/**
 * A place for the bytes of blobs. The place does not know which blobs are complete, or still needed: the register knows that.
 *
 * @example
 * await objects.write({ id, sha, bytes }, file)
 * for await (const chunk of objects.read({ id, sha, bytes })) hash.update(chunk)
 */
export interface Objects {
  /** How the register names the place: `postgres`, or `s3://bucket/prefix`. */
  readonly place: string
  /** Stores a file. Resolves when all its bytes are safe from a crash. @throws Problem storage_failed */
  write(object: StoredObject, file: string): Promise<void>
  /** The bytes in order, a part at a time. @throws Problem storage_failed, even when a part is missing */
  read(object: StoredObject): AsyncIterable<Buffer>
  /** Removes the bytes, if there are any. @throws Problem storage_failed */
  remove(id: string): Promise<void>
}
