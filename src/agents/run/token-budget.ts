import { LRUCache } from 'lru-cache'
import { currentEvent } from '../../../events/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import { answersStream } from '../../../events/records/answers.js'
import { parseEnvelope, type Envelope } from '../../../events/stored/envelope.js'
import { Problem } from '../../basics/errors.js'
import type { TokenUsage } from '../../llm/contract/language-model.js'
import type { Log } from '../../log/contract/log.js'

const dayMs = 86_400_000
const eventsAtOnce = 500
const agentsRemembered = 10_000

/**
 * The tokens of one agent on one day (UTC): those that are spent, by the record up to a version of its stream, and those that answers under
 * way have reserved or used.
 */
type Day = { start: number; version: number; spent: number; held: number; last: Promise<unknown> }

type Stored = Pick<Log, 'readStream' | 'streamVersion'>

/** The tokens that an event of an agent’s answers stands for. The agent's own tokens of an evaluation stand in its answers. */
const tokensIn = (envelope: Envelope): number => {
  const event = currentEvent(envelope)
  const used = event.type === 'AgentAnswered' ? event.data : event.type === 'AgentEvaluated' ? event.data.judge : null
  return (used?.input_tokens ?? 0) + (used?.output_tokens ?? 0)
}

/** The tokens that an agent’s recorded answers and the judges of its evaluations used since a time, read from the newest back. */
const spentSince = async (log: Stored, agent: StreamId, start: number, version: number, newest: number): Promise<number> => {
  const stream = answersStream(agent)
  let spent = 0
  for (let to = newest; to > version; to -= eventsAtOnce) {
    const after = Math.max(version, to - eventsAtOnce)
    const envelopes = (await log.readStream(stream, after, to - after)).map(({ text }) => parseEnvelope(text))
    for (const envelope of envelopes) if (Date.parse(envelope.recorded_at) >= start) spent += tokensIn(envelope)
    if (envelopes[0] && Date.parse(envelopes[0].recorded_at) < start) break
  }
  return spent
}

/** Reserves tokens of the day, and returns what is told how many were used. @throws Problem tokens_spent */
export type ReserveTokens = (tokens: number) => Promise<(used: number) => void>

/** What one answer or one evaluation spends. What it used counts at once, and from its record on by that. */
export type Spending = {
  reserve: ReserveTokens
  /** It is on record with this usage. What no provider told stays an estimate of this process. */
  recorded: (usage: TokenUsage) => void
}

/**
 * The tokens that agents may use in a day, wherever they are asked. They are reserved before a language model is asked, and what it did not
 * use is given back. What was used before a start, and at other nodes, is read from the log.
 *
 * @example
 * const spending = budget.spending(agent, 1_000_000)
 * const settle = await spending.reserve(9_000)
 * settle(7_412)
 * spending.recorded({ input: 7_000, output: 412 })
 */
export class TokenBudget {
  readonly #days = new LRUCache<StreamId, Day>({ max: agentsRemembered })

  constructor(
    private readonly log: Stored,
    private readonly now: () => number = Date.now,
  ) {}

  spending(agent: StreamId, most: number): Spending {
    const used: { of: Day; tokens: number }[] = []
    return {
      reserve: async (tokens) => {
        const of = await this.#dayOf(agent)
        if (of.spent + of.held + tokens > most) throw this.#spent(of, most)
        of.held += tokens
        return (settled) => {
          of.held += settled - tokens
          used.push({ of, tokens: settled })
        }
      },
      recorded: ({ input, output }) => {
        let said = (input ?? 0) + (output ?? 0)
        for (const { of, tokens } of used.splice(0)) {
          of.held -= tokens
          of.spent += Math.max(0, tokens - said)
          said = Math.max(0, said - tokens)
        }
      },
    }
  }

  #spent({ start, spent, held }: Day, most: number): Problem {
    const seconds = Math.max(1, Math.ceil((start + dayMs - this.now()) / 1_000))
    return new Problem(
      'tokens_spent',
      'The tokens of the day are used up',
      `the agent has used ${spent} of its ${most} tokens of this day (UTC), and ${held} are held for answers under way`,
      { hint: 'Ask again tomorrow, or give the agent more: tokens_per_day, or AGENT_TOKENS_PER_DAY.', retryAfterSeconds: seconds },
    )
  }

  /** The day as far as the log is now. Those who ask at the same time read one after the other. */
  async #dayOf(agent: StreamId): Promise<Day> {
    const start = Math.floor(this.now() / dayMs) * dayMs
    const known = this.#days.get(agent)
    const day: Day = known?.start === start ? known : { start, version: 0, spent: 0, held: 0, last: Promise.resolve() }
    if (day !== known) this.#days.set(agent, day)
    const read = day.last.then(async () => {
      const newest = await this.log.streamVersion(answersStream(agent))
      if (newest <= day.version) return
      day.spent += await spentSince(this.log, agent, start, day.version, newest)
      day.version = newest
    })
    day.last = read.catch(() => undefined)
    await read
    return day
  }
}
