import { LRUCache } from 'lru-cache'
import { setImmediate } from 'node:timers/promises'
import { streamId, type StreamId } from '../../../events/common.js'
import { instant, parseEnvelope, readKind, type Envelope } from '../../../events/stored/envelope.js'
import { limits } from '../../basics/limits.js'
import type { Log } from '../../log/contract/log.js'
import { firstRecordedFrom } from '../../log/read/bisect.js'
import { lastKnown } from '../../log/read/last-known.js'
import { tokensIn, tokenTypes } from './recorded-tokens.js'
import { DailyTokenQuotas, unlimited, type SpendingOfProject, type DaySpending } from './daily-token-quotas.js'

type ReadableLog = Pick<Log, 'head' | 'readAll' | 'readStream' | 'resources' | 'now'>

const ownersRemembered = 10_000

/** The owner of an event's tokens: an agent or a knowledge base. */
const ownerIn = ({ data }: Envelope): { kind: 'agent' | 'knowledge_base'; stream: StreamId } => {
  const agent = streamId.safeParse(data['agent'])
  if (agent.success) return { kind: 'agent', stream: agent.data }
  return { kind: 'knowledge_base', stream: streamId.parse(data['knowledge_base']) }
}

/** The tokens that everything of each project used today, by the log. All projects share one walk over the events of the day. */
class Today {
  #start = -1
  #position = -1
  readonly #spent = new Map<StreamId, number>()
  #last: Promise<unknown> = Promise.resolve()
  readonly #projects = new LRUCache<StreamId, StreamId>({ max: ownersRemembered })

  constructor(private readonly log: ReadableLog) {}

  async read(project: StreamId, day: DaySpending): Promise<void> {
    const walk = this.#last.then(() => this.#walk(day.start))
    this.#last = walk.catch(() => undefined)
    await walk
    day.spent = this.#spent.get(project) ?? 0
  }

  async #walk(start: number): Promise<void> {
    const { position: head } = await this.log.head()
    if (this.#position < 0) this.#position = (await firstRecordedFrom(this.log, instant(start), head)) - 1
    if (start > this.#start) this.#spent.clear()
    this.#start = start
    while (this.#position < head) {
      const slice = await this.log.readAll(this.#position, limits.eventSliceMaxEvents, limits.eventSliceMaxChars)
      const last = slice.at(-1)
      if (!last) return
      for (const { text } of slice) if (tokenTypes.has(readKind(text)?.type ?? '')) await this.#add(parseEnvelope(text))
      this.#position = last.position
      await setImmediate()
    }
  }

  async #add(envelope: Envelope): Promise<void> {
    if (Date.parse(envelope.recorded_at) < this.#start) return
    const project = await this.#projectOf(envelope)
    if (project !== undefined) this.#spent.set(project, (this.#spent.get(project) ?? 0) + tokensIn(envelope))
  }

  /** The project of the user of the tokens, which may be deleted. */
  async #projectOf(envelope: Envelope): Promise<StreamId | undefined> {
    const { kind, stream } = ownerIn(envelope)
    const known = this.#projects.get(stream)
    if (known !== undefined) return known
    const project = (await lastKnown(this.log, kind, stream))?.state.project
    if (project !== undefined) this.#projects.set(stream, project)
    return project
  }
}

/**
 * The tokens that projects may spend in a day: for all answers of their agents, for judges, for searches in their knowledge bases, and for
 * the vectors of inserts. The days are those of the log's clock. Without a limit nothing is counted.
 *
 * @example spendingOfProjects(log, 50_000_000)(project)
 */
export const spendingOfProjects = (log: ReadableLog, most: number | undefined): SpendingOfProject => {
  if (most === undefined) return () => unlimited
  const today = new Today(log)
  const quotas = new DailyTokenQuotas({
    whose: 'the project',
    more: 'projects more: PROJECT_TOKENS_PER_DAY',
    read: (project, day) => today.read(project, day),
    now: () => log.now(),
  })
  return (project) => quotas.spending(project, most)
}
