import { signal } from '@preact/signals'
import { keep, readKeptJson } from '../../basics/kept.js'
import { mask, withoutSecrets } from '../../basics/secrets.js'
import type { Ending } from './statement-run.js'

/**
 * A statement that ran in this browser, without its secrets. Only this browser stores it. `isMasked`: the mask in its text stands for a secret;
 * false if its user typed the mask.
 */
export type PastStatement = { sql: string; db: string; at: string; ended: Ending; ms: number; isMasked?: boolean }

const keptMax = 200
const key = 'queries'

const read = (): PastStatement[] => {
  const kept = readKeptJson(key)
  return Array.isArray(kept) ? (kept as PastStatement[]) : []
}

/** The statements that ran in this browser, the newest first, each once. */
export const past = signal<PastStatement[]>(read())

/** Whether a statement is in the history, so that its text can be found again. */
export const hasRun = (sql: string): boolean => read().some((one) => one.sql === withoutSecrets(sql.trim()))

/**
 * Whether a text of the history or of an address has the mask in the place of something that was not kept. A text that nobody ran here may
 * be that of another browser, so its mask counts.
 */
export const isMasked = (sql: string): boolean =>
  sql.includes(mask) && read().find((one) => one.sql.trim() === sql.trim())?.isMasked !== false

/** Adds a statement at the front of the history, which other windows share. A repeated statement moves to the front. */
export const note = (run: PastStatement): void => {
  const sql = withoutSecrets(run.sql)
  const before = read()
  const wasMasked = sql.includes(mask) && before.some((other) => other.sql === sql && other.isMasked !== false)
  const one = { ...run, sql, isMasked: sql !== run.sql || wasMasked }
  past.value = [one, ...before.filter((other) => other.sql !== sql)].slice(0, keptMax)
  keep(key, JSON.stringify(past.value))
}

/** Removes all statements from this browser. */
export const forgetAll = (): void => {
  past.value = []
  keep(key, '[]')
}
