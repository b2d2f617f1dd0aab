import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import Database from 'better-sqlite3'
import pg from 'pg'
import { retryWhileBusy } from '../../../src/basics/concurrency/retry.js'
import { undoAll } from '../../../src/basics/undo.js'
import { Ledger } from '../../../src/commands/ledger.js'
import type { Peers } from '../../../src/log/contract/peers.js'
import { SharedLeases } from '../../../src/log/shared/leases.js'
import type { Nodes } from '../../../src/log/shared/nodes.js'
import { Link } from '../../../src/log/shared/postgres/shared-log-session.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { Vault } from '../../../src/vault/vault.js'
import type { Postgres } from '../connections/postgres.js'
import { whenReached } from '../until.js'
import type { LogServer } from './each-log.js'
import { temporaryDirectory, testKey } from './log.js'

/** A node of a shared log, without its server. */
export type Node = {
  log: SharedLog
  ledger: Ledger
  vault: Vault
  leases: SharedLeases
  /** The name of the node in its leases. */
  holder: string
  nodes: Nodes
  peers: Peers
  directory: string
  file: string
  url: string
  reopen: () => Promise<void>
}

/** The duration of a lease. No test waits for its end, and none must lose it because the machine is busy. */
const times = { leaseMs: 40_000, renewIntervalMs: 100, marginMs: 10_000 }

type LeaseOptions = Partial<Pick<ConstructorParameters<typeof SharedLeases>[0], 'elapsed' | 'mayWrite' | 'canWrite' | 'times'>>

/** The leases of a node, under a separate name, with a function that closes them and their connection. */
export const openLeases = (
  url: string,
  newest: () => Promise<void>,
  options: LeaseOptions = {},
): { leases: SharedLeases; node: string; close: () => Promise<void> } => {
  const way = new Link(url)
  const node = randomUUID()
  const leases = new SharedLeases({ way, node, newest, mayWrite: () => true, canWrite: () => true, times, ...options })
  const close = async () => {
    await leases.close()
    await way.close()
  }
  return { leases, node, close }
}

const openNode = async (url: string, directory: string, undo: (() => unknown)[]): Promise<Node> => {
  const vault = new Vault(testKey)
  const file = join(directory, 'log.sqlite')
  const open = (at: string) => whenReached(() => SharedLog.open({ url: at, file, vault }))
  const log = await open(url)
  const { leases, node: holder, close } = openLeases(url, () => newest(node.log))
  const { nodes } = log
  const peers = { ...log.peers, leases }
  const node: Node = {
    ...{ log, ledger: new Ledger(log, vault), vault, leases, holder, nodes, peers, directory, file, url },
    reopen: async () => {
      await node.log.close()
      node.log = await open(node.url)
      node.ledger = new Ledger(node.log, vault)
    },
  }
  undo.push(() => node.log.close(), close)
  return node
}

/** Runs a test over nodes of one log. `through` returns the address for a node by its number; `another` adds a node. */
export const withNodesOf = async (
  server: LogServer,
  count: number,
  run: (nodes: Node[], url: string, another: () => Promise<Node>) => Promise<void>,
  through: (url: string, n: number) => string = (url) => url,
): Promise<void> => {
  const url = await server.newUrl()
  const undo: (() => unknown)[] = []
  const open = (at: string): Promise<Node> => {
    const { path, remove } = temporaryDirectory()
    undo.push(remove)
    return openNode(at, path, undo)
  }
  try {
    await run(await Promise.all(Array.from({ length: count }, (_, n) => open(through(url, n)))), url, () => open(url))
  } finally {
    await undoAll(undo)
  }
}

/** The rows of a query that is sent directly to the log's database. */
export const rowsIn = async <R extends pg.QueryResultRow>(url: string, query: string): Promise<R[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<R>(query)).rows
  } finally {
    await client.end()
  }
}

/** Runs statements directly in the log's database. */
export const runSql = async (url: string, statements: string): Promise<void> => void (await rowsIn(url, statements))

/** Ends some sessions of nodes, like a network fault. */
export const endSessions = (postgres: Pick<Postgres, 'run'>, most: number): Promise<unknown> =>
  postgres.run(
    `SELECT pg_terminate_backend(pid) FROM
      (SELECT pid FROM pg_stat_activity WHERE application_name = 'mindledger' ORDER BY random() LIMIT ${most}) AS chosen`,
  )

/** Lets the leases of a name expire, as if their holder were silent, and gives them to the node `heir`. */
export const runOut = (url: string, name: string, heir: string): Promise<void> =>
  runSql(
    url,
    `UPDATE mindledger.leases SET node = '${heir}', losses = losses + 1, epoch = nextval('mindledger.lease_epochs') WHERE name LIKE '${name}'`,
  )

/** Waits until a node has all acknowledged events, however long a busy machine needs. */
export const newest = (log: SharedLog): Promise<void> =>
  retryWhileBusy(
    () => log.newest(),
    () => false,
  )

/** Removes the newest events from PostgreSQL, like a failover to a standby that was behind. */
export const loseAfter = (url: string, position: number): Promise<void> =>
  runSql(
    url,
    `SET session_replication_role = replica;
     DELETE FROM mindledger.events WHERE position > ${position}; DELETE FROM mindledger.batches WHERE position > ${position};
     UPDATE mindledger.head SET (seq, position, chain) = (SELECT seq, position, chain FROM mindledger.batches ORDER BY seq DESC LIMIT 1)`,
  )

/** Removes the newest batches without events from PostgreSQL, with the replies that they stored. */
export const loseBatches = (url: string, count: number): Promise<void> =>
  runSql(
    url,
    `UPDATE mindledger.head SET seq = seq - ${count};
     DELETE FROM mindledger.batches WHERE seq > (SELECT seq FROM mindledger.head);
     DELETE FROM mindledger.answers WHERE seq > (SELECT seq FROM mindledger.head)`,
  )

/** Checks that all nodes have the same log, and that the log verifies. */
export const expectSame = async (nodes: readonly Node[]): Promise<void> => {
  await Promise.all(nodes.map(({ log }) => newest(log)))
  const heads = await Promise.all(nodes.map(({ log }) => log.head()))
  expect(new Set(heads.map((head) => JSON.stringify(head))).size).toBe(1)
  const size = heads[0]?.position ?? 0
  expect(new Set(await Promise.all(nodes.map(async ({ log }) => (await log.rootAt(size)).toString('hex')))).size).toBe(1)
  for (const { file } of nodes) expect((await verifyLog({ logFile: file, masterKeys: [testKey] })).findings).toEqual([])
}

/** The content that the files of all nodes must share; the order of rows in a file, and the salt of wrapped keys, differ between nodes. */
export const contentsOf = (file: string): Record<string, Record<string, unknown>[]> => {
  const db = new Database(file, { readonly: true })
  const all = (sql: string) => db.prepare<[], Record<string, unknown>>(sql).all()
  try {
    return {
      events: all('SELECT position, text, hex(chain) AS chain FROM events ORDER BY position'),
      resources: all('SELECT * FROM resources ORDER BY stream'),
      answers: all('SELECT * FROM answers ORDER BY actor, key'),
      payloads: all('SELECT hash, key_id, hex(wrapped) AS wrapped, hex(body) AS body, replaced_by FROM payloads ORDER BY hash'),
      notes: all(
        `SELECT * FROM meta WHERE key IN
           ('log_id', 'key_id', 'fingerprint_key', 'rotation', 'head_keys', 'reply_key', 'erased_rows', 'erased_answers', 'shared_seq', 'shared_batch')
         ORDER BY key`,
      ),
    }
  } finally {
    db.close()
  }
}
