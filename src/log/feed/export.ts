import { foldName } from '../../../events/common.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { logStream } from '../../../events/records/log.js'
import { EventProjects, type ReadFirst } from './event-project.js'
import type { StoredEvent } from '../contract/log.js'
import { readEvent, type ReadEvent } from '../read/slices.js'

/** The source of an export: a log of at least `size` events, its tree, and its signer. */
export type ExportSource = {
  logId: string
  /** Events after a position, in order: at most `limit`, and at least one if there are any. */
  read: (after: number, limit: number) => Promise<StoredEvent[]>
  /** The first event of a stream. */
  first: ReadFirst
  /** The hashes of the fewest complete subtrees over the leaves [from, to). */
  subtrees: (from: number, to: number) => Promise<Buffer[]>
  /** The hashes of the leaves [from, to) as the tree has them. */
  leaves: (from: number, to: number) => Promise<Buffer[]>
  /** The signed head of a size, as a note. */
  checkpoint: (size: number) => Promise<string>
  /** The verifier key. */
  key: string
}

export type ExportOptions = {
  /** How many events, from the first. Events written meanwhile are not in the export. */
  size: number
  /** The project whose events are shown; without one, those of all projects are. */
  project?: { stream: string; name: string }
  /** Sizes of heads kept elsewhere: omitted ranges are divided there, so that these heads can be compared, too. */
  splits?: readonly number[]
}

const pageEvents = 500

/**
 * The last project that had this name, among the first `size` events; it may have been renamed or deleted since. Returns the name as
 * it was written.
 */
export const projectCalled = async (
  read: ExportSource['read'],
  name: string,
  size: number,
): Promise<{ stream: string; name: string } | undefined> => {
  const wanted = foldName(name)
  let found: { stream: string; name: string } | undefined
  for (let position = 0; position < size;) {
    const events = await read(position, Math.min(pageEvents, size - position))
    for (const { text } of events) {
      if (!text.includes('"type":"Project')) continue
      const { stream, type, data } = parseEnvelope(text)
      const given = type === 'ProjectCreated' || type === 'ProjectRenamed' ? data['name'] : undefined
      if (typeof given === 'string' && foldName(given) === wanted) found = { stream, name: given }
    }
    position += events.length || size
  }
  return found
}

/**
 * The lines of an export for the offline verifier, some at a time: a header, then the text of each event, or the hashes of the
 * subtrees over those that are omitted. The leaf hashes of consecutive events stand before them, so that the verifier can name a
 * changed line. With a project, its own events and those of the log itself are shown.
 *
 * @example for await (const lines of exportLines(source, { size: 100 })) process.stdout.write(lines)
 */
export async function* exportLines(source: ExportSource, { size, project, splits = [] }: ExportOptions): AsyncGenerator<string> {
  const header = { mindledger_export: 2, log: source.logId, project: project?.name ?? null, size }
  yield `${JSON.stringify({ ...header, checkpoint: await source.checkpoint(size), key: source.key })}\n`
  const projects = new EventProjects((stream) => source.first(stream))
  const isShown = async (event: ReadEvent) => !project || event.stream === logStream || (await projects.of(event)) === project.stream
  const ends = [...new Set([...splits.filter((at) => at > 0 && at < size), size])].sort((a, b) => a - b)
  let shown = 0
  for (let position = 0; position < size;) {
    const events = await source.read(position, Math.min(pageEvents, size - position))
    const last = events.at(-1)
    if (!last) throw new Error(`the log ends at position ${position}, the export was to have ${size} events`)
    let lines = ''
    const wanted: StoredEvent[] = []
    for (const event of events.map(readEvent)) if (await isShown(event)) wanted.push(event)
    for (const run of runsOf(wanted)) {
      lines += (await omitted(source, shown, run.from, ends)) + (await listed(source, run))
      shown = run.to
    }
    position = last.position
    if (lines !== '') yield lines
  }
  const rest = await omitted(source, shown, size, ends)
  if (rest !== '') yield rest
}

type Run = { from: number; to: number; texts: string[] }

/** Runs of events without a gap: the leaves [from, to). */
const runsOf = (events: readonly StoredEvent[]): Run[] => {
  const runs: Run[] = []
  for (const { position, text } of events) {
    let run = runs.at(-1)
    if (run?.to !== position - 1) runs.push((run = { from: position - 1, to: position - 1, texts: [] }))
    run.texts.push(text)
    run.to = position
  }
  return runs
}

/** The line of the leaf hashes, then the texts of the events. */
const listed = async (source: ExportSource, { from, to, texts }: Run): Promise<string> => {
  const hashes = Buffer.concat(await source.leaves(from, to)).toString('base64')
  return [JSON.stringify({ leaves: { from: from + 1, to, hashes } }), ...texts].map((line) => `${line}\n`).join('')
}

/** The lines in place of the omitted leaves [from, to), divided at these ends. */
const omitted = async (source: ExportSource, from: number, to: number, ends: readonly number[]): Promise<string> => {
  let lines = ''
  for (let begin = from; begin < to;) {
    const after = begin
    const end = Math.min(to, ends.find((at) => at > after) ?? to)
    const subtrees = (await source.subtrees(begin, end)).map((hash) => hash.toString('base64'))
    lines += `${JSON.stringify({ omitted: { from: begin + 1, to: end, subtrees } })}\n`
    begin = end
  }
  return lines
}
