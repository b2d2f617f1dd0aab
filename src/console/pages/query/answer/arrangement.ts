import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { RowStore } from './rows.js'

/** The filter and the order of an answer's rows. The address stores them, so that other users see the same. */
export type Arrangement = { filter: string; by: number | undefined; descending: boolean }

/** @example readArrangement(new URLSearchParams('sort=-2')) // { filter: '', by: 1, descending: true } */
export const readArrangement = (query: URLSearchParams): Arrangement => {
  const sort = /^(-?)([1-9]\d{0,4})$/.exec(query.get('sort') ?? '')
  return { filter: query.get('filter') ?? '', by: sort ? Number(sort[2]) - 1 : undefined, descending: sort?.[1] === '-' }
}

/** The sort order as stored in an address: the column from 1, negative for descending order. @example sortText(1, true) // '-2' */
export const sortText = (by: number, descending: boolean): string => `${descending ? '-' : ''}${by + 1}`

/** Removes the filter and the order of an earlier statement's answer. */
export const asItComes = { filter: undefined, sort: undefined } as const

/** The pause in typing before the rows are filtered. */
const typedMs = 150
/** The time after which the page says that it sorts and filters. */
const slowMs = 400

/** Arranges rows, and again when all have arrived, so that the later ones are included. `arranged` is another number afterwards. */
export const useArranged = (
  store: RowStore | undefined,
  isWhole: boolean,
  { filter, by: asked, descending }: Arrangement,
): { arranged: number; isArranging: boolean } => {
  const arranged = useSignal(0)
  const isSlow = useSignal(false)
  const by = asked !== undefined && store && asked < store.columns.length ? asked : undefined
  useEffect(() => {
    if (!store) return undefined
    const aborting = new AbortController()
    const slow = setTimeout(() => (isSlow.value = true), slowMs)
    const stop = () => {
      clearTimeout(slow)
      isSlow.value = false
    }
    const arrange = async () => {
      try {
        await store.arrange({ filter, by, descending }, aborting.signal)
        arranged.value = arranged.peek() + 1
      } finally {
        // Another arrangement may have taken its place, with a time of its own.
        if (!aborting.signal.aborted) stop()
      }
    }
    const start = setTimeout(() => void arrange().catch(() => undefined), filter === '' ? 0 : typedMs)
    return () => {
      clearTimeout(start)
      stop()
      aborting.abort()
    }
  }, [store, isWhole, filter, by, descending])
  return { arranged: arranged.value, isArranging: isSlow.value }
}
