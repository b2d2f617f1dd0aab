import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { ApiError } from '../api/request.js'
import { select, type Value } from '../api/sql.js'
import { useLoaded, useSending } from '../basics/loading.js'
import { changeQuery } from '../basics/place.js'
import { numberShown } from './page-links.js'

/** The rows of the first part of a list, and the least that every further part has. */
export const partRows = 500

/** The most rows of a part. */
const partMax = 10_000

/** The most rows that an address asks for at once. */
const addressMax = 100_000

/**
 * The number of rows that come next: the more are here, the more come, so that the end of a long list is a few steps away.
 *
 * @example rowsNext(4_000) // 2_000
 */
export const rowsNext = (here: number): number => Math.min(partMax, partRows * Math.max(1, Math.ceil(here / (2 * partRows))))

/** The place of a part: the rows before it, the most that it has, and the moment that it is read at. */
export type PartPlace = { skipped: number; most: number; at: string | undefined }

/** A part of a list. `next` is the place after it, `all` the number of all rows, and `at` the moment that the next parts are read at. */
export type Part<T> = { rows: readonly T[]; next: number; all: number; at: string | undefined }

type Rows = {
  /** A query without an order, with the parameters that it needs. */
  query: string
  params?: Record<string, Value>
  /** The order of the rows, in which no two have the same place. */
  order: string
  /** More columns of the rows of the part, which the query calls `part`, and where they come from. */
  details?: { columns: string; joins: string } | undefined
}

/**
 * A part of the rows of a query. If the first part is read now, the ones after it are read at its position of the log: whatever is written
 * meanwhile, no row is missing between them, or comes twice.
 *
 * @example await selectPart({ query: 'SELECT * FROM log.erasures', order: 'position DESC' }, { skipped: 0, most: 500, at }, signal)
 * @throws ApiError
 */
export const selectPart = async <T extends Record<string, Value>>(
  { query, params, order, details }: Rows,
  { skipped, most, at }: PartPlace,
  signal: AbortSignal,
): Promise<Part<T>> => {
  const rows = await select<T & { all_rows: number; head: number | null }>({
    query: `WITH part AS (
        SELECT *, row_number() OVER (ORDER BY ${order}) AS place, count(*) OVER () AS all_rows,
          (SELECT max(position) FROM log.events) AS head
        FROM (${query}) AS listed ORDER BY place LIMIT ${most} OFFSET ${skipped}
      )
      SELECT part.*${details ? `, ${details.columns}` : ''} FROM part ${details?.joins ?? ''} ORDER BY part.place`,
    params,
    at,
    signal,
  })
  const [first] = rows
  const next = skipped + rows.length
  return { rows, next, all: first?.all_rows ?? next, at: at ?? (first ? String(first.head) : undefined) }
}

/** What leads to the rest of a list. */
export type More = {
  /** The number of all rows. */
  all: number
  /** Loads the next part. */
  load: () => void
  isLoading: boolean
  error: ApiError | undefined
}

type Parts<T, P extends Part<T>> = {
  /** The rows that are here; undefined until the first part is. */
  rows: readonly T[] | undefined
  /** The first part, with what it says besides its rows. */
  first: P | undefined
  error: ApiError | undefined
  reload: () => void
  more: More
}

/**
 * The rows of a list, part by part. The address has the number of rows that are here, unless it is that of the first part: a colleague sees
 * as many, and so does a reload.
 *
 * @param at the moment that is shown
 * @param inputs what the list depends on besides
 * @param name the name of the number in the address
 * @example const { rows, more } = useParts((place, signal) => selectPart<Erasure>(erasures, place, signal), at, [])
 */
export const useParts = <T, P extends Part<T> = Part<T>>(
  read: (place: PartPlace, signal: AbortSignal) => Promise<P & Part<T>>,
  at: string | undefined,
  inputs: readonly unknown[],
  name = 'shown',
): Parts<T, P> => {
  const asked = numberShown(name)
  /** The number that this list itself has put into the address: it is no reason to load anything. */
  const own = useRef<number | null>(null)
  const wanted = useRef(asked)
  if (asked !== own.current) wanted.current = asked
  const listed = [...inputs, at, wanted.current]
  const { loaded, reload } = useLoaded((signal) => {
    const most = Math.max(partRows, Math.min(numberShown(name) ?? 0, addressMax))
    return read({ skipped: 0, most, at }, signal)
  }, listed)
  const { value: first, error } = loaded.value
  /** All parts so far; `of` is the first one of them. */
  const joined = useSignal<{ of: Part<T>; all: Part<T> } | undefined>(undefined)
  const { send, isSending: isLoading, error: refused, forget } = useSending()
  const further = useRef<AbortController | undefined>(undefined)
  // What is asked for one list, and its refusal, mean nothing to the next one.
  const leave = () => {
    further.current?.abort()
    forget()
  }
  useLayoutEffect(() => leave, listed)
  const known: Part<T> | undefined = joined.value && joined.value.of === first ? joined.value.all : first
  const load = () =>
    send(async () => {
      if (!first || !known) return
      const place = { skipped: known.next, most: rowsNext(known.rows.length), at: first.at }
      const aborting = new AbortController()
      further.current = aborting
      const part = await read(place, aborting.signal).catch((refusal: unknown) => {
        if (!aborting.signal.aborted) throw refusal
      })
      if (!part || aborting.signal.aborted || loaded.peek().value !== first) return
      const rows = [...known.rows, ...part.rows]
      joined.value = { of: first, all: { ...part, rows, all: part.rows.length === 0 ? part.next : part.all } }
      own.current = rows.length
      changeQuery({ [name]: String(rows.length) })
    })
  const left = known ? Math.max(0, known.all - known.next) : 0
  return {
    ...{ rows: known?.rows, first, error, reload },
    more: { all: (known?.rows.length ?? 0) + left, load: () => void load(), isLoading, error: refused },
  }
}

/**
 * The first rows of a list that is there as a whole, and what leads to the others: a page with many thousands is slow.
 *
 * @param name the name of their number in the address; without it the address does not have it
 * @example const { here, more } = useFirst(rows, 50)
 */
export const useFirst = <T>(rows: readonly T[], first = partRows, name?: string): { here: readonly T[]; more: More } => {
  const own = useSignal(first)
  const most = name === undefined ? own.value : Math.max(first, numberShown(name) ?? 0)
  const load = () => {
    const next = most + rowsNext(most)
    if (name === undefined) own.value = next
    else changeQuery({ [name]: String(next) })
  }
  return { here: rows.slice(0, most), more: { all: rows.length, load, isLoading: false, error: undefined } }
}
