import { signal, untracked } from '@preact/signals'
import { defaultProject } from '../../basics/default-project.js'
import { keep as keepText, readKeptJson } from '../../basics/kept.js'
import { mask, withoutSecrets } from '../../basics/secrets.js'
import { sheetRuns } from './sheet-runs.js'
import { hasRun, isMasked } from './statement-history.js'
import { keptGiven } from './writing/parameters.js'

/** What runs: a statement in its database, whether as a dry run, and the values of its parameters. Both are as in the address. */
export type Draft = { sql: string; db: string; dry?: string | undefined; given?: string | undefined }

/**
 * A statement in progress. `at` is the time of its last change, in ms; it is absent for old sheets. `isMasked`: a mask in its text
 * stands for a secret that was not kept, also if it comes back by an undo.
 */
export type Sheet = Draft & { id: number; at?: number; isMasked?: boolean | undefined }

/** A closed sheet, and the time when it was closed: other windows may still have it. */
type Closed = { id: number; at: number }

export const sheetsMax = 20
const closedMax = 100

const key = 'sheets'
const closedKey = 'closed-sheets'
const blank: Sheet = { id: 1, sql: '', db: defaultProject() }

const readList = <T>(from: string): T[] => {
  const kept = readKeptJson(from)
  return Array.isArray(kept) ? (kept as T[]) : []
}

/** The sheets that the browser keeps. An old one does not say whether its mask was typed. */
const readSheets = (): Sheet[] => readList<Sheet>(key).map((one) => ({ ...one, isMasked: one.isMasked ?? one.sql.includes(mask) }))

/** A sheet as the browser keeps it: only the window in which a secret was typed has it. */
const withoutItsSecrets = (sheet: Sheet): Sheet => {
  const sql = withoutSecrets(sheet.sql)
  return {
    ...{ ...sheet, sql, isMasked: sheet.isMasked === true || sql !== sheet.sql },
    ...(sheet.given !== undefined && { given: keptGiven(sheet.given) }),
  }
}

const orBlank = (kept: readonly Sheet[]): readonly Sheet[] => (kept.length === 0 ? [blank] : kept)

export const sheets = signal<readonly Sheet[]>(orBlank(readSheets()))
export const chosen = signal(sheets.value[0]?.id ?? blank.id)

/** Windows that create sheets at the same time must create different ids. */
const newId = (): number => Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) + 2

const isNewer = (one: Sheet, other: Sheet): boolean => (one.at ?? 0) > (other.at ?? 0)

/**
 * Merges the sheets of two windows: the latest text of each sheet, without those that were closed since.
 *
 * @example merged([{ id: 1, sql: 'a', db: 'd', at: 1 }], [{ id: 1, sql: 'b', db: 'd', at: 2 }], []) // [{ id: 1, sql: 'b', … }]
 */
export const merged = (kept: readonly Sheet[], ours: readonly Sheet[], closed: readonly Closed[]): readonly Sheet[] => {
  const all = new Map(kept.map((one) => [one.id, one]))
  for (const one of ours) {
    const other = all.get(one.id)
    if (!other || !isNewer(other, one)) all.set(one.id, one)
  }
  const closedAt = new Map(closed.map(({ id, at }) => [id, at]))
  return [...all.values()].filter(({ id, at = 0 }) => at > (closedAt.get(id) ?? -1))
}

/** Whether nothing is lost if another statement takes the place of this one. */
const isReplaceable = ({ id, sql }: Sheet): boolean => !untracked(() => sheetRuns.isRunning(id)) && (sql.trim() === '' || hasRun(sql))

/**
 * Stores the sheets together with those of other windows. If there are too many, the first ones that ran are dropped, but not the one that
 * is shown here: no typed text is lost.
 */
const keep = (next: readonly Sheet[], closing?: Closed): void => {
  const closed = [...readList<Closed>(closedKey), ...(closing ? [closing] : [])].slice(-closedMax)
  const all = merged(readSheets(), next, closed)
  let surplus = all.length - sheetsMax
  const isDropped = (one: Sheet): boolean =>
    surplus > 0 && one.id !== chosen.peek() && one.id !== next.at(-1)?.id && isReplaceable(one) && surplus-- > 0
  sheets.value = orBlank(all.filter((one) => !isDropped(one)))
  if (closing) keepText(closedKey, JSON.stringify(closed))
  keepText(key, JSON.stringify(sheets.value.map(withoutItsSecrets)))
}

/** The sheet that is shown. */
export const shownSheet = (): Sheet => sheets.value.find(({ id }) => id === chosen.value) ?? sheets.value[0] ?? blank

/** Changes the sheet that is shown. */
export const write = (change: Partial<Omit<Sheet, 'id' | 'at'>>): void => {
  const shown = shownSheet()
  const names = Object.keys(change) as (keyof typeof change)[]
  if (names.every((name) => shown[name] === change[name])) return
  keep(sheets.value.map((one) => (one.id === shown.id ? { ...one, ...change, at: Date.now() } : one)))
}

/**
 * Shows a statement in the sheet that contains it, perhaps with its secrets, in an empty sheet, or in a new one. A step back or forward
 * shows it in place of the shown statement, if that one ran.
 *
 * @example openSheet({ sql: 'SELECT 1', db: 'mindsdb' })
 */
export const openSheet = (draft: Draft, isStep = false): void => {
  const shown = shownSheet()
  const same = [shown, ...sheets.value].find(({ sql }) => sql === draft.sql || withoutSecrets(sql) === draft.sql)
  const found = same ?? (shown.sql.trim() === '' || (isStep && isReplaceable(shown)) ? shown : undefined)
  const id = found?.id ?? newId()
  const opened = { ...draft, sql: same?.sql ?? draft.sql, isMasked: same ? same.isMasked : isMasked(draft.sql) }
  if (!found) keep([...sheets.value, { id, ...opened, at: Date.now() }])
  chosen.value = id
  write(opened)
}

/** Closes a sheet in all windows; there is always at least one sheet. */
export const closeSheet = (id: number): void => {
  const at = sheets.value.findIndex((one) => one.id === id)
  const rest = sheets.value.filter((one) => one.id !== id)
  if (chosen.value === id) chosen.value = (rest[Math.min(at, rest.length - 1)] ?? blank).id
  keep(rest, { id, at: Date.now() })
}

const takeKept = (): void => {
  sheets.value = orBlank(merged(readSheets(), sheets.peek(), readList(closedKey)))
  chosen.value = shownSheet().id
}

/**
 * Takes over the changes of other windows, now and from then on; `changed` is called after each change, with
 * the sheet that was shown before.
 *
 * @returns a function that ends this
 */
export const followWindows = (changed: (before: number) => void): (() => void) => {
  const take = ({ key: written }: StorageEvent) => {
    if (written !== key) return
    const before = chosen.peek()
    takeKept()
    changed(before)
  }
  takeKept()
  addEventListener('storage', take)
  return () => removeEventListener('storage', take)
}

/** The title of a sheet. @example nameOf({ id: 1, sql: 'SELECT 1', db: 'mindsdb' }) // 'SELECT 1' */
export const nameOf = ({ sql }: Sheet): string => {
  const line = sql.trim().split('\n', 1)[0] ?? ''
  return line === '' ? 'New' : line.length > 24 ? `${line.slice(0, 23)}…` : line
}
