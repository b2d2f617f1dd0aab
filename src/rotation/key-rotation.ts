import { randomBytes } from 'node:crypto'
import type { Ledger } from '../commands/ledger.js'
import { Problem, wrong } from '../basics/errors.js'
import type { DataPaths } from '../setup/data-directory.js'
import { systemOrigin } from '../log/contract/origins.js'
import { retryWhileBusy } from '../basics/retry-while-busy.js'
import type { KeyedLog, Origin, Rotation } from '../log/contract/log.js'
import { keepNextKey, settleKeyFiles } from '../vault/key-files.js'
import { MasterKey, masterKeyBytes } from '../vault/master-key.js'
import type { Vault } from '../vault/vault.js'

/** `position` is that of the event that ends the rotation; null until then. */
export type RotationStatus = Rotation & { position: number | null }

export type RotationOptions = {
  log: KeyedLog
  /** Of the same log. */
  ledger: Ledger
  vault: Vault
  paths: DataPaths
  /** Whether the master key was given directly, and is in no file. */
  isKeyGiven: boolean
  /** Resolves when other processes that read the log know the vault's keys. */
  tellReaders: () => Promise<void>
  /** Called with the error when a rotation could not be ended; it stays under way. */
  onFailed: (error: unknown) => void
}

/**
 * Replaces the master key while the log is in use. Both keys are known until the keys of all payloads, a few at a time, are wrapped
 * under the next one; ciphertexts and events do not change. An interrupted rotation continues at the next start.
 *
 * @example await rotation.begin(origin); await rotation.ended
 */
export class KeyRotation {
  #last: RotationStatus | undefined
  #isStopping = false
  #isBeginning = false
  /** The rotation without its wiping, which waits for readers and which every start repeats. */
  #turned: Promise<unknown> = Promise.resolve()
  #ended: Promise<void> = Promise.resolve()

  constructor(private readonly options: RotationOptions) {}

  /** The rotation under way, or the last one since the start. */
  get status(): RotationStatus | undefined {
    return this.#last
  }

  /** Resolves when the rotation under way has ended: the old key can read no part of the log any more. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /** Continues an interrupted rotation; if there is none, makes the key files say which key is in use. */
  async resume(): Promise<void> {
    const under = await this.options.log.rotation()
    if (under) this.#goOn(under, systemOrigin)
    else await this.#settle()
  }

  /**
   * Begins a rotation, and resolves when the log has noted it: from then on the next key is needed.
   * @throws Problem when one is under way, or the key is missing or is the one in use
   */
  async begin(origin: Origin, given?: Buffer): Promise<RotationStatus> {
    const { log, vault, paths, isKeyGiven, tellReaders } = this.options
    const key = this.#nextKey(given)
    if (this.#isBeginning || (this.#last && this.#last.position === null) || this.#isStopping)
      throw new Problem('busy', 'Rotation under way', 'the master key is being replaced already', {
        hint: 'Wait until it has been, GET /log/rotations says how far it is, and begin again.',
        retryAfterSeconds: 5,
      })
    this.#isBeginning = true
    try {
      // The log may have noted a beginning although the storage reported a failure.
      const under = await log.rotation()
      if (under) return this.#goOn(under, origin)
      if (!isKeyGiven) await keepNextKey(paths, key)
      const to = vault.add(key)
      await tellReaders()
      return this.#goOn(await log.beginRotation(to), origin)
    } finally {
      this.#isBeginning = false
    }
  }

  /** Stops its work; the next start continues it. */
  async stop(): Promise<void> {
    this.#isStopping = true
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

  #goOn(under: Rotation, origin: Origin): RotationStatus {
    const { log, vault, onFailed } = this.options
    vault.use(under.to)
    const begun = { ...under, position: null }
    this.#last = begun
    const turned = this.#run(under, origin)
    this.#turned = turned
    this.#ended = turned.then(async (done) => {
      if (!done) return
      await log.wipe()
      this.#last = done
    })
    // The next start does the rest.
    this.#ended.catch((error: unknown) => this.#isStopping || onFailed(error))
    return begun
  }

  /** Returns undefined when a stop interrupted it. */
  async #run({ from, to }: Rotation, origin: Origin): Promise<RotationStatus | undefined> {
    const { log, ledger, tellReaders } = this.options
    const isStopping = () => this.#isStopping
    await tellReaders()
    for (let after: number | undefined = 0; after !== undefined;) {
      if (this.#isStopping) return undefined
      const place: number = after
      after = await retryWhileBusy(() => log.rewrapSome(place), isStopping)
      this.#last = { from, to, payloads: (await log.rotation())?.payloads ?? 0, position: null }
    }
    const data = { from, to, payloads: (await log.rotation())?.payloads ?? 0 }
    const { positions } = await retryWhileBusy(() => ledger.execute({ type: 'EndKeyRotation', data }, origin), isStopping)
    await this.#settle()
    return { ...data, position: positions[0] ?? null }
  }

  /** Makes the key in use the only one, everywhere. */
  async #settle(): Promise<void> {
    const { vault, paths, isKeyGiven, tellReaders } = this.options
    vault.forgetOthers()
    if (!isKeyGiven) await settleKeyFiles(paths, vault.keyId)
    await tellReaders()
  }
}
