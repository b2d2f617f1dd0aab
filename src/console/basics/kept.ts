import { signal } from '@preact/signals'

/** What the browser does not let the page keep, as a sentence; undefined if there is nothing to say. The frame shows it. */
export const storageProblem = signal<string | undefined>(undefined)

let isTold = false

const sentenceOf = (error: unknown): string =>
  error instanceof DOMException && error.name === 'QuotaExceededError'
    ? "The browser's storage for this page is full: what you type is not kept after a reload. Empty it in the settings of the browser."
    : 'The browser forbids this page its storage: what you type is not kept after a reload. Allow it in the settings of the browser.'

/** Says once that the storage does not work. All else works without it. */
const tell = (error: unknown): void => {
  if (isTold) return
  isTold = true
  storageProblem.value = sentenceOf(error)
}

/** A storage of the browser: `local` is for all its windows, `session` for one. */
type Area = 'local' | 'session'

const storageOf = (area: Area): Storage => (area === 'local' ? localStorage : sessionStorage)

/** A text that this browser keeps; null if there is none, or if the browser forbids its storage. @example readKept('theme') // 'dark' */
export const readKept = (key: string, area: Area = 'local'): string | null => {
  try {
    return storageOf(area).getItem(key)
  } catch (error) {
    tell(error)
    return null
  }
}

/** Keeps a text in this browser, and returns whether that worked: otherwise the old text stays. @example keep('theme', 'dark') */
export const keep = (key: string, text: string, area: Area = 'local'): boolean => {
  try {
    storageOf(area).setItem(key, text)
    return true
  } catch (error) {
    tell(error)
    return false
  }
}

/** The value of a kept JSON text; undefined if there is none, or if it cannot be read. */
export const readKeptJson = (key: string): unknown => {
  try {
    return JSON.parse(readKept(key) ?? '') as unknown
  } catch {
    return undefined
  }
}
