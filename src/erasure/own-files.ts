import type { ErasureKind } from '../../events/records/log.js'
import type { Log } from '../log/contract/log.js'

/** How the bytes of erased data are removed from files other than those of the log. */
export type PurgeFiles = {
  /** Removes the bytes of erased data from the tables' files. `erasedAt` tells the position of the last erasure. */
  purge: (erasedAt: () => Promise<number>) => Promise<void>
  /** Removes the bytes of erased documents from the indexes of knowledge bases. */
  purgeKnowledge?: () => Promise<void>
  /** Ends work that has erased data in files of its own, and resolves when these are removed. */
  purgeWork?: () => Promise<void>
}

/**
 * The files of this node that may have bytes of erased data: those of the log, the tables, the indexes, and of work such as trainings.
 * Nodes share the blobs.
 */
export class OwnFiles {
  /** The kinds of data that were erased since the files were last wiped. They stay here if wiping fails. */
  readonly #erased = new Set<ErasureKind>()

  /** The position of an event up to which `follow` has wiped the files. */
  #wipedUpTo = 0

  constructor(private readonly options: PurgeFiles & { log: Pick<Log, 'wipe' | 'erasedAt'> }) {}

  /** Whether the files have no byte of erased data. */
  get areWiped(): boolean {
    return this.#erased.size === 0
  }

  /** Notes that data is erased, or is about to be. */
  note(what: ErasureKind): void {
    this.#erased.add(what)
  }

  /**
   * Removes the data that an event erased, and all data that later events erased by now: events may come faster than files are wiped.
   * Returns the position up to which the files are wiped.
   */
  async follow(position: number, what: ErasureKind, signal: AbortSignal): Promise<number> {
    if (position <= this.#wipedUpTo) return this.#wipedUpTo
    const newest = Math.max(position, await this.options.log.erasedAt())
    // The kinds of the later data are not known. Documents are in all files.
    this.note(newest === position ? what : 'documents')
    await this.wipe(newest, signal)
    return (this.#wipedUpTo = newest)
  }

  /** Removes all noted data that was erased up to a position. @throws Problem 503 when a reader still prevented this at the signal */
  async wipe(position: number, signal: AbortSignal): Promise<void> {
    const kinds = [...this.#erased]
    // Secrets and matrices never reach the tables; a query may have spilled rows of a file.
    const isInTables = kinds.some((what) => what !== 'secrets' && what !== 'matrix')
    await Promise.all([
      this.options.log.wipe(signal),
      isInTables ? this.options.purge(async () => Math.max(position, await this.options.log.erasedAt())) : undefined,
      kinds.includes('documents') ? this.options.purgeKnowledge?.() : undefined,
      kinds.some((what) => what !== 'secrets') ? this.options.purgeWork?.() : undefined,
    ])
    for (const what of kinds) this.#erased.delete(what)
  }
}
