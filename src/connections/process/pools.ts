import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Connection } from '../contract/requests.js'
import type { Surroundings } from '../engines/contract/engine.js'
import { engineOf } from '../engines/engines.js'
import { Pool } from './pool.js'

/** The pools of all connections. A connection whose parameters have changed gets a new pool; the old one ends with its last statement. */
export class Pools {
  readonly #pools = new Map<string, { version: number; pool: Pool }>()

  constructor(private readonly around: Surroundings) {}

  /** @throws Problem busy when too many connections are in use */
  of(connection: Connection): Pool {
    const { id, version } = connection
    const known = this.#pools.get(id)
    if (known?.version === version) return known.pool
    known?.pool.close()
    this.#pools.delete(id)
    if (this.#pools.size >= limits.connectionPoolsMax) this.#dropOne()
    const pool = new Pool(() => engineOf(connection.engine).connect(connection, this.around))
    this.#pools.set(id, { version, pool })
    return pool
  }

  forget(id: string): void {
    this.#pools.get(id)?.pool.close()
    this.#pools.delete(id)
  }

  #dropOne(): void {
    const idle = [...this.#pools].filter(([, { pool }]) => pool.isIdle).sort(([, one], [, other]) => one.pool.usedAt - other.pool.usedAt)
    const [oldest] = idle
    if (!oldest) throw new Problem('busy', 'Too many connections', `${this.#pools.size} connections are in use`, { retryAfterSeconds: 1 })
    this.forget(oldest[0])
  }
}
