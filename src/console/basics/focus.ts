import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** The element that gets the keys, also inside an editor. */
export const focusedElement = (): HTMLElement | undefined => {
  let { activeElement } = document
  while (activeElement?.shadowRoot?.activeElement) ({ activeElement } = activeElement.shadowRoot)
  return activeElement instanceof HTMLElement ? activeElement : undefined
}

const isText = (element: HTMLElement): boolean => element.isContentEditable || element.matches('input, textarea, select')

/**
 * Whether the focus may be moved: it is nowhere, as after its element is gone, or still at the element from which the user asked. From a
 * place where the user types it never moves.
 */
export const isFocusFree = (asked?: Element | null): boolean => {
  const focused = focusedElement()
  if (!focused || focused === document.body) return true
  return !isText(focused) && (focused === asked || focused.matches(':disabled'))
}

/**
 * Moves the focus to an element as soon as a condition is true: keys go on there, and screen readers say what it is. If the user has gone
 * on to another element by then, the focus stays there.
 *
 * @param asked the element that asks for it, if it is still there then
 * @returns the ref of the element; one that keys cannot reach needs `tabIndex={-1}`
 * @example const plan = useFocusWhen<HTMLDivElement>(isAsked && isLoaded); return <div ref={plan} role="group" tabIndex={-1} />
 */
export const useFocusWhen = <E extends HTMLElement>(isWanted: boolean, asked?: RefObject<HTMLElement | null>): RefObject<E | null> => {
  const place = useRef<E>(null)
  // The first key after the element is seen belongs to it.
  useLayoutEffect(() => {
    if (isWanted && isFocusFree(asked?.current)) place.current?.focus()
  }, [isWanted])
  return place
}
