import { LRUCache } from 'lru-cache'
import { currentEvent } from '../../../events/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import { answersStream } from '../../../events/records/answers.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { Problem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'

const dayMs = 86_400_000
const eventsAtOnce = 500
const agentsRemembered = 10_000

/** The tokens of one agent on one day (UTC): those that are spent, and those that are reserved for what is under way. */
type Day = { start: number; spent: number; reserved: number }

type Stored = Pick<Log, 'readStream' | 'streamVersion'>

/** The tokens that an agent’s recorded answers and the judges of its evaluations used since a time, read from the newest back. */
const spentSince = async (log: Stored, agent: StreamId, start: number): Promise<number> => {
  const stream = answersStream(agent)
  let spent = 0
  for (let to = await log.streamVersion(stream); to > 0; to -= eventsAtOnce) {
    const after = Math.max(0, to - eventsAtOnce)
    const envelopes = (await log.readStream(stream, after, to - after)).map(({ text }) => parseEnvelope(text))
    for (const envelope of envelopes) {
      if (Date.parse(envelope.recorded_at) < start) continue
      const event = currentEvent(envelope)
      // The agent's own tokens of an evaluation stand in its answers.
      const used = event.type === 'AgentAnswered' ? event.data : event.type === 'AgentEvaluated' ? event.data.judge : null
      spent += (used?.input_tokens ?? 0) + (used?.output_tokens ?? 0)
    }
    if (envelopes[0] && Date.parse(envelopes[0].recorded_at) < start) break
  }
  return spent
}

/** Reserves tokens of the day, and returns what is told how many were used. @throws Problem tokens_spent */
export type ReserveTokens = (tokens: number) => Promise<(used: number) => void>

/**
 * The tokens that agents may use in a day. They are reserved before a language model is asked, and what it did not use is given back. After
 * a start, what was used before is read from the log.
 *
 * @example const settle = await budget.reserve(agent, { tokens: 9_000, most: 1_000_000 }); settle(7_412)
 */
export class TokenBudget {
  readonly #days = new LRUCache<StreamId, { start: number; day: Promise<Day> }>({ max: agentsRemembered })

  constructor(
    private readonly log: Stored,
    private readonly now: () => number = Date.now,
  ) {}

  /** Reserves tokens, and returns a function that is told how many were used. @throws Problem tokens_spent */
  async reserve(agent: StreamId, { tokens, most }: { tokens: number; most: number }): Promise<(used: number) => void> {
    const day = await this.#dayOf(agent)
    if (day.spent + day.reserved + tokens > most) throw this.#spent(day, most)
    day.reserved += tokens
    return (used) => {
      day.reserved -= tokens
      day.spent += used
    }
  }

  #spent({ start, spent, reserved }: Day, most: number): Problem {
    const seconds = Math.max(1, Math.ceil((start + dayMs - this.now()) / 1_000))
    return new Problem(
      'tokens_spent',
      'The tokens of the day are used up',
      `the agent has used ${spent} of its ${most} tokens of this day (UTC), and ${reserved} are reserved for answers under way`,
      { hint: 'Ask again tomorrow, or give the agent more: tokens_per_day, or AGENT_TOKENS_PER_DAY.', retryAfterSeconds: seconds },
    )
  }

  /** Those who ask at the same time share one day. */
  #dayOf(agent: StreamId): Promise<Day> {
    const start = Math.floor(this.now() / dayMs) * dayMs
    const known = this.#days.get(agent)
    if (known?.start === start) return known.day
    const day = spentSince(this.log, agent, start).then((spent): Day => ({ start, spent, reserved: 0 }))
    this.#days.set(agent, { start, day })
    day.catch(() => this.#days.delete(agent))
    return day
  }
}
