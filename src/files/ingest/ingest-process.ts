/**
 * The process that reads one uploaded file: it may run out of memory, crash or never end, and is killed then without
 * harm to the service. It is told one job, answers once, and ends when its parent does.
 */
import { convert } from './convert.js'
import { ingestJob, type Ingested } from './ingest-messages.js'
import { isProblem } from '../../basics/errors.js'

export type IngestAnswer =
  { done: Ingested } | { refused: { code: string; title: string; detail: string; extras: Record<string, unknown> } } | { failed: string }

const run = async (message: unknown): Promise<IngestAnswer> => {
  try {
    return { done: await convert(ingestJob.parse(message)) }
  } catch (error) {
    if (isProblem(error)) return { refused: { code: error.code, title: error.title, detail: error.detail, extras: error.extras } }
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

// Not an exit in good order: that would wait for DuckDB, which may be in the middle of anything.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.once('message', (message) => {
  // Told its answer, nobody waits for what a failed reading left open, which would keep the process alive.
  void run(message).then((answer) => process.send?.(answer, () => process.exit(0)))
})
