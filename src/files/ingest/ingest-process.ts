/**
 * The process that reads one uploaded file. If it runs out of memory, crashes or hangs, only this process ends, not the service. It
 * receives one job, answers once, and ends when its parent does.
 */
import { convert } from './convert.js'
import { ingestJob, type IngestedTable } from './ingest-messages.js'
import { isProblem, errorText } from '../../basics/errors.js'
import { ignoreUserSignals } from '../../basics/user-signals.js'

export type IngestAnswer =
  | { done: IngestedTable }
  | { refused: { code: string; title: string; detail: string; extras: Record<string, unknown> } }
  | { failed: string }

const run = async (message: unknown): Promise<IngestAnswer> => {
  try {
    return { done: await convert(ingestJob.parse(message)) }
  } catch (error) {
    if (isProblem(error)) return { refused: { code: error.code, title: error.title, detail: error.detail, extras: error.extras } }
    return { failed: errorText(error) }
  }
}

ignoreUserSignals()
// Not a clean exit: that would wait for DuckDB, which may be in the middle of some work.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.once('message', (message) => {
  // It exits after the answer, because handles left open by a failed read would keep the process alive.
  void run(message).then((answer) => process.send?.(answer, () => process.exit(0)))
})
