import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { limits } from '../../basics/limits.js'
import type { BlobConnections } from './blob-connections.js'
import type { Objects, StoredObject } from './objects.js'
import { blobDamaged } from './problems.js'

const insertChunk = 'INSERT INTO mindledger.blob_chunks (object, number, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'
const chunksPerDelete = 32
const deleteChunks = `
  DELETE FROM mindledger.blob_chunks WHERE object = $1 AND number IN
    (SELECT number FROM mindledger.blob_chunks WHERE object = $1 ORDER BY number LIMIT ${chunksPerDelete})
  RETURNING number`
const selectChunk = 'SELECT body FROM mindledger.blob_chunks WHERE object = $1 AND number = $2'

/** The parts of a file, each in a buffer of its own. */
async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, 'r')
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(limits.blobChunkBytes), 0, limits.blobChunkBytes)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** The bytes of blobs in PostgreSQL, in chunks: neither side ever holds more than one of them. */
export class PostgresObjects implements Objects {
  readonly place = 'postgres'

  constructor(private readonly connections: BlobConnections) {}

  async write({ id, sha, bytes }: StoredObject, file: string): Promise<void> {
    const hash = createHash('sha256')
    let number = 0
    let length = 0
    for await (const chunk of chunksOf(file)) {
      hash.update(chunk)
      length += chunk.length
      await this.connections.query(insertChunk, [id, number++, chunk], 'insert_chunk')
    }
    if (hash.digest('hex') !== sha || length !== bytes) throw blobDamaged(sha, 'the file to be stored has changed')
  }

  async *read({ id, sha, bytes }: StoredObject): AsyncGenerator<Buffer> {
    let left = bytes
    for (let number = 0; left > 0; number++) {
      const [row] = await this.connections.query<{ body: Buffer }>(selectChunk, [id, number], 'select_chunk')
      if (!row) throw blobDamaged(sha, `the last ${left} of ${bytes} bytes are missing`)
      left -= row.body.length
      yield row.body
    }
  }

  async remove(id: string): Promise<void> {
    // A large blob takes longer than a statement may.
    while ((await this.connections.query(deleteChunks, [id])).length > 0);
  }
}
