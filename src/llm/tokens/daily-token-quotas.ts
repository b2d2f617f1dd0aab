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

/** Reserves tokens of the day, and returns a function that takes the number of used ones. @throws Problem tokens_spent */
export type ReserveTokens = (tokens: number) => Promise<(used: number) => void>

/** The spending of one answer, evaluation or search. Used tokens count at once, and later by the record. */
export type Spending = {
  reserve: ReserveTokens
  /** It is recorded with this usage, and with estimates that are on record. Other unknown counts stay an estimate of this process. */
  recorded: (usage: TokenUsage) => void
}

type Options = {
  /** The owner of the days in words (`the agent`), and a hint for a day without tokens. */
  whose: string
  hint: string
  /** Updates the spent tokens from the record. */
  read: (of: StreamId, day: DaySpending) => Promise<void>
  now?: () => number
}

/**
 * The quotas of agents, or of projects: the tokens that each may use in a day. They are reserved before a language model is asked, and
 * unused ones are given back. Tokens from before a start, and of other nodes, are read from the log.
 *
 * @example
 * const spending = agentTokenQuotas(log).spending(agent, 1_000_000)
 * const settle = await spending.reserve(9_000)
 * settle(7_412)
 * spending.recorded({ input: 7_000, output: 412 })
 */
export class DailyTokenQuotas {
  readonly #days = new LRUCache<StreamId, Day>({ max: remembered })
  readonly #now: () => number

  constructor(private readonly options: Options) {
    this.#now = options.now ?? Date.now
  }

  /** The spending of one answer of an agent or a project. @param most the tokens of a day (UTC) in all */
  spending(of: StreamId, most: number): Spending {
    const used: { day: Day; tokens: number }[] = []
    return {
      reserve: async (tokens) => {
        const day = await this.#dayOf(of)
        if (day.spent + day.untold + day.held + tokens > most) throw this.#over(day, most)
        day.held += tokens
        return (settled) => {
          day.held += settled - tokens
          used.push({ day, tokens: settled })
        }
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

  #over({ start, spent, untold, held }: Day, most: number): Problem {
    const { whose, hint } = this.options
    const seconds = Math.max(1, Math.ceil((start + dayMs - this.#now()) / 1_000))
    return new Problem(
      'tokens_spent',
      'The tokens of the day are used up',
      `${whose} has used ${spent + untold} of its ${most} tokens of this day (UTC), and ${held} are held for what is under way`,
      { hint, retryAfterSeconds: seconds },
    )
  }

  /** The day as far as the log is now. Those who ask at the same time read one after the other. */
  async #dayOf(of: StreamId): Promise<Day> {
    const start = Math.floor(this.#now() / dayMs) * dayMs
    const known = this.#days.get(of)
    const day: Day = known?.start === start ? known : { start, version: 0, spent: 0, untold: 0, held: 0, last: Promise.resolve() }
    if (day !== known) this.#days.set(of, day)
    const read = day.last.then(() => this.options.read(of, day))
    day.last = read.catch(() => undefined)
    await read
    return day
  }
}

/** Spends without a limit. */
export const unlimited: Spending = { reserve: () => Promise.resolve(() => undefined), recorded: () => undefined }

/** The spending for a project, on the project's day. */
export type SpendingOfProject = (project: StreamId) => Spending

/** Spends on several days at once: the agent's and its project's. */
export const spendingOfAll = (all: readonly Spending[]): Spending => ({
  reserve: async (tokens) => {
    const settles: ((used: number) => void)[] = []
    try {
      for (const { reserve } of all) settles.push(await reserve(tokens))
    } catch (error) {
      for (const settle of settles) settle(0)
      throw error
    }
    return (used) => settles.forEach((settle) => settle(used))
  },
  recorded: (usage) => all.forEach(({ recorded }) => recorded(usage)),
})
