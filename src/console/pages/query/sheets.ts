import { signal } from '@preact/signals'

/** A statement that is being written, and the database that it is for. It is kept in this browser. */
export type Sheet = { id: number; sql: string; db: string }

export const sheetsMax = 20

const key = 'sheets'
const blank: Sheet = { id: 1, sql: '', db: 'mindsdb' }

const read = (): Sheet[] => {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? '[]') as Sheet[]
    return kept.length === 0 ? [blank] : kept
  } catch {
    return [blank]
  }
}

export const sheets = signal<readonly Sheet[]>(read())
export const chosen = signal(sheets.value[0]?.id ?? blank.id)

const keep = (next: readonly Sheet[]): void => {
  sheets.value = next
  try {
    localStorage.setItem(key, JSON.stringify(next))
  } catch {
    // A full storage keeps what it has.
  }
}

/** The sheet that is shown. */
export const shownSheet = (): Sheet => sheets.value.find(({ id }) => id === chosen.value) ?? sheets.value[0] ?? blank

/** Changes the sheet that is shown. */
export const write = (change: Partial<Omit<Sheet, 'id'>>): void => {
  const shown = shownSheet()
  keep(sheets.value.map((one) => (one.id === shown.id ? { ...one, ...change } : one)))
}

/**
 * Shows the sheet with a statement: the one that has it, an empty one, or a new one, for which the first is closed when there are too many.
 *
 * @example openSheet('SELECT 1', 'mindsdb')
 */
export const openSheet = (sql: string, db: string): void => {
  const shown = shownSheet()
  if (shown.sql === sql || shown.sql.trim() === '') write({ sql, db })
  else {
    const same = sheets.value.find((one) => one.sql === sql)
    if (same) chosen.value = same.id
    else {
      const id = Math.max(...sheets.value.map((one) => one.id)) + 1
      keep([...sheets.value, { id, sql, db }].slice(-sheetsMax))
      chosen.value = id
    }
  }
}

/** Closes a sheet; there is always one. */
export const closeSheet = (id: number): void => {
  const at = sheets.value.findIndex((one) => one.id === id)
  const rest = sheets.value.filter((one) => one.id !== id)
  keep(rest.length === 0 ? [blank] : rest)
  if (chosen.value === id) chosen.value = (sheets.value[Math.min(at, sheets.value.length - 1)] ?? blank).id
}

/** What a sheet is called. @example nameOf({ id: 1, sql: 'SELECT 1', db: 'mindsdb' }) // 'SELECT 1' */
export const nameOf = ({ sql }: Sheet): string => {
  const line = sql.trim().split('\n', 1)[0] ?? ''
  return line === '' ? 'New' : line.length > 24 ? `${line.slice(0, 23)}…` : line
}
