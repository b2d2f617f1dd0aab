import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import type { SqlProcessOptions } from './options.js'

const reasons = ['another release', 'damaged file', 'missing file', 'erasure', 'other rows'] as const

/** Why tables were rebuilt. */
export type RebuildReason = (typeof reasons)[number]

const schema = z.object({
  count: z.int().nonnegative(),
  last: z.object({ at: z.iso.datetime(), reason: z.enum(reasons) }).nullable(),
})

/** How often the tables were rebuilt, and the time (UTC) and the reason of the last rebuild. */
export type Rebuilds = z.infer<typeof schema>

/**
 * The record after the tables were opened. The first build does not count as a rebuild.
 *
 * @example countRebuild(null, 'missing file', new Date()) // { count: 0, last: null }
 */
export const countRebuild = (before: Rebuilds | null, reason: RebuildReason | null, at: Date): Rebuilds => {
  const known = before ?? { count: 0, last: null }
  if (reason === null || (before === null && reason === 'missing file')) return known
  return { count: known.count + 1, last: { at: at.toISOString(), reason } }
}

/** The record of an earlier process; null if it is missing or unreadable. Then only a count is lost. */
export const readRebuilds = (file: string): Rebuilds | null => {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

/** The record in a data directory. It is only a count: the service goes on when it cannot be written. */
export class RebuildRecord {
  #known: Rebuilds | null

  constructor(
    private readonly file: string,
    private readonly logger?: SqlProcessOptions['logger'],
  ) {
    this.#known = readRebuilds(file)
  }

  /** Null if there is no record. */
  get known(): Rebuilds | null {
    return this.#known
  }

  /** Keeps the result of a process that opened the tables. */
  note(rebuilds: Rebuilds | undefined): void {
    if (!rebuilds || JSON.stringify(rebuilds) === JSON.stringify(this.#known)) return
    this.#known = rebuilds
    const { last, count } = rebuilds
    if (last) this.logger?.warn({ reason: last.reason, rebuilds: count }, 'the tables are built anew')
    try {
      writeFileSync(`${this.file}.part`, `${JSON.stringify(rebuilds)}\n`)
      renameSync(`${this.file}.part`, this.file)
    } catch (error) {
      this.logger?.warn({ err: error }, 'the count of rebuilds could not be kept')
    }
  }
}
