import type { KeyHolders } from '../contract/peers.js'
import type { Nodes } from './nodes.js'
import { UnreachableError, type SharedLogSession } from './postgres/shared-log-session.js'
import { away } from './problems.js'

type Options = { way: { session: () => Promise<SharedLogSession> }; nodes: Pick<Nodes, 'id' | 'run' | 'alive' | 'list'> }

/** A key that was sent to a node is gone when its process ends: it belongs to a run, not to the node. */
const note = `
  INSERT INTO mindledger.key_holders (run, key_id) SELECT $1::text, unnest($2::text[]) ON CONFLICT DO NOTHING`

const forget = `
  DELETE FROM mindledger.key_holders WHERE CASE WHEN run = $1::text THEN key_id <> ALL ($2::text[])
    ELSE NOT EXISTS (SELECT FROM mindledger.nodes WHERE nodes.run = key_holders.run) END`

/** @throws Problem 503 while PostgreSQL is away */
const reached = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask()
  } catch (error) {
    throw error instanceof UnreachableError ? away() : error
  }
}

/**
 * Which runs of nodes have which master keys, in PostgreSQL. Only the ids of keys are stored there.
 *
 * @example await holders.holds(vault.keptKeyIds); await holders.lacking(vault.keyId) // []
 */
export class SharedKeyHolders implements KeyHolders {
  constructor(private readonly options: Options) {}

  holds(keyIds: readonly string[]): Promise<void> {
    return reached(async () => {
      const session = await this.options.way.session()
      const { run } = this.options.nodes
      await session.query(note, [run, keyIds])
      await session.query(forget, [run, keyIds])
    })
  }

  lacking(keyId: string): Promise<string[]> {
    return reached(() => this.#lacking(keyId))
  }

  async #lacking(keyId: string): Promise<string[]> {
    const { nodes, way } = this.options
    const [alive, known] = [await nodes.alive(), await nodes.list()]
    const session = await way.session()
    const { rows } = await session.query<{ run: string }>('SELECT run FROM mindledger.key_holders WHERE key_id = $1', [keyId])
    const holders = new Set(rows.map(({ run }) => run))
    return known.filter(({ id, run }) => alive.has(id) && !holders.has(run)).map(({ id }) => id)
  }
}
