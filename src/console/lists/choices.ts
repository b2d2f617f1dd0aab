import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { rest } from '../api/away.js'
import { select, type Value } from '../api/sql.js'
import { useLoaded } from '../basics/loading.js'

/** Something that can be chosen: its value in an address or a body, and its name for the user. */
export type Option = { value: string; text: string }

/** The first options that have a text in their names, and the number of all of them. */
export type Found = { options: readonly Option[]; all: number }

/** Asks the service for the options whose names have a text in them. @throws ApiError */
export type SearchOptions = (sought: string, most: number, signal: AbortSignal) => Promise<Found>

/** The pause in typing before a text is searched, in ms: the texts on the way to it are not. */
const pauseInTypingMs = 150

/**
 * Waits until nothing more is typed, before a search.
 *
 * @throws the reason of the signal when more is typed
 */
export const untilTyped = async (sought: string, signal: AbortSignal): Promise<void> => {
  if (sought === '') return
  await rest(pauseInTypingMs, signal)
  signal.throwIfAborted()
}

/** So many options are offered at once; more are searched. */
export const fewMax = 200

type Offered = {
  /** A query for `value` and `name` of each option, without an order. */
  query: string
  params?: Record<string, Value>
  /** The order of options that fit equally well. */
  order?: string
  at?: string | undefined
}

/**
 * The search in the options that a query finds. A name that is the text comes first, then names that begin with it.
 *
 * @example const search = searchOf({ query: `SELECT name AS value, name FROM log.resources WHERE kind = 'project'` })
 */
export const searchOf =
  ({ query, params, order = 'name', at }: Offered): SearchOptions =>
  async (sought, most, signal) => {
    const found = await select<{ value: string; name: string; all_options: number }>({
      query: `SELECT value, name, count(*) OVER () AS all_options FROM (${query}) AS offered WHERE contains(lower(name), :sought)
        ORDER BY lower(name) = :sought DESC, starts_with(lower(name), :sought) DESC, ${order} LIMIT ${most}`,
      params: { ...params, sought: sought.toLowerCase() },
      at,
      signal,
    })
    return { options: found.map(({ value, name }) => ({ value, text: name })), all: found[0]?.all_options ?? 0 }
  }

/** The projects of now. */
export const searchProjects = searchOf({ query: `SELECT name AS value, name FROM log.resources WHERE kind = 'project'` })

/**
 * The options of a field before anything is typed.
 *
 * @param inputs what the search depends on
 * @example const { loaded } = useOptions(search, [at])
 */
export const useOptions = (search: SearchOptions, inputs: readonly unknown[]) => useLoaded((signal) => search('', fewMax, signal), inputs)

/** What tells whether a field searches its options. `root` is the ref of the whole field, and `left` hears that the focus leaves it. */
type Searched = { isSearched: boolean; root: (element: HTMLElement | null) => void; left: () => void }

/** Whether there are so many options that they are searched. The field is not replaced while its user is in it. */
export const useIsSearched = (found: Found | undefined): Searched => {
  const field = useRef<HTMLElement | null>(null)
  const areMany = found !== undefined && found.all > found.options.length
  const isSearched = useSignal(areMany)
  const settle = () => {
    if (field.current?.contains(document.activeElement) !== true) isSearched.value = areMany
  }
  useLayoutEffect(settle, [areMany])
  return { isSearched: isSearched.value, root: (element) => void (field.current = element), left: settle }
}
