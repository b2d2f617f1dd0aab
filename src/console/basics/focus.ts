import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** The element that gets the keys, also inside an editor. */
export const focusedElement = (): HTMLElement | undefined => {
  let { activeElement } = document
  while (activeElement?.shadowRoot?.activeElement) ({ activeElement } = activeElement.shadowRoot)
  return activeElement instanceof HTMLElement ? activeElement : undefined
}

/**
 * Moves the focus to an element as soon as a condition is true: keys go on there, and screen readers say what it is.
 *
 * @returns the ref of the element; one that keys cannot reach needs `tabIndex={-1}`
 * @example const plan = useFocusWhen<HTMLDivElement>(isAsked && isLoaded); return <div ref={plan} role="group" tabIndex={-1} />
 */
export const useFocusWhen = <E extends HTMLElement>(isWanted: boolean): RefObject<E | null> => {
  const place = useRef<E>(null)
  useEffect(() => {
    if (isWanted) place.current?.focus()
  }, [isWanted])
  return place
}
