import { signal } from '@preact/signals'

/** A statement that was run in this browser. It is kept here alone. */
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

/** The statements that were run in this browser, the newest first, each once. */
export const past = signal<PastStatement[]>(read())

/** Notes a statement, the newest first, beside those of other windows; one that is run again moves up. */
export const note = (one: PastStatement): void => {
  past.value = [one, ...read().filter(({ sql }) => sql !== one.sql)].slice(0, keptMax)
  try {
    localStorage.setItem(key, JSON.stringify(past.value))
  } catch {
    // A full storage keeps what it has.
  }
}

/** Removes all statements that this browser keeps. */
export const forgetAll = (): void => {
  past.value = []
  localStorage.removeItem(key)
}
