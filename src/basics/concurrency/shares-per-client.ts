import { Problem } from '../errors.js'
import { limits, type LimitName } from '../limits.js'

type ShareOptions = {
  /** The purpose of the places: `uploads`. */
  what: string
  hint?: string
  /** The name of the limit of all places. */
  max: LimitName
  /** The owners of a place: the limit of each, and the owner in words, which is ` of this client` by default. */
  shares: readonly { max: LimitName; whose?: string }[]
  /** Other limits, for tests. */
  bounds?: Partial<Record<LimitName, number>>
}

/**
 * Places for long-lasting work. Each client has at most its share, so that no client takes all places. A place may count for several
 * owners, for example for an agent and for its project.
 *
 * @example
 * const shares = new SharesPerClient({ what: 'streams of events', max: 'eventStreamsMax', shares: [{ max: 'eventStreamsPerClientMax' }] })
 * const release = shares.take('address 203.0.113.7')
 */
export class SharesPerClient {
  /** The places that each owner has taken, in the order of the shares. */
  readonly #byOwner: readonly Map<string, number>[]
  #taken = 0

  constructor(private readonly options: ShareOptions) {
    this.#byOwner = options.shares.map(() => new Map())
  }

  /**
   * Takes a place for all of its owners, in the order of the shares, or for none of them. Returns a function that releases it.
   *
   * @throws Problem 503 when an owner has no place left, or there is none
   */
  take(...owners: readonly string[]): () => void {
    const { max, shares } = this.options
    shares.forEach(({ max: most, whose = ' of this client' }, i) => {
      if ((this.#byOwner[i]?.get(owners[i] ?? '') ?? 0) >= this.#bound(most)) throw this.#busy(most, whose)
    })
    if (this.#taken >= this.#bound(max)) throw this.#busy(max)
    this.#count(owners, 1)
    return () => this.#count(owners, -1)
  }

  #bound(limit: LimitName): number {
    return this.options.bounds?.[limit] ?? limits[limit]
  }

  #busy(limit: LimitName, whose = ''): Problem {
    const { what, hint } = this.options
    return new Problem('busy', 'Busy', `${this.#bound(limit)} ${what}${whose} are under way (${limit})`, {
      ...(hint !== undefined && { hint }),
      retryAfterSeconds: 5,
    })
  }

  #count(owners: readonly string[], by: 1 | -1): void {
    this.#taken += by
    this.#byOwner.forEach((taken, i) => {
      const owner = owners[i] ?? ''
      const ofOwner = (taken.get(owner) ?? 0) + by
      if (ofOwner === 0) taken.delete(owner)
      else taken.set(owner, ofOwner)
    })
  }
}
