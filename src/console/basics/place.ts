/** Room: shared parts of pages without a view: places, kinds, words and themes. It imports only console/api. */

// The user's place in the console. It is stored behind the # of the address: users can share it, it works below any folder of a proxy, and
// no server logs it. The last point matters because a query may contain data.

import { signal } from '@preact/signals'

export type Place = { path: string; query: URLSearchParams }

const read = (hash: string): Place => {
  const text = hash.slice(1)
  const mark = text.indexOf('?')
  const path = mark < 0 ? text : text.slice(0, mark)
  return { path: path === '' ? '/' : path, query: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)) }
}

/** The user's place, as read from the part of the address behind the `#`. */
export const place = signal(read(location.hash))

/** Browsers limit how often the address may change, Safari to 100 times in 30 s. This many happen at once, then one each time. */
const changesAtOnce = 20
const writeEveryMs = 500

/** The address that the current step does not have yet. */
let waiting: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined
/** The time of the last change if all of them were as far apart as they may be. */
let due = -Infinity

/** Browsers refuse an address that is too long. The place is right without it, and is only not kept or shared. */
const write = (method: 'pushState' | 'replaceState', href: string): void => {
  try {
    history[method](null, '', href)
  } catch {
    // The old address stays.
  }
}

const writeWaiting = (): void => {
  if (waiting === undefined) return
  write('replaceState', waiting)
  waiting = undefined
}

/** Writes the address at once, or as soon as the browser lets it change again. */
const replaceSoon = (href: string): void => {
  waiting = href
  if (timer !== undefined) return
  const now = performance.now()
  due = Math.max(due, now - changesAtOnce * writeEveryMs) + writeEveryMs
  if (due <= now) writeWaiting()
  else
    timer = setTimeout(() => {
      timer = undefined
      writeWaiting()
    }, due - now)
}

addEventListener('hashchange', () => {
  // The change that waits to be written belongs to the address before this one.
  waiting = undefined
  place.value = read(location.hash)
})

type Query = Record<string, string | undefined>

/** The position or time of the shown data; undefined means now. */
export const momentShown = (): string | undefined => place.value.query.get('at') ?? undefined

/**
 * The address of a place. It keeps the shown moment, unless the query has another one.
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

/** Goes to a place; with `replace` there is no step back to the current one. */
export const go = (path: string, query: Query = {}, { replace = false } = {}): void => {
  const href = hrefOf(path, query)
  if (replace) replaceSoon(href)
  else {
    writeWaiting()
    if (href !== location.hash) write('pushState', href)
  }
  place.value = read(href)
}

/** Goes to something that was made just now. The past that was shown before does not have it. @example goToMade('/resources/file/-/homes') */
export const goToMade = (path: string, query: Query = {}): void => go(path, { ...query, at: undefined })

/** Changes some parameters of the current address, and keeps the others. */
export const changeQuery = (change: Query, { replace = true } = {}): void => {
  const { path, query } = place.value
  go(path, { ...Object.fromEntries(query), at: momentShown(), ...change }, { replace })
}

/** The value of an address parameter that is written as JSON; undefined if it is truncated or was broken by hand. */
export const jsonIn = (text: string | null): unknown => {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

/** Builds a path from parts, such as names of resources. */
export const pathOf = (...parts: string[]): string => `/${parts.map(encodeURIComponent).join('/')}`
