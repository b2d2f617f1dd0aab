/**
 * The timeline of a server, which grows with each promotion of a standby, and the servers among which it counts: those of one address that
 * are copies of each other.
 */
export type ServerTimeline = { servers: string; timeline: number }

/**
 * The highest timeline that this process has met, for all its connections. A cluster that is restored from an older backup counts as replaced
 * until this process starts again.
 */
const highest = new Map<string, number>()

/** Notes the timeline of a server that takes writes. */
export const noteTimeline = ({ servers, timeline }: ServerTimeline): void => {
  highest.set(servers, Math.max(timeline, highest.get(servers) ?? 0))
}

/** Whether another server was promoted since: this one is an old primary that lives on. */
export const isDeposed = ({ servers, timeline }: ServerTimeline): boolean => timeline < (highest.get(servers) ?? 0)
