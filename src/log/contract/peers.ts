import type { Leases } from './leases.js'
import type { Wipes } from './wipes.js'

/** Which nodes have which master keys. Both throw a Problem 503 while that can be neither noted nor found out. */
export interface KeyHolders {
  /** Notes the keys that this node and all its processes have and keep, in the place of those that it noted before. */
  holds(keyIds: readonly string[]): Promise<void>
  /** The ids of living nodes that have not noted it. */
  lacking(keyId: string): Promise<string[]>
}

/** Messages between nodes. They are not stored: a node that is away does not hear them, and no node may rely on them. */
export interface Talk {
  /** Sends a short text to all nodes, including this one, if PostgreSQL can be reached. */
  say(text: string): void
  /** Calls the listener with each text; returns a function that unsubscribes it. */
  onHeard(listener: (text: string) => void): () => void
}

/** The other nodes of a log, and what one node has to agree on with them. */
export type Peers = { leases: Leases; wipes: Wipes; keys: KeyHolders; talk: Talk }
