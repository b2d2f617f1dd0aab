import { signal } from '@preact/signals'
import { parseHead, type Head } from './head.js'

/** A head that is stored on this machine, with the service's key at that time. */
export type LocalHead = { head: Head; key: string; keptAt: string }

type StoredHead = { note: string; key: string; keptAt: string }

const place = 'mindledger.heads'
/** The oldest head proves most: if there are too many heads, those in the middle are dropped. */
const keptMax = 50

const read = (): LocalHead[] => {
  try {
    const stored = JSON.parse(localStorage.getItem(place) ?? '[]') as StoredHead[]
    return stored.map(({ note, key, keptAt }) => ({ head: parseHead(note), key, keptAt }))
  } catch {
    return []
  }
}

/** The heads that this browser keeps, the smallest log first. */
export const keptHeads = signal<readonly LocalHead[]>(read())

const write = (heads: readonly LocalHead[]): void => {
  const bySize = heads.toSorted((a, b) => a.head.size - b.head.size)
  const some = bySize.length <= keptMax ? bySize : [...bySize.slice(0, keptMax / 2), ...bySize.slice(-keptMax / 2)]
  keptHeads.value = some
  localStorage.setItem(place, JSON.stringify(some.map(({ head, key, keptAt }): StoredHead => ({ note: head.note, key, keptAt }))))
}

/** Stores heads in this browser, each once. If there are too many, those in the middle are dropped. */
export const keep = (heads: readonly LocalHead[]): void => {
  const known = new Set(keptHeads.peek().map(({ head }) => head.signed))
  write([...keptHeads.peek(), ...heads.filter(({ head }) => !known.has(head.signed))])
}

/** Removes a head from this browser. */
export const forget = (head: Head): void => write(keptHeads.peek().filter((kept) => kept.head.signed !== head.signed))
