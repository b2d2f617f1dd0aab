import { signal } from '@preact/signals'
import { keep, readKeptJson } from '../../basics/kept.js'
import { withoutSecrets } from '../../basics/secrets.js'
import type { Ending } from './statement-run.js'

/** A statement that ran in this browser, without its secrets. Only this browser stores it. */
export type PastStatement = { sql: string; db: string; at: string; ended: Ending; ms: number }

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

/** Adds a statement at the front of the history, which other windows share. A repeated statement moves to the front. */
export const note = (run: PastStatement): void => {
  const one = { ...run, sql: withoutSecrets(run.sql) }
  past.value = [one, ...read().filter(({ sql }) => sql !== one.sql)].slice(0, keptMax)
  keep(key, JSON.stringify(past.value))
}

/** Removes all statements from this browser. */
export const forgetAll = (): void => {
  past.value = []
  keep(key, '[]')
}
