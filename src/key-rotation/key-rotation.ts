/** Room: a new master key while the service runs. It imports only events, basics, setup, vault, log/contract, log/read and commands. */

import { randomBytes } from 'node:crypto'
import { currentEvent } from '../../events/catalogue/catalogue.js'
import { logStream } from '../../events/records/log.js'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { limits } from '../basics/limits.js'
import type { Ledger } from '../commands/ledger.js'
import { errorText, Problem, wrong } from '../basics/errors.js'
import type { DataPaths } from '../setup/data-directory.js'
import { systemOrigin } from '../log/contract/origins.js'
import { retryWhileBusy } from '../basics/concurrency/retry.js'
import { withoutPaths } from '../basics/shown.js'
import type { Lease } from '../log/contract/leases.js'
import type { Peers } from '../log/contract/peers.js'
import type { KeyedLog, Origin, Rotation } from '../log/contract/log.js'
import { lastEventWith } from '../log/read/slices.js'
import { keepNextKey, settleKeyFiles } from '../vault/key-files.js'
import { MasterKey, masterKeyBytes, type Vault } from '../vault/vault.js'

/**
 * `position` is that of the event that ends the rotation; null before its end. `error` is the reason why this node could not end it; null
 * while it works on it.
 */
export type RotationStatus = Rotation & { position: number | null; error: string | null }

export type RotationOptions = {
  log: KeyedLog
  /** The commands of the same log. */
  ledger: Ledger
  vault: Vault
  paths: DataPaths
  /** Whether the master key was given directly, and no file has it. */
  isKeyGiven: boolean
  /** Resolves when other processes that read the log know the vault's keys. */
  tellReaders: () => Promise<void>
  /** Called with the error when a rotation could not be ended; a new request or the next start continues it. */
  onFailed: (error: unknown) => void
  /** The other nodes of the log, if it is shared. */
  peers?: Peers | undefined
  /** The interval between looks for a rotation that another node began or left; `leaseLookIntervalMs` by default. */
  lookMs?: number
}

const leaseName = 'rotation'

const lackingKey = (nodes: readonly string[]): Problem =>
  new Problem('not_ready', 'Key not everywhere', `this node has the next master key; these do not: ${nodes.join(', ')}`, {
    hint: 'Send the same key to each of them. The node that gets it last begins.',
  })

const anotherBegins = (): Problem =>
  new Problem('busy', 'Rotation under way', 'another node begins to replace the master key', { retryAfterSeconds: 5 })

/** Refuses another next key than the one of the rotation that goes on: whoever sent it would take it for the key in use. */
const refuseOther = ({ to }: Rotation, given: Buffer | undefined): void => {
  if (given && new MasterKey(given).id !== to)
    throw wrong('the rotation that goes on has another next key', `Send the key with the id ${to}, or none.`)
}

const underWay = ({ from, to, payloads }: Rotation): RotationStatus => ({ from, to, payloads, position: null, error: null })

/**
 * Replaces the master key while the log is in use. Both keys are known until the keys of all payloads are wrapped under the next one, a few
 * at a time; ciphertexts and events do not change. An interrupted rotation continues at the next start. One that an error
 * stopped also continues when it is begun again.
 *
 * If nodes share the log, an operator gives each of them the next key; the last node to get it begins the rotation. One node holds a lease
 * and does the work. If that node is gone, another node continues.
 *
 * @example await rotation.begin(origin); await rotation.ended
 */
export class KeyRotation {
  #last: RotationStatus | undefined
  #isStopping = false
  /** It begins a rotation, or settles the keys after one of another node. */
  #isBusy = false
  #isRunning = false
  #lookTimer: NodeJS.Timeout | undefined
  /** The key in use when this node last looked. */
  #keyInUse: string | undefined
  /** Aborted by a stop, which does not wait for other nodes. */
  readonly #patience = new AbortController()
  /** The rotation without its final wiping. The wiping waits for readers, and every start repeats it. */
  #turned: Promise<unknown> = Promise.resolve()
  #ended: Promise<void> = Promise.resolve()

  constructor(private readonly options: RotationOptions) {}

  /** The current rotation, or the last one since the start. */
  get status(): RotationStatus | undefined {
    return this.#last
  }

