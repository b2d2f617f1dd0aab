import { LRUCache } from 'lru-cache'
import type { StreamId } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import type { TokenUsage } from '../contract/language-model.js'
import { tokensUsed } from './token-usage.js'

const dayMs = 86_400_000
const remembered = 10_000

/** The recorded tokens of one agent or project on one day (UTC), up to a version of the stream. */
export type DaySpending = { readonly start: number; version: number; spent: number }

/**
 * The tokens of a day. `untold` estimates recorded uses without a number; `held` has the tokens that running work has reserved or used.
 */
type Day = DaySpending & { untold: number; held: number; last: Promise<unknown> }

/** Reserved tokens. `left`: what the day had left, with these. `settle` takes the number of used ones. */
export type ReservedTokens = { tokens: number; left: number; settle: (used: number) => void }

/** Reserves tokens of the day: all of them, or, if the day has fewer left, `least` or more. @throws Problem tokens_spent */
export type ReserveTokens = (tokens: number, least?: number) => Promise<ReservedTokens>

/** The spending of one answer, evaluation or search. Used tokens count at once, and later by the record. */
export type Spending = {
  reserve: ReserveTokens
  /** It is recorded with this usage, and with estimates that are on record. Other unknown counts stay an estimate of this process. */
  recorded: (usage: TokenUsage) => void
}

type Options = {
  /** The owner of the days in words (`the agent`), and how it gets more tokens. */
  whose: string
  more: string
  /** Updates the spent tokens from the record. */
  read: (of: StreamId, day: DaySpending) => Promise<void>
  /** The time of the log, in milliseconds since 1970: days must be those of the recorded times, on every node. */
  now: () => number
}

/**
 * The quotas of agents, or of projects: the tokens that each may use in a day. They are reserved before a language model is asked, and
 * unused ones are given back. Tokens from before a start, and of other nodes, are read from the log.
 *
 * @example
 * const spending = agentTokenQuotas(log).spending(agent, 1_000_000)
 * const { settle } = await spending.reserve(9_000)
 * settle(7_412)
 * spending.recorded({ input: 7_000, output: 412 })
 */
export class DailyTokenQuotas {
  readonly #days = new LRUCache<StreamId, Day>({ max: remembered })

  constructor(private readonly options: Options) {}

  /** The spending of one answer of an agent or a project. @param most the tokens of a day (UTC) in all */
  spending(of: StreamId, most: number): Spending {
    const used: { day: Day; tokens: number }[] = []
    return {
      reserve: async (wanted, least = wanted) => {
        const day = await this.#dayOf(of)
        const left = most - day.spent - day.untold - day.held
        if (left < least) throw this.#over(day, most, least)
        const tokens = Math.min(wanted, left)
        day.held += tokens
        const settle = (settled: number) => {
          day.held += settled - tokens
          used.push({ day, tokens: settled })
        }
        return { tokens, left, settle }
      },
      recorded: (usage) => {
        let said = tokensUsed(usage)
        for (const { day, tokens } of used.splice(0)) {
          day.held -= tokens
          day.untold += Math.max(0, tokens - said)
          said = Math.max(0, said - tokens)
        }
      },
    }
  }

  #over({ start, spent, untold, held }: Day, most: number, least: number): Problem {
    const { whose, more } = this.options
    if (least > most)
      return new Problem(
        'tokens_spent',
        'The tokens of a day are too few',
        `${whose} has ${most} tokens a day (UTC), and this needs ${least}`,
        {
          hint: `Give ${more}.`,
        },
      )
    const seconds = Math.max(1, Math.ceil((start + dayMs - this.options.now()) / 1_000))
    return new Problem(
      'tokens_spent',
      'The tokens of the day are used up',
      `${whose} has used ${spent + untold} of its ${most} tokens of this day (UTC), ${held} are held for what is under way, and this needs ${least}`,
      { hint: `Ask again tomorrow, or give ${more}.`, retryAfterSeconds: seconds },
    )
  }

  /** The day as far as the log is now. Those who ask at the same time read one after the other. */
  async #dayOf(of: StreamId): Promise<Day> {
    const start = Math.floor(this.options.now() / dayMs) * dayMs
    const known = this.#days.get(of)
    const day: Day = known?.start === start ? known : { start, version: 0, spent: 0, untold: 0, held: 0, last: Promise.resolve() }
    if (day !== known) this.#days.set(of, day)
    const read = day.last.then(() => this.options.read(of, day))
    day.last = read.catch(() => undefined)
    await read
    return day
  }
}

/** Reserves as many tokens as are asked for. */
export const reserveAll: ReserveTokens = (tokens) => Promise.resolve({ tokens, left: Infinity, settle: () => undefined })

/** Spends without a limit. */
export const unlimited: Spending = { reserve: reserveAll, recorded: () => undefined }

/** The spending for a project, on the project's day. */
export type SpendingOfProject = (project: StreamId) => Spending

/** Spends on several days at once: the agent's and its project's. */
export const spendingOfAll = (all: readonly Spending[]): Spending => ({
  reserve: async (wanted, least = wanted) => {
    const parts: ReservedTokens[] = []
    const settle = (used: number) => parts.forEach((part) => part.settle(used))
    let tokens = wanted
    try {
      for (const { reserve } of all) {
        const part = await reserve(tokens, least)
        parts.push(part)
        tokens = part.tokens
      }
    } catch (error) {
      settle(0)
      throw error
    }
    return { tokens, left: Math.min(...parts.map(({ left }) => left)), settle }
  },
  recorded: (usage) => all.forEach(({ recorded }) => recorded(usage)),
})
