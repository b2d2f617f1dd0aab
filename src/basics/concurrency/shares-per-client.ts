import { Problem } from '../errors.js'
import { limits, type LimitName } from '../limits.js'

type ShareOptions = {
  /** The purpose of the places: `uploads`. */
  what: string
  /** The owner of a share, in words; ` of this client` by default. */
  whose?: string
  hint?: string
  /** The names of the limits: of all places, and of those of one client. */
  max: LimitName
  perClientMax: LimitName
  /** Other limits, for tests. */
  bounds?: Partial<Record<LimitName, number>>
}

/**
 * Places for long-lasting work. Each client has at most its share, so that no client takes all places.
 *
 * @example
 * const shares = new SharesPerClient({ what: 'streams of events', max: 'eventStreamsMax', perClientMax: 'eventStreamsPerClientMax' })
 * const release = shares.take('address 203.0.113.7')
 */
export class SharesPerClient {
  readonly #byClient = new Map<string, number>()
  #taken = 0

  constructor(private readonly options: ShareOptions) {}

  /** Takes a place, and returns a function that releases it. @throws Problem 503 when there is none */
  take(client: string): () => void {
    const { max, perClientMax } = this.options
    const ofClient = this.#byClient.get(client) ?? 0
    if (ofClient >= this.#bound(perClientMax)) throw this.#busy(perClientMax, this.options.whose ?? ' of this client')
    if (this.#taken >= this.#bound(max)) throw this.#busy(max)
    this.#count(client, 1)
    return () => this.#count(client, -1)
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

  #count(client: string, by: 1 | -1): void {
    this.#taken += by
    const ofClient = (this.#byClient.get(client) ?? 0) + by
    if (ofClient === 0) this.#byClient.delete(client)
    else this.#byClient.set(client, ofClient)
  }
}
