import { predictionsStream } from '../../events/predictions.js'
import { parseEnvelope, type Envelope } from '../../events/envelope.js'
import type { StoredEvent } from './log.js'

/** What an export is made of: a log of at least `size` events, its tree, and who signs for it. */
export type ExportSource = {
  logId: string
  /** Events after a position, in order. */
  read: (after: number, limit: number) => StoredEvent[] | Promise<StoredEvent[]>
  /** The hashes of the fewest complete subtrees over the leaves [from, to). */
  subtrees: (from: number, to: number) => Buffer[]
  /** The signed head of a size, as a note. */
  checkpoint: (size: number) => string
  /** The verifier key. */
  key: string
}

export type ExportOptions = {
  /** How many events, from the first. What is written meanwhile has no part in the export. */
  size: number
  /** The stream of the project whose events alone are shown; those of all without one. */
  project?: { stream: string; name: string }
  /** Sizes of heads kept elsewhere: what is left out is divided there, so that these heads can be compared, too. */
  splits?: readonly number[]
}

const pageEvents = 500

/**
 * Which events belong to a project: its own, those of the resources that were created in it, also deleted ones, those of
 * their predictions, and those that concern the log itself. The first event of a stream decides: no resource moves.
 */
class Membership {
  readonly #streams: Set<string>

  constructor(private readonly project: string) {
    this.#streams = new Set(['log', project])
  }

  has({ stream, data }: Envelope): boolean {
    if (this.#streams.has(stream)) return true
    if (data['project'] !== this.project) return false
    this.#streams.add(stream)
    this.#streams.add(predictionsStream(stream as never))
    return true
  }
}

/**
 * Lines of an export for the offline verifier, some at a time: a header, then the text of each event, or the hashes of the
 * subtrees over those that are left out.
 *
 * @example for await (const lines of exportLines(source, { size: 100 })) process.stdout.write(lines)
 */
export async function* exportLines(source: ExportSource, { size, project, splits = [] }: ExportOptions): AsyncGenerator<string> {
  const header = { mindledger_export: 1, log: source.logId, project: project?.name ?? null, size }
  yield `${JSON.stringify({ ...header, checkpoint: source.checkpoint(size), key: source.key })}\n`
  const members = project && new Membership(project.stream)
  const ends = [...new Set([...splits.filter((at) => at > 0 && at < size), size])].sort((a, b) => a - b)
  let shown = 0
  for (let position = 0; position < size;) {
    const events = await source.read(position, Math.min(pageEvents, size - position))
    const last = events.at(-1)
    if (!last) throw new Error(`the log ends at position ${position}, the export was to have ${size} events`)
    let lines = ''
    for (const { position: at, text } of events) {
      if (members && !members.has(parseEnvelope(text))) continue
      lines += `${omitted(source, shown, at - 1, ends)}${text}\n`
      shown = at
    }
    position = last.position
    if (lines !== '') yield lines
  }
  yield omitted(source, shown, size, ends)
}

/** Lines in the place of the leaves [from, to), divided at these ends. */
const omitted = (source: ExportSource, from: number, to: number, ends: readonly number[]): string => {
  if (from === to) return ''
  const end = Math.min(to, ends.find((at) => at > from) ?? to)
  const subtrees = source.subtrees(from, end).map((hash) => hash.toString('base64'))
  return `${JSON.stringify({ omitted: { from: from + 1, to: end, subtrees } })}\n${omitted(source, end, to, ends)}`
}
