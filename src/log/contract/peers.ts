import type { Leases } from './leases.js'
import type { Wipes } from './wipes.js'

/** Which nodes have which master keys. */
export interface KeyHolders {
  /** Notes that this node and all its processes have a key. */
  holds(keyId: string): Promise<void>
  /** The ids of living nodes that have not noted it. */
  lacking(keyId: string): Promise<string[]>
}

/** The other nodes of a log, as far as one has to agree with them. */
export type Peers = { leases: Leases; wipes: Wipes; keys: KeyHolders }
