import { signal } from '@preact/signals'

/** A statement that ran in this browser. Only this browser stores it. */
export type PastStatement = { sql: string; db: string; at: string; ok: boolean; ms: number }

const keptMax = 200
const key = 'queries'

const read = (): PastStatement[] => {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '[]') as PastStatement[]
  } catch {
    return []
  }
}

/** The statements that ran in this browser, the newest first, each once. */
export const past = signal<PastStatement[]>(read())

/** Whether a statement is in the history, so that its text can be found again. */
export const hasRun = (sql: string): boolean => read().some((one) => one.sql === sql.trim())

/** Adds a statement at the front of the history, which other windows share. A repeated statement moves to the front. */
export const note = (one: PastStatement): void => {
  past.value = [one, ...read().filter(({ sql }) => sql !== one.sql)].slice(0, keptMax)
  try {
    localStorage.setItem(key, JSON.stringify(past.value))
  } catch {
    // If the storage is full, its old content stays.
  }
}

/** Removes all statements from this browser. */
export const forgetAll = (): void => {
  past.value = []
  localStorage.removeItem(key)
}
