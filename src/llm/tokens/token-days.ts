import { LRUCache } from 'lru-cache'
import type { StreamId } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import type { TokenUsage } from '../contract/language-model.js'
import { tokensUsed } from './usage.js'

const dayMs = 86_400_000
const remembered = 10_000

/** What the record says of one agent or one project on one day (UTC): the tokens that it spent, up to a version of what was read. */
export type DaySpending = { readonly start: number; version: number; spent: number }

/**
 * The tokens of a day. `untold` are those that are on record without a number, and `held` those that what is under way has reserved or
 * used.
 */
type Day = DaySpending & { untold: number; held: number; last: Promise<unknown> }

/** Reserves tokens of the day, and returns what is told how many were used. @throws Problem tokens_spent */
export type ReserveTokens = (tokens: number) => Promise<(used: number) => void>

/** What one answer, one evaluation or one search spends. What it used counts at once, and from its record on by that. */
export type Spending = {
  reserve: ReserveTokens
  /** It is on record with this usage. What no provider told stays an estimate of this process. */
  recorded: (usage: TokenUsage) => void
}

type Options = {
  /** Whose days they are, and what to do when one is over: `the agent`. */
  whose: string
  hint: string
  /** Brings what is spent up to date with the record. */
  read: (of: StreamId, day: DaySpending) => Promise<void>
  now?: () => number
}

/**
 * The tokens that agents, or projects, may use in a day. They are reserved before a language model is asked, and what it did not use is
 * given back. What was used before a start, and at other nodes, is read from the log.
 *
 * @example
 * const spending = daysOfAgents(log).spending(agent, 1_000_000)
 * const settle = await spending.reserve(9_000)
 * settle(7_412)
 * spending.recorded({ input: 7_000, output: 412 })
 */
export class TokenDays {
  readonly #days = new LRUCache<StreamId, Day>({ max: remembered })
  readonly #now: () => number

  constructor(private readonly options: Options) {
    this.#now = options.now ?? Date.now
  }

  /** What one answer of an agent or a project may spend. @param most the tokens of a day (UTC), whoever spends them */
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

/** Spends of no day: there is no limit. */
export const unlimited: Spending = { reserve: () => Promise.resolve(() => undefined), recorded: () => undefined }

/** What is spent for a project, whose day it counts in. */
export type SpendingOfProject = (project: StreamId) => Spending

/** Spends of several days at once: of an agent's and of its project's. */
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
