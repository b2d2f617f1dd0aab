import { LRUCache } from 'lru-cache'
import { sha256 } from '../../events/stored/chain.js'
import { inTime } from '../basics/concurrency/bounded-waits.js'
import { isProblem, Problem, type ProblemCode } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { Metadata, MetadataAnswer } from './contract/messages.js'
import type { Connection } from './contract/requests.js'

const silent = (): Problem =>
  new Problem('connection_failed', 'No answer', 'The database did not list its tables soon enough', {
    hint: 'A query that names the connection waits longer, and says what is wrong.',
  })

/** Problems that do not come from a database that is silent: it answered, or was not asked. */
const notSilent: ReadonlySet<ProblemCode> = new Set(['busy', 'not_found', 'query_failed', 'refused_statement', 'wrong_arguments'])

const versionKey = ({ id, version }: Connection): string => `${id}\0${version}`

/** A statement may be long, so its hash is the key. */
const metadataKey = (connection: Connection, of: Metadata): string =>
  `${versionKey(connection)}\0${sha256(JSON.stringify(of)).toString('base64')}`

type Ask = (connection: Connection, of: Metadata) => Promise<MetadataAnswer>

/**
 * The tables and columns of connected databases, remembered for a while. While a statement runs that may change the tables of a connection,
 * nothing of this connection is remembered.
 *
 * @example await new RememberedLists(ask).of(connection, { tables: true })
 */
export class RememberedLists {
  readonly #known = new LRUCache<string, Promise<MetadataAnswer>>({ max: 1_000, ttl: limits.connectionMetadataMaxAgeMs })
  /** The long lists; only a few are kept. */
  readonly #lists = new LRUCache<string, Promise<MetadataAnswer>>({ max: 8, ttl: limits.connectionMetadataMaxAgeMs })
  /** The connections that did not list their tables soon enough, with the reason. */
  readonly #silent = new LRUCache<string, Problem>({ max: 1_000, ttl: limits.connectionSilentMaxAgeMs })
  /** The number of running statements that write, by connection. */
  readonly #writing = new Map<string, number>()

  constructor(private readonly ask: Ask) {}

  /** A remembered answer, or that of the database. @throws Problem */
  of(connection: Connection, of: Metadata): Promise<MetadataAnswer> {
    if (this.#writing.has(connection.id)) return this.ask(connection, of)
    const [key, cache] = [metadataKey(connection, of), this.#cacheOf(of)]
    const known = cache.get(key)
    if (known) return known
    const asked = this.ask(connection, of)
    cache.set(key, asked)
    // All waiting callers get a failure, and it is not remembered.
    asked.then(
      () => this.#silent.delete(versionKey(connection)),
      () => cache.delete(key),
    )
    return asked
  }

  /**
   * The same for a list over all connections, which waits only a short time for each. A slow connection is not asked again for a while.
   * @throws Problem
   */
  async soon(connection: Connection, of: Metadata): Promise<MetadataAnswer> {
    const key = versionKey(connection)
    const known = this.#silent.get(key)
    if (known && !this.#cacheOf(of).has(metadataKey(connection, of))) throw known
    try {
      const answer = await inTime(this.of(connection, of), limits.connectionListedWaitMs, undefined)
      if (answer) return answer
      throw silent()
    } catch (error) {
      if (isProblem(error) && !notSilent.has(error.code)) this.#silent.set(key, error)
      throw error
    }
  }

  /** Notes the beginning of a statement that writes. Returns the function for its end. */
  writes(id: string): () => void {
    this.#writing.set(id, (this.#writing.get(id) ?? 0) + 1)
    return () => {
      const left = (this.#writing.get(id) ?? 1) - 1
      if (left > 0) this.#writing.set(id, left)
      else this.#writing.delete(id)
      this.forget(id)
    }
  }

  /** Forgets what is remembered of a connection. */
  forget(id: string): void {
    for (const cache of [this.#known, this.#lists]) for (const key of [...cache.keys()]) if (key.startsWith(`${id}\0`)) cache.delete(key)
  }

  #cacheOf(of: Metadata): LRUCache<string, Promise<MetadataAnswer>> {
    return 'everyColumn' in of ? this.#lists : this.#known
  }
}
