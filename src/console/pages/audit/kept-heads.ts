import { signal } from '@preact/signals'
import { ApiError } from '../../api/request.js'
import { keep as keepText, readKeptJson } from '../../basics/kept.js'
import { parseHead, type Head } from './head.js'

/**
 * A head that is stored on this machine, with the service's key at that time. One that was not taken from a file came from the service at
 * this address.
 */
export type LocalHead = { head: Head; key: string; keptAt: string; isFromFile: boolean }

type StoredHead = { note: string; key: string; keptAt: string; isFromFile?: boolean }

const place = 'mindledger.heads'
/** The oldest head proves most: if there are too many heads, those in the middle are dropped. */
const keptMax = 50

/** What is stored, including entries that this page cannot read. */
const stored = (): unknown[] => {
  const entries = readKeptJson(place)
  return Array.isArray(entries) ? entries : []
}

const headIn = (entry: unknown): LocalHead | undefined => {
  try {
    const { note, key, keptAt, isFromFile } = entry as StoredHead
    if (typeof key !== 'string' || typeof keptAt !== 'string') return undefined
    return { head: parseHead(note), key, keptAt, isFromFile: isFromFile === true }
  } catch {
    return undefined
  }
}

const headsIn = (entries: readonly unknown[]): LocalHead[] => entries.flatMap((entry) => headIn(entry) ?? [])

/** The heads that this browser keeps, the smallest log first. */
export const keptHeads = signal<readonly LocalHead[]>(headsIn(stored()))
addEventListener('storage', ({ key }) => {
  if (key === place || key === null) keptHeads.value = headsIn(stored())
})

/** Changes the stored heads, which other windows share. An entry that cannot be read stays. @throws ApiError when nothing was stored */
const write = (change: (heads: readonly LocalHead[]) => readonly LocalHead[]): void => {
  const entries = stored()
  const bySize = change(headsIn(entries)).toSorted((a, b) => a.head.size - b.head.size)
  const some = bySize.length <= keptMax ? bySize : [...bySize.slice(0, keptMax / 2), ...bySize.slice(-keptMax / 2)]
  const unread = entries.filter((entry) => headIn(entry) === undefined)
  const written = some.map(({ head, ...more }): StoredHead => ({ note: head.note, ...more }))
  if (!keepText(place, JSON.stringify([...written, ...unread])))
    throw new ApiError({
      status: 0,
      detail: 'the browser did not store this',
      hint: 'Allow this page its storage, or save the heads as a file.',
    })
  keptHeads.value = some
}

/** Stores heads in this browser, each once. If there are too many, those in the middle are dropped. @throws ApiError */
export const keep = (heads: readonly LocalHead[]): void =>
  write((kept) => {
    const known = new Set(kept.map(({ head }) => head.signed))
    const ofService = new Set(heads.filter(({ isFromFile }) => !isFromFile).map(({ head }) => head.signed))
    return [
      ...kept.map((one) => ({ ...one, isFromFile: one.isFromFile && !ofService.has(one.head.signed) })),
      ...heads.filter(({ head }) => !known.has(head.signed)),
    ]
  })

/** Removes a head from this browser. @throws ApiError */
export const forget = (head: Head): void => write((kept) => kept.filter((one) => one.head.signed !== head.signed))
