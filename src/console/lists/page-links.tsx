import { hrefOf, place } from '../basics/place.js'

/** The whole number that the address has under a name; null if it has none. */
export const numberShown = (name: string): number | null => {
  const text = place.value.query.get(name) ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

/**
 * Splits the rows of a request for one row more than the page shows: there may be fewer.
 *
 * @returns `next` is the first row of the page after this one
 * @example pageOf([9, 7, 4], 2) // { rows: [9, 7], next: 4 }
 */
export const pageOf = <T,>(asked: readonly T[], size: number): { rows: readonly T[]; next: T | undefined } => ({
  rows: asked.slice(0, size),
  next: asked[size],
})

/** Moves the focus and the view to the top of the page. */
const toTop = (): void => {
  const content = document.getElementById('content')
  content?.focus({ preventScroll: true })
  content?.scrollTo(0, 0)
}

/**
 * Links beside a page of rows: to the page with earlier ones, whose start the address stores under a name, and back to the newest.
 *
 * @param start the start of the page with earlier rows; undefined if there are none, and then `end` says so
 * @param isEmpty the page has no row, and says so itself
 * @example <PageLinks name="position" start={next?.position} end="The conversation begins here." />
 */
export const PageLinks = ({
  name,
  start,
  end,
  isEmpty = false,
}: {
  name: string
  start: number | undefined
  end: string
  isEmpty?: boolean
}) => {
  const { path, query } = place.value
  if (isEmpty && !query.has(name)) return null
  const to = (value: string | undefined) => hrefOf(path, { ...Object.fromEntries(query), [name]: value })
  return (
    <p class="tools">
      {query.has(name) && (
        <a class="button" href={to(undefined)} onClick={toTop}>
          Newest
        </a>
      )}
      {start === undefined ? (
        !isEmpty && <span class="quiet">{end}</span>
      ) : (
        <a class="button" href={to(String(start))} onClick={toTop}>
          Earlier
        </a>
      )}
    </p>
  )
}
