import type { Leases } from './leases.js'
import type { Wipes } from './wipes.js'

/** Which nodes have which master keys. */
export interface KeyHolders {
  /** Notes that this node and all its processes have a key. */
  holds(keyId: string): Promise<void>
  /** The ids of living nodes that have not noted it. */
  lacking(keyId: string): Promise<string[]>
}

/** Logins that hold at every node, by the hash of their token. */
export interface Logins {
  add(login: string, actor: string, maxAgeMs: number): Promise<void>
  /** Undefined for one that is not known, or has ended. */
  actorOf(login: string): Promise<string | undefined>
  remove(login: string): Promise<void>
}

/** The other nodes of a log, as far as one has to agree with them. */
export type Peers = { leases: Leases; wipes: Wipes; keys: KeyHolders; logins: Logins }
