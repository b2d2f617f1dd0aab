import { useRef } from 'preact/hooks'
import { useFocusWhen } from '../basics/focus.js'
import { Refusal } from '../components/notice.js'
import { countText } from '../components/value.js'
import type { More } from './parts.js'

type Props = Pick<More, 'all' | 'load'> &
  Partial<Pick<More, 'isLoading' | 'error'>> & {
    /** The number of rows that are here. */
    here: number
    /** What is said while more can come. */
    said?: string | undefined
    /** What is said once all of it is here. */
    ended?: string | undefined
    /** What the button says. */
    name?: string
  }

/**
 * Says how much of a list is here, and loads more of it. Nothing if all was there from the beginning. The focus stays at the button. With
 * the last part it goes to the words in its place, so that Shift Tab leads to the last row.
 *
 * @example <ShowMore here={rows.length} {...more} />
 */
export const ShowMore = ({ here, all, load, isLoading = false, error, said, ended, name = 'Show more' }: Props) => {
  const wasPressed = useRef(false)
  const before = useRef(here)
  // Fewer rows are another list, such as that of another filter.
  if (here < before.current) wasPressed.current = false
  before.current = here
  const hasMore = here < all
  const end = useFocusWhen<HTMLParagraphElement>(wasPressed.current && !hasMore)
  const press = () => {
    wasPressed.current = true
    load()
  }
  if (!hasMore && !wasPressed.current) return null
  return (
    <>
      {error && <Refusal error={error} />}
      {/* A disabled button would lose the focus: while a part is loaded, pressing it again does nothing. */}
      <p ref={end} class="tools" role="status" tabIndex={-1} aria-busy={isLoading}>
        <span class="quiet">
          {hasMore ? (said ?? `The first ${countText(here)} of ${countText(all)} are here.`) : (ended ?? `All ${countText(all)} are here.`)}
        </span>
        {hasMore && (
          <button type="button" onClick={press}>
            {name}
          </button>
        )}
      </p>
    </>
  )
}
