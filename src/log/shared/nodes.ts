import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../../setup/config.js'
import { limits } from '../../basics/limits.js'
import { compareReleases } from '../../setup/version.js'
import { placeOf, refusalToOpen } from './refusal-to-open.js'
import { Link } from './postgres/shared-log-session.js'
import { areThere } from './postgres/tables.js'

/** A node as the others know it. `lag` is how many batches it had not followed at its last beat, or now if it writes nothing more. */
export type KnownNode = {
  /** Stays the same for a data directory. */
  id: string
  /** A new id for each start of the node. */
  run: string
  version: string
  /** Its address; null before it serves. */
  address: string | null
  startedAt: Date
  seenAt: Date
  state: 'alive' | 'stopped' | 'dead'
  position: number
  lag: number
  /** How many events it has that the shared log does not have, because PostgreSQL lost them. */
  ahead: number
  /** If it could not write at its last beat, the reason. */
  unwritable: string | null
}

type Options = {
  link: Pick<Link, 'session'>
  id: string
  run: string
  version: string
  /** The newest batch and event that this node has. */
  place: () => { seq: number; position: number }
  /** If this node cannot write, the reason. */
  unwritable: () => string | undefined
}

/** A beat need not be on the disk when it is answered. */
const quick = `quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))`

/** The time of a row's last beat, in seconds since 1970. */
const seenAt = 'extract(epoch FROM known.seen_at)::float8'

/**
 * A run takes the row of another one that is older than its own last beat: its first beat takes that of the run before, and a later one the
 * row that PostgreSQL has again after it lost beats, with a restored backup or in a failover. A row that a later run took stays.
 */
const beat = `
  WITH ${quick}
  INSERT INTO mindledger.nodes AS known (id, run, version, address, started_at, seen_at, stopped, seq, position, unwritable)
  SELECT $1, $2, $3, $4, clock_timestamp(), clock_timestamp(), $5, $6, $7, $9 FROM quick
  ON CONFLICT (id) DO UPDATE SET
    run = excluded.run, version = excluded.version, address = excluded.address, seen_at = excluded.seen_at,
    started_at = CASE WHEN known.run = excluded.run THEN known.started_at ELSE excluded.started_at END,
    stopped = excluded.stopped, seq = excluded.seq, position = excluded.position, unwritable = excluded.unwritable
  WHERE known.run = excluded.run OR ${seenAt} < $8
  RETURNING ${seenAt} AS "seenAt"`

/** Takes nodes off the list, with their notes of wiped files. A node that comes back notes them again. */
const forgetWhere = (condition: string) => `
  WITH gone AS (DELETE FROM mindledger.nodes WHERE ${condition} RETURNING id),
    notes AS (DELETE FROM mindledger.wipes WHERE node IN (SELECT id FROM gone))
  SELECT id FROM gone`

const forget = forgetWhere('seen_at < clock_timestamp() - make_interval(secs => $1)')

/** A node that runs keeps its row, and so does one that stopped. */
const forgetDead = forgetWhere('id = $1 AND NOT stopped AND seen_at < clock_timestamp() - make_interval(secs => $2)')

const isSilent = `seen_at < clock_timestamp() - make_interval(secs => $1)`

/** A node that beats is heard within this time. */
const quietMs = 2.5 * limits.nodeBeatMs

/** Another run with the same id that beat not long ago, and how long it must still be silent until it counts as ended. */
const twin = `
  SELECT seen_at::text AS seen, address,
    (extract(epoch FROM seen_at + make_interval(secs => $3) - clock_timestamp()) * 1000)::float8 AS "waitMs"
  FROM mindledger.nodes
  WHERE id = $1 AND run <> $2 AND NOT stopped AND seen_at >= clock_timestamp() - make_interval(secs => $3)`

const list = `
  SELECT id, run, version, address, started_at AS "startedAt", seen_at AS "seenAt",
    CASE WHEN stopped THEN 'stopped' WHEN ${isSilent} THEN 'dead' ELSE 'alive' END AS state,
    nodes.position::float8 AS position, greatest(head.seq - nodes.seq, 0)::float8 AS lag,
    greatest(nodes.position - head.position, 0)::float8 AS ahead,
    -- Tables of an older release do not have this column.
    to_jsonb(nodes) ->> 'unwritable' AS unwritable
  FROM mindledger.nodes, mindledger.head ORDER BY started_at, id`

/** All nodes that beat not long ago, the oldest first. @throws UnreachableError */
const listNodes = async (link: Pick<Link, 'session'>): Promise<KnownNode[]> => {
  const session = await link.session()
  return (await session.query<KnownNode>(list, [limits.nodeDeadAfterMs / 1_000])).rows
}

/** Does work on the list of nodes at an address. @throws ConfigError when PostgreSQL cannot be reached, or has no log */
const atLog = async <T>(url: string, work: (link: Link) => Promise<T>): Promise<T> => {
  const link = new Link(url)
  try {
    if (!(await areThere(await link.session())))
      throw new ConfigError(`${placeOf(url)}: this database has no log yet; the first node makes it`)
    return await work(link)
  } catch (error) {
    throw refusalToOpen(error, url)
  } finally {
    await link.close()
  }
}

/**
 * The nodes of the shared log at an address. This process need not be one of them.
 *
 * @example (await shownNodes('postgres://db/ledger'))[0]?.state // 'alive'
 * @throws ConfigError when PostgreSQL cannot be reached, or has no log
 */
export const shownNodes = (url: string): Promise<KnownNode[]> => atLog(url, listNodes)

/**
 * Takes a dead node off the list. If it comes back, its first beat puts it on the list again.
 *
 * @example await forgetNode('postgres://db/ledger', '0190a000-…')
 * @throws ConfigError when it is not dead, or when PostgreSQL cannot be reached or has no log
 */
