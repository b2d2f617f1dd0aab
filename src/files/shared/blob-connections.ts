import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { limits } from '../../basics/limits.js'
import { Link, UnreachableError, type SharedLogSession } from '../../log/shared/postgres/shared-log-session.js'
import { blobsAway } from './problems.js'

type BlobConnection = { link: Link; waiting: number }

/**
 * Connections to PostgreSQL for blobs only, so that a large blob never makes a write to the log wait. Each statement is a transaction of
 * its own, and may be sent twice.
 *
 * @example const connections = new BlobConnections('postgres://db/ledger')
 */
export class BlobConnections {
  readonly #connections: readonly BlobConnection[]

  constructor(url: string) {
    this.#connections = Array.from({ length: limits.blobConnectionsMax }, () => ({ link: new Link(url), waiting: 0 }))
  }

  /**
   * Runs a statement that has the same effect once and twice. It is tried again for a while when the connection is lost.
   * @throws Problem storage_failed
   */
  async query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[] = [], name?: string): Promise<R[]> {
    return this.#patiently(async (session) => {
      const { rows } = await session.query<R>(text, values, name)
      // Data that a standby does not have may be lost, so it is not acknowledged.
      session.checkReplicated()
      return rows
    })
  }

  /** Runs several statements, which have no values. @throws Problem storage_failed */
  async statements(text: string): Promise<void> {
    await this.#patiently(async (session) => {
      try {
        await session.query(text)
      } catch (error) {
        // An open transaction is rolled back.
        session.destroy()
        throw error
      }
    })
  }

  async #patiently<T>(work: (session: SharedLogSession) => Promise<T>): Promise<T> {
    const until = performance.now() + limits.blobPatienceMs
    for (;;)
      try {
        return await this.#once(work)
      } catch (error) {
        if (!(error instanceof UnreachableError) || performance.now() > until) throw blobsAway('PostgreSQL', error)
        await sleep(20 + Math.random() * 80)
      }
  }

  async #once<T>(work: (session: SharedLogSession) => Promise<T>): Promise<T> {
    const connection = this.#connections.reduce((least, each) => (each.waiting < least.waiting ? each : least))
    connection.waiting += 1
    try {
      return await work(await connection.link.session())
    } finally {
      connection.waiting -= 1
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map(({ link }) => link.close()))
  }
}
