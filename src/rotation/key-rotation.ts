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

/** `position` is that of the event that says that it is done; null until then. */
export type RotationStatus = Rotation & { position: number | null }

export type RotationOptions = {
  log: KeyedLog
  /** Of the same log. */
  ledger: Ledger
  vault: Vault
  paths: DataPaths
  /** Whether the master key was given, and is in no file. */
  isKeyGiven: boolean
  /** Resolves when those who read the log beside this process know the vault's keys. */
  tellReaders: () => Promise<void>
  /** Hears why one could not be ended; it stays under way. */
  onFailed: (error: unknown) => void
}

/**
 * Replaces the master key while the log is used. Both keys are known until each payload's own key, a few at a time, is
 * wrapped under the next one; ciphertexts and events stay as they are. Cut off at any moment, it is taken up at the next start.
 *
 * @example await rotation.begin(origin); await rotation.ended
 */
export class KeyRotation {
  #last: RotationStatus | undefined
  #isStopping = false
  #isBeginning = false
  /** Everything but the wiping, which waits for readers and which every start does. */
  #turned: Promise<unknown> = Promise.resolve()
  #ended: Promise<void> = Promise.resolve()

  constructor(private readonly options: RotationOptions) {}

  /** The rotation that is under way, or the last one since the start. */
  get status(): RotationStatus | undefined {
    return this.#last
  }

  /** Resolves when the one that is under way has ended: no part of the log can be read with the old key any more. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /** Goes on with one that was cut off; where there is none, sees to it that the key's file says what is in use. */
  async resume(): Promise<void> {
    const under = await this.options.log.rotation()
    if (under) this.#goOn(under, systemOrigin)
    else await this.#settle()
  }

  /**
   * Begins one, and resolves when it is noted in the log: from then on the next key is needed.
   * @throws Problem when one is under way, or the key is missing or no other one
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
      // One whose beginning was noted although the storage said that it failed.
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

  /** Ends what it does; the next start goes on with it. */
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
    // What was not done is done after the next start.
    this.#ended.catch((error: unknown) => this.#isStopping || onFailed(error))
    return begun
  }

  /** Gives undefined when a stop cut it off. */
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

  /** The key in use is the only one, everywhere. */
  async #settle(): Promise<void> {
    const { vault, paths, isKeyGiven, tellReaders } = this.options
    vault.forgetOthers()
    if (!isKeyGiven) await settleKeyFiles(paths, vault.keyId)
    await tellReaders()
  }
}