export const forgetNode = (url: string, id: string): Promise<void> =>
  atLog(url, async (link) => {
    const session = await link.session()
    if ((await session.query(forgetDead, [id, limits.nodeDeadAfterMs / 1_000])).rows.length > 0) return
    const found = (await listNodes(link)).find((node) => node.id === id)
    throw new ConfigError(
      found
        ? `the node ${id} is ${found.state}: only a dead node can be forgotten`
        : `there is no node with the id ${id}: "mindledger nodes" lists them`,
    )
  })

/**
 * The nodes of a shared log. Each reports itself with regular beats. All times are PostgreSQL's, so the clocks of the nodes do not matter.
 *
 * @example const nodes = new Nodes({ link, id, run: randomUUID(), version, place, unwritable }); await nodes.begin(); await nodes.alive() // Set { id }
 */
export class Nodes {
  /** Called once, when another process took this node's id. */
  onReplaced: () => void = () => undefined
  #address: string | null = null
  /** PostgreSQL's time of its last beat, in seconds since 1970. Before the first one, every other run counts as older. */
  #seenAt = Infinity
  /** Since when this node has beaten without a gap, in milliseconds of performance.now(). */
  #unbroken: { since: number; last: number } | undefined
  /** When it last looked for nodes to forget, in milliseconds of performance.now(). */
  #forgottenAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #isReplaced = false

  constructor(private readonly options: Options) {}

  /** The id of this node; it stays the same for a data directory. */
  get id(): string {
    return this.options.id
  }

  /** The id of this run of the node. Work that an earlier run left unfinished has no owner any more. */
  get run(): string {
    return this.options.run
  }

  /** Beats once, and from then on by itself. @throws UnreachableError; ConfigError when another process serves with this id */
  async begin(): Promise<void> {
    await this.#refuseTwin()
    await this.beat()
    this.#wait()
  }

  /** Tells the others the address of this node; with its next beat if PostgreSQL is away now. */
  async serveAt(address: string): Promise<void> {
    this.#address = address
    await this.beat().catch(() => undefined)
  }

  /** A copy of a data directory has the same id as the original. An earlier run of this directory has ended, and no longer beats. */
  async #refuseTwin(): Promise<void> {
    const { link, id, run } = this.options
    let heard: string | undefined
    for (;;) {
      const session = await link.session()
      const [other] = (await session.query<{ seen: string; waitMs: number; address: string | null }>(twin, [id, run, quietMs / 1_000])).rows
      if (!other) return
      if (heard !== undefined && other.seen !== heard)
        throw new ConfigError(
          `another node serves${other.address === null ? '' : ` at ${other.address}`} with the id ${id} of this data directory. If it is a copy, delete its file node.id and start again.`,
        )
      heard = other.seen
      await sleep(Math.max(1, other.waitMs))
    }
  }

  #wait(): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      // While PostgreSQL is away, the other nodes cannot learn of this; the service's own log reports it.
      void this.beat()
        .catch(() => undefined)
        .finally(() => this.#wait())
    }, limits.nodeBeatMs)
    this.#timer.unref()
  }

  /** Tells the others that this node runs, and its position. @throws UnreachableError */
  async beat(): Promise<void> {
    if (this.#isReplaced) return
    if (!(await this.#write(false))) {
      this.#isReplaced = true
      this.onReplaced()
      return
    }
    const now = performance.now()
    const since = this.#unbroken && now - this.#unbroken.last < limits.nodeDeadAfterMs / 2 ? this.#unbroken.since : now
    this.#unbroken = { since, last: now }
    await this.#forgetOld(now)
  }

  /** Takes nodes off the list that were silent for days, now and then, because the others may run for months. */
  async #forgetOld(now: number): Promise<void> {
    if (now - this.#forgottenAt < limits.nodeDeadAfterMs) return
    const session = await this.options.link.session()
    await session.query(forget, [limits.nodeForgottenAfterMs / 1_000])
    this.#forgottenAt = now
  }

  async #write(stopped: boolean): Promise<boolean> {
    const { link, id, run, version, place, unwritable } = this.options
    const session = await link.session()
    const { seq, position } = place()
    const values = [id, run, version, this.#address, stopped, seq, position, this.#seenAt, unwritable() ?? null]
    const [written] = (await session.query<{ seenAt: number }>(beat, values, 'beat')).rows
    this.#seenAt = written?.seenAt ?? this.#seenAt
    return written !== undefined
  }

  /** @throws UnreachableError */
  list(): Promise<KnownNode[]> {
    return listNodes(this.options.link)
  }

  /** The newest release in the list of nodes, if it is newer than that of this node. @throws UnreachableError */
  async newerRelease(): Promise<string | undefined> {
    const known = (await this.list()).map(({ version }) => version).sort(compareReleases)
    return known.findLast((version) => compareReleases(version, this.options.version) > 0)
  }

  /**
   * The ids of the running nodes, beginning with the one that started first. A node is dead when PostgreSQL has not heard of it for
   * `nodeDeadAfterMs`. This node calls no other node dead until it has itself beaten without a gap for that time.
   * @throws UnreachableError
   */
  async alive(): Promise<Set<string>> {
    const known = await this.list()
    const watchedMs = this.#unbroken ? performance.now() - this.#unbroken.since : 0
    const maySay = watchedMs >= limits.nodeDeadAfterMs
    return new Set(known.filter(({ state }) => state === 'alive' || (state === 'dead' && !maySay)).map(({ id }) => id))
  }

  /** Tells the others that this node stops, unless PostgreSQL is away. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    if (!this.#isReplaced) await this.#write(true).catch(() => undefined)
  }
}
