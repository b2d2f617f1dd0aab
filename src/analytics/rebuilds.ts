import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

const reasons = ['another release', 'another log', 'damaged file', 'missing file', 'asked for'] as const

/** Why tables were built anew. */
export type RebuildReason = (typeof reasons)[number]

const schema = z.object({
  count: z.int().nonnegative(),
  last: z.object({ at: z.iso.datetime(), reason: z.enum(reasons) }).nullable(),
})

/** How often the tables were built anew, and when (UTC) and why they last were. */
export type Rebuilds = z.infer<typeof schema>

/**
 * What is on record after the tables were opened: a first build is none anew.
 *
 * @example countRebuild(null, 'missing file', new Date()) // { count: 0, last: null }
 */
export const countRebuild = (before: Rebuilds | null, reason: RebuildReason | null, at: Date): Rebuilds => {
  const known = before ?? { count: 0, last: null }
  if (reason === null || (before === null && reason === 'missing file')) return known
  return { count: known.count + 1, last: { at: at.toISOString(), reason } }
}

/** What an earlier process left on record; null when there is none, or none that can be read: it is a count, and no truth is lost. */
export const readRebuilds = (file: string): Rebuilds | null => {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

/** Puts the record in the place of the one before, whole or not at all. */
export const writeRebuilds = (file: string, rebuilds: Rebuilds): void => {
  writeFileSync(`${file}.part`, `${JSON.stringify(rebuilds)}\n`)
  renameSync(`${file}.part`, file)
}
