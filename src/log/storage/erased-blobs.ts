import { logStream } from '../../../events/records/log.js'
import { erasedBlobsOf } from '../../../events/catalogue/references.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { openForReading } from './schema.js'

/** Finds the blobs that were erased after a position. */
export type ErasedSince = (position: number) => Promise<ReadonlySet<string>>

/** The blobs that these events erased. The events are read one at a time, as many as are asked for. */
export function* erasedIn(texts: Iterable<string>): Generator<string, void, void> {
  for (const text of texts) {
    const { type, data } = parseEnvelope(text)
    yield* erasedBlobsOf(type, data)
  }
}

/** The blobs that a log's file knows as erased after a position. An erasure is in the log before its bytes are gone. */
export const erasedInFile = (logFile: string, position: number): ReadonlySet<string> => {
  const db = openForReading(logFile)
  try {
    // Most erasures name no blobs, and may be many.
    const texts = db
      .prepare<[string, number], string>(`SELECT text FROM events WHERE stream = ? AND position > ? AND instr(text, '"blobs":[]') = 0`)
      .pluck()
    return new Set(erasedIn(texts.iterate(logStream, position)))
  } finally {
    db.close()
  }
}
