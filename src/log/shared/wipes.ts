import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Wipes } from '../contract/wipes.js'
import type { Nodes } from './nodes.js'
import type { SharedLogSession } from './postgres/shared-log-session.js'

type Options = {
  way: { session: () => Promise<SharedLogSession> }
  nodes: Pick<Nodes, 'id' | 'alive'>
  /** The chain of this node up to a position. */
  chainAt: (position: number) => Buffer | undefined
  waitMs?: number
}

const onConflict = 'ON CONFLICT (node) DO UPDATE SET position = greatest(known.position, excluded.position)'

const note = `INSERT INTO mindledger.wipes AS known (node, position) VALUES ($1, $2) ${onConflict}`

/** If other events took the place of lost ones, the note would be about these. */
const noteAgain = `
  INSERT INTO mindledger.wipes AS known (node, position)
  SELECT $1, $2::bigint WHERE EXISTS (SELECT FROM mindledger.events WHERE position = $2 AND chain = $3) ${onConflict}`

const lookAgainMs = 100

/**
 * Notes in PostgreSQL up to which position the files of each node are free of erased data.
 *
 * @example await wipes.wiped(812); await wipes.everywhere(812, signal)
 */
export class SharedWipes implements Wipes {
  /** What this node noted last. */
  #wiped = 0

  constructor(private readonly options: Options) {}

  async wiped(position: number): Promise<void> {
    const session = await this.options.way.session()
    await session.query(note, [this.options.nodes.id, position])
    this.#wiped = position
  }

  /**
   * Repeats the last note in a new session: a failover may have lost it and kept the events, and others would wait for this node. If it
   * fails, the next wipe notes it.
   */
  async noteAgain(session: SharedLogSession): Promise<void> {
    if (this.#wiped === 0) return
    try {
      const chain = this.options.chainAt(this.#wiped)
      if (chain) await session.query(noteAgain, [this.options.nodes.id, this.#wiped, chain])
    } catch {
      // The session is opened again, or PostgreSQL is no longer the log of this node.
    }
  }

  async everywhere(position: number, signal: AbortSignal): Promise<void> {
    const until = performance.now() + (this.options.waitMs ?? limits.erasureNodesWaitMs)
    for (;;) {
      const missing = await this.#missing(position).catch(() => undefined)
      if (missing?.length === 0) return
      if (signal.aborted || performance.now() >= until) throw notEverywhere(missing)
      await sleep(lookAgainMs)
    }
  }

  /** The living nodes that have not noted it. @throws UnreachableError */
  async #missing(position: number): Promise<string[]> {
    const alive = await this.options.nodes.alive()
    const session = await this.options.way.session()
    const { rows } = await session.query<{ node: string }>('SELECT node FROM mindledger.wipes WHERE position >= $1', [position])
    const done = new Set(rows.map(({ node }) => node))
    return [...alive].filter((node) => !done.has(node))
  }
}

const notEverywhere = (missing: readonly string[] | undefined): Problem => {
  const where = missing
    ? `these nodes still have it in their files: ${missing.join(', ')}`
    : 'PostgreSQL cannot be asked which nodes have it'
  return new Problem('busy', 'Not yet wiped', `the data is erased and cannot be read any more, but ${where}`, {
    hint: 'They remove it by themselves. Send the request again: the answer comes when all running nodes have done so.',
    retryAfterSeconds: 5,
  })
}
