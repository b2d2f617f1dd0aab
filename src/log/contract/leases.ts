/** The right to do one thing. At most one node has it at a time. */
export interface Lease {
  readonly name: string
  /** A number that grows with every lease: the work of an earlier holder has a lower one. */
  readonly epoch: number
  /** How many holders before this one lost it instead of giving it back. */
  readonly losses: number
  /** Whether this node still has it, by its own clock. It ends here before another node can have it. */
  readonly isHeld: boolean
  /** Aborts when the lease is lost. Work that must not run on two nodes at the same time then stops. */
  readonly lost: AbortSignal
  /** Gives the lease back once its work has ended, even if the lease was lost. */
  release(): Promise<void>
}

/** Distributes work among the nodes that share a log. */
export interface Leases {
  /** Whether other nodes may have leases. If not, every lease is granted and none is lost. */
  readonly areShared: boolean
  /**
   * The lease of this name, which is renewed as long as it is held. Undefined while another node or other work of this node holds it, or
   * when that cannot be found out. A node with the lease reads everything that earlier holders wrote.
   *
   * @example
   * const lease = await leases.take('retention')
   * try { if (lease) await erase(lease.lost) } finally { await lease?.release() }
   */
  take(name: string): Promise<Lease | undefined>
}

/** The leases of a process whose log no other node shares. */
export const soleLeases: Leases = {
  areShared: false,
  take: (name) =>
    Promise.resolve({ name, epoch: 1, losses: 0, isHeld: true, lost: new AbortController().signal, release: () => Promise.resolve() }),
}

/**
 * The same leases, for work that needs something of its node. While the node lacks it, other nodes may have the work. A single process keeps
 * its work.
 *
 * @example const leases = leasesWhile(peers.leases, () => sqlProcess.isReady)
 */
export const leasesWhile = (leases: Leases, canWork: () => boolean): Leases =>
  leases.areShared ? { areShared: true, take: async (name) => (canWork() ? leases.take(name) : undefined) } : leases
