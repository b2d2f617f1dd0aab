/** Room: shared parts of pages without a view: places, kinds, words and themes. It imports console/api alone. */

// Where the reader is. It stands behind the # of the address: it can be sent to a colleague, works below any folder of a proxy, and is
// in no log of a server, which matters because a query may hold data.

import { signal } from '@preact/signals'

export type Place = { path: string; query: URLSearchParams }

const read = (): Place => {
  const text = location.hash.slice(1)
  const mark = text.indexOf('?')
  const path = mark < 0 ? text : text.slice(0, mark)
  return { path: path === '' ? '/' : path, query: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)) }
}

/** Where the user is, as the address says it behind the `#`. */
export const place = signal(read())
addEventListener('hashchange', () => {
  place.value = read()
})

type Query = Record<string, string | undefined>

/** The position or time that everything is shown at; undefined is now. */
export const momentShown = (): string | undefined => place.value.query.get('at') ?? undefined

/**
 * The address of a place. The moment that is shown goes on with the reader, unless the query says another one.
 *
 * @example <a href={hrefOf('/projects/shop')}>shop</a>
 */
export const hrefOf = (path: string, query: Query = {}): string => {
  const at = momentShown()
  const all: Query = { ...(at !== undefined && { at }), ...query }
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(all)) if (value !== undefined && value !== '') search.set(name, value)
  const text = search.toString()
  return `#${path}${text === '' ? '' : `?${text}`}`
}

/** Goes to a place; `replace` leaves no step back to this one. */
export const go = (path: string, query: Query = {}, { replace = false } = {}): void => {
  const href = hrefOf(path, query)
  if (!replace) {
    location.hash = href
    return
  }
  history.replaceState(null, '', href)
  place.value = read()
}

/** Changes the query of this place, and leaves the rest as it is. */
export const changeQuery = (change: Query, { replace = true } = {}): void => {
  const { path, query } = place.value
  go(path, { ...Object.fromEntries(query), at: momentShown(), ...change }, { replace })
}

/** What a member of an address means that is written as JSON; undefined where it is cut off or changed by hand. */
export const jsonIn = (text: string | null): unknown => {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

/** A path of parts, such as names of resources. */
export const pathOf = (...parts: string[]): string => `/${parts.map(encodeURIComponent).join('/')}`
