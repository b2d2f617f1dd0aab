import { signal } from '@preact/signals'
import { parseHead, type Head } from './head.js'

/** A head on this machine, with the key that the service had then. */
export type LocalHead = { head: Head; key: string; keptAt: string }

type StoredHead = { note: string; key: string; keptAt: string }

const place = 'mindledger.heads'
/** The oldest head proves most: when there are too many, those in the middle go. */
const keptMax = 50

const read = (): LocalHead[] => {
  try {
    const stored = JSON.parse(localStorage.getItem(place) ?? '[]') as StoredHead[]
    return stored.map(({ note, key, keptAt }) => ({ head: parseHead(note), key, keptAt }))
  } catch {
    return []
  }
}

/** The heads that this browser keeps, the smallest first. */
export const keptHeads = signal<readonly LocalHead[]>(read())

const write = (heads: readonly LocalHead[]): void => {
  const bySize = heads.toSorted((a, b) => a.head.size - b.head.size)
  const some = bySize.length <= keptMax ? bySize : [...bySize.slice(0, keptMax / 2), ...bySize.slice(-keptMax / 2)]
  keptHeads.value = some
  localStorage.setItem(place, JSON.stringify(some.map(({ head, key, keptAt }): StoredHead => ({ note: head.note, key, keptAt }))))
}

/** Keeps heads in this browser, each once. When there are too many, those in the middle go. */
export const keep = (heads: readonly LocalHead[]): void => {
  const known = new Set(keptHeads.peek().map(({ head }) => head.signed))
  write([...keptHeads.peek(), ...heads.filter(({ head }) => !known.has(head.signed))])
}

/** Removes a head from those that this browser keeps. */
export const forget = (head: Head): void => write(keptHeads.peek().filter((kept) => kept.head.signed !== head.signed))