  /** Resolves when the current rotation has ended: the old key can no longer read any part of the log. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /**
   * Continues an interrupted rotation; without one, it makes the key files state the key in use.
   * @throws Problem when the next key is given, and the interrupted rotation has another one
   */
  async resume(given?: Buffer): Promise<void> {
    const { log, peers, vault } = this.options
    // A request that came earlier may already begin a rotation, whose key files must stay.
    if (!this.#isBusy && !this.#isRunning)
      await this.#whileBusy(async () => {
        const under = await log.rotation()
        if (under) refuseOther(under, given)
        if (under && !peers) this.#goOn(under, systemOrigin)
        if (under) await this.#noteKeys()
        else await this.#settle()
      })
    if (!peers) return
    this.#keyInUse = vault.keyId
    this.#lookLater(peers)
  }

  #lookLater(peers: Peers): void {
    if (this.#isStopping) return
    this.#lookTimer = setTimeout(() => {
      this.#look(peers)
        .catch(this.options.onFailed)
        .finally(() => this.#lookLater(peers))
    }, this.options.lookMs ?? limits.leaseLookIntervalMs)
    this.#lookTimer.unref()
  }

  /** Continues a rotation that no node works on, and notices the end of a rotation by another node. */
  async #look({ leases }: Peers): Promise<void> {
    const { log, vault } = this.options
    const under = await log.rotation()
    if (this.#isRunning || this.#isBusy) return
    if (under) {
      this.#last = underWay(under)
      const lease = await leases.take(leaseName)
      if (!lease) return
      try {
        // The rotation may have ended before the lease was free.
        const left = await log.rotation()
        if (left) this.#goOn(left, systemOrigin, lease)
        else await lease.release()
      } catch (error) {
        await lease.release()
        throw error
      }
    } else if (this.#keyInUse !== vault.keyId)
      await this.#whileBusy(async () => {
        const { keyId } = vault
        await this.#settle()
        // A rotation may have begun and ended between two looks.
        this.#last = (await this.#lastEnded()) ?? this.#last
        this.#keyInUse = keyId
      })
  }

  async #whileBusy<T>(work: () => Promise<T>): Promise<T> {
    this.#isBusy = true
    try {
      return await work()
    } finally {
      this.#isBusy = false
    }
  }

  /** The last rotation that has ended, by its event. */
  async #lastEnded(): Promise<RotationStatus | undefined> {
    const stored = await lastEventWith(this.options.log, logStream, (text) => text.includes('"type":"MasterKeyRotated"'))
    if (!stored) return undefined
    const event = currentEvent(parseEnvelope(stored.text))
    return event.type === 'MasterKeyRotated' ? { ...event.data, position: stored.position, error: null } : undefined
  }

  /**
   * Begins a rotation, and resolves when the log has recorded it: from then on the next key is needed. If an error stopped the last one,
   * that one goes on instead.
   * @throws Problem when a rotation is running, the key is missing or already in use, or the rotation that goes on has another one
   */
  async begin(origin: Origin, given?: Buffer): Promise<RotationStatus> {
    const last = this.#last
    if (this.#isBusy || (last?.position === null && last.error === null) || this.#isStopping)
      throw new Problem('busy', 'Rotation under way', 'the master key is being replaced already', {
        hint: 'GET /log/rotations says how far it is. Begin again when it has ended.',
        retryAfterSeconds: 5,
      })
    return this.#whileBusy(() => this.#begin(last, origin, given))
  }

  async #begin(last: RotationStatus | undefined, origin: Origin, given: Buffer | undefined): Promise<RotationStatus> {
    const { log, vault, paths, isKeyGiven, tellReaders } = this.options
    let lease: Lease | undefined
    try {
      if (last && last.error !== null) {
        refuseOther(last, given)
        lease = await this.#lease()
        return this.#goOn(last, origin, lease)
      }
      const key = this.#nextKey(given)
      lease = await this.#agree(key)
      // The log may have recorded a beginning although the storage reported a failure.
      const under = await log.rotation()
      if (under) {
        refuseOther(under, given)
        return this.#goOn(under, origin, lease)
      }
      if (!isKeyGiven) await keepNextKey(paths, key)
      const to = vault.add(key)
      await tellReaders()
      if (lease?.isHeld === false) throw anotherBegins()
      return this.#goOn(await log.beginRotation(to), origin, lease)
    } catch (error) {
      await lease?.release()
      throw error
    }
  }

  /** The right to begin, once all nodes have the key. @throws Problem with the nodes that lack it */
  async #agree(key: Buffer): Promise<Lease | undefined> {
    const { peers, vault, tellReaders } = this.options
    if (!peers) return undefined
    const to = vault.promise(key)
    await tellReaders()
    await peers.keys.holds(vault.keptKeyIds)
    const lacking = await peers.keys.lacking(to)
    if (lacking.length > 0) throw lackingKey(lacking)
    return this.#lease()
  }

  /** The right to do the work; undefined without other nodes. @throws Problem when another node has it */
  async #lease(): Promise<Lease | undefined> {
    const { peers } = this.options
    const lease = await peers?.leases.take(leaseName)
    if (peers && !lease) throw anotherBegins()
    return lease
  }

  /** Stops its work; the next start, or another node, continues it. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#lookTimer)
    this.#patience.abort()
    await this.#turned.catch(() => undefined)
  }

  #nextKey(given: Buffer | undefined): Buffer {
    if (!given && this.options.isKeyGiven)
      throw wrong(
        'the master key was given as VAULT_KEY, so the next one has to be given, too',
        'Send {"key": "<64 hex digits>"}, or set NEW_VAULT_KEY for mindledger rotate-key. The next start takes it as VAULT_KEY.',
      )
    const key = given ?? randomBytes(masterKeyBytes)
    if (new MasterKey(key).id === this.options.vault.keyId) throw wrong('the next master key is the one in use', 'Give another one.')
    return key
  }

  #goOn(under: Rotation, origin: Origin, lease?: Lease): RotationStatus {
    const { log, vault, onFailed, peers } = this.options
    vault.use(under.to)
    const begun = underWay(under)
    this.#last = begun
    this.#isRunning = true
    const turned = this.#run(under, origin, lease)
    this.#turned = turned
    this.#ended = turned.then(async (done) => {
      if (!done) return
      const { position } = done
      // A node that is busy, or a PostgreSQL that is away, only makes it longer.
      await retryWhileBusy(
        () => (peers && position !== null ? peers.wipes.everywhere(position, this.#patience.signal) : log.wipe()),
        () => this.#isStopping,
      )
      this.#last = done
    })
    this.#ended.catch((error: unknown) => {
      // The next start does the rest.
      if (this.#isStopping) return
      this.#last = { ...(this.#last ?? begun), error: withoutPaths(errorText(error)) }
      onFailed(error)
    })
    return begun
  }

  /** Returns undefined if a stop interrupted it, or if another node continues it. */
  async #run(under: Rotation, origin: Origin, lease: Lease | undefined): Promise<RotationStatus | undefined> {
    try {
      return await this.#turn(under, origin, lease)
    } finally {
      this.#isRunning = false
      await lease?.release()
    }
  }

  async #turn({ from, to }: Rotation, origin: Origin, lease: Lease | undefined): Promise<RotationStatus | undefined> {
    const { log, ledger, tellReaders } = this.options
    const isStopping = () => this.#isStopping
    await tellReaders()
    for (let after: number | undefined = 0; after !== undefined;) {
      if (this.#isStopping || lease?.isHeld === false) return undefined
      const place: number = after
      after = await retryWhileBusy(() => log.rewrapSome(place), isStopping)
      this.#last = underWay({ from, to, payloads: (await log.rotation())?.payloads ?? 0 })
    }
    const ended = await retryWhileBusy(async () => {
      const erasures = await log.streamVersion(logStream)
      const under = await log.rotation()
      // A node that seemed to be gone may have ended the rotation.
      if (!under) return undefined
      const data = { from, to, payloads: under.payloads }
      const { positions } = await ledger.execute({ type: 'EndKeyRotation', data }, { ...origin, erasures })
      return { ...data, position: positions[0] ?? null, error: null }
    }, isStopping)
    await this.#settle()
    this.#keyInUse = to
    return ended ?? (await this.#lastEnded())
  }

  /** Notes the keys of this node for the other nodes, which begin no rotation to a key that it forgets. */
  async #noteKeys(): Promise<void> {
    const { peers, vault } = this.options
    if (!peers) return
    await retryWhileBusy(
      () => peers.keys.holds(vault.keptKeyIds),
      () => this.#isStopping,
    )
  }

  /** Makes the key in use the only one, everywhere, except for keys that this node has promised to have. */
  async #settle(): Promise<void> {
    const { vault, paths, isKeyGiven, tellReaders } = this.options
    await this.#noteKeys()
    vault.forgetOthers()
    if (!isKeyGiven) await settleKeyFiles(paths, vault.keyId)
    await tellReaders()
  }
}
