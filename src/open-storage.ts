import { HeadFile } from './audit/head-file.js'
import { headSigner } from './audit/head-key.js'
import { Heads } from './audit/heads.js'
import { TrustedClock } from './basics/trusted-clock.js'
import { opened } from './basics/undo.js'
import type { SessionStore } from './http/login/sessions.js'
import { SharedSessionStore } from './http/login/shared-session-store.js'
import { MissingBlobs } from './files/missing-blobs.js'
import { SingletonTask } from './log/tasks/singleton-task.js'
import { forgetOldAnswers } from './log/tasks/old-answers.js'
import { soleLeases, type Leases } from './log/contract/leases.js'
import type { Peers } from './log/contract/peers.js'
import { systemOrigin } from './log/contract/origins.js'
import type { Batch, ServedLog } from './log/contract/log.js'
import type { Nodes } from './log/shared/nodes.js'
import { SqliteLog } from './log/sqlite/sqlite-log.js'
import type { Metrics } from './observe/metrics.js'
import { ObservedLedger } from './observe/observed.js'
import { openBlobs, sharedStoreOf } from './open-blobs.js'
import type { Logger } from './basics/logger.js'
import type { Config } from './setup/config.js'
import { lockDataDirectory, nodeIdOf, prepareDataDirectory, type DataPaths } from './setup/data-directory.js'
import { readVersion } from './setup/version.js'
import { masterKeys } from './vault/key-files.js'
import { Vault } from './vault/vault.js'

/** The storage of the service: the log and its ledger, the blobs, and the signed heads. */
export type Storage = Awaited<ReturnType<typeof openStorage>>

type Options = { config: Config; logger: Logger; metrics: Metrics }

type OpenLog = Pick<Options, 'config' | 'metrics'> & { paths: DataPaths; vault: Vault }

/** A log with its access to other nodes. */
type OpenedLog = { log: ServedLog; nodes?: Nodes; peers?: Peers; sessionStore?: SessionStore; leases: Leases }

/** The log in the data directory, and its other nodes if LOG_URL makes it a copy of a shared log. */
const openLog = async ({ config: { logUrl }, paths, vault, metrics }: OpenLog): Promise<OpenedLog> => {
  const options = { file: paths.log, vault, onBatch: (batch: Batch) => metrics.batch(batch) }
  if (logUrl === undefined) return { log: new SqliteLog(options), leases: soleLeases }
  // A log with a single node needs neither the driver nor the driver's memory.
  const { SharedLog } = await import('./log/shared/shared-log.js')
  const { UnreachableError } = await import('./log/shared/postgres/shared-log-session.js')
  const log = await SharedLog.open({ ...options, url: logUrl, node: { id: nodeIdOf(paths), version: readVersion() } })
  const sessionStore = new SharedSessionStore({
    way: log.link,
    isAway: (error) => error instanceof UnreachableError,
    proofOf: (beginning) => Buffer.from(vault.fingerprint(`login ${beginning.toString('hex')}`), 'hex'),
  })
  return { log, nodes: log.nodes, peers: log.peers, sessionStore, leases: log.peers.leases }
}

/** Locks the data directory and opens what is in it. @throws ConfigError that says what to change */
export const openStorage = ({ config, logger, metrics }: Options) =>
  opened(async (undo) => {
    const paths = prepareDataDirectory(config.dataDirectory)
    undo(lockDataDirectory(paths))
    const vault = new Vault(...masterKeys(paths, config.masterKeys))
    const { log, nodes, peers, sessionStore, leases } = await openLog({ config, paths, vault, metrics })
    undo(() => log.close())
    const ledger = new ObservedLedger(log, vault, metrics)
    const heads = new Heads(log, await headSigner(paths, config.headKey, log))
    const headFile = config.headFile && new HeadFile({ ...config.headFile, log, heads, logger })
    // The log is compared with the kept head before anything is written: in an older copy of the log, events of the head may be missing.
    await headFile?.compare()
    /** Only one node appends heads, because the nodes may share the file. */
    const signing =
      headFile &&
      new SingletonTask({
        ...{ leases, name: 'heads' },
        begin: async (_, tried) => {
          await headFile.start(tried)
          return () => headFile.stop()
        },
        onFailed: (err) => logger.error({ err }, 'heads are not written'),
      })
    // The log stops after every part that writes events.
    undo(() => signing?.stop())
    const clock = new TrustedClock({ file: paths.clock, recordedAt: () => log.recordedAt(), now: () => log.now() })
    clock.start()
    undo(() => clock.stop())
    const { logUrl } = config
    const newest = async () => {
      await log.newest()
    }
    const shared = sharedStoreOf(config, logUrl === undefined ? undefined : { url: logUrl, newest, leases })
    const { blobs, tidyBlobs, stop } = await openBlobs({ paths, log, logger, shared })
    undo(stop)
    const missingBlobs = new MissingBlobs({ log, blobs, logger })
    undo(() => missingBlobs.stop())

    /** One node forgets for all: the others follow. */
    const forgetting = new SingletonTask({
      ...{ leases, name: 'old-answers' },
      begin: () =>
        forgetOldAnswers(log, {
          now: () => clock.now(),
          onFailed: (err) => logger.error({ err }, 'old answers to requests with a key could not be forgotten; trying again later'),
        }),
      onFailed: (err) => logger.error({ err }, 'old answers are not forgotten'),
    })
    undo(() => forgetting.stop())

    /** The first write of this run, after the check that the tables agree with the log. Heads and checks are work in the background. */
    const begin = async ({ background }: { background: boolean }) => {
      await ledger.execute({ type: 'CreateProject', data: { project: config.defaultProject, unlessExists: true } }, systemOrigin)
      if (!background) return
      await signing?.start()
      await forgetting.start()
      missingBlobs.start()
    }
    return { paths, vault, log, nodes, ledger, leases, peers, sessionStore, heads, headFile, clock, blobs, tidyBlobs, missingBlobs, begin }
  })
