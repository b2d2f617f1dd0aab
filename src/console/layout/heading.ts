import { useLayoutEffect } from 'preact/hooks'
import { focusedElement, isFocusFree } from '../basics/focus.js'

/** Whether this document has shown something. The browser itself announces its first page. */
let wasShown = false

/** Says that something was shown which is no page: the next page takes its place. */
export const noteShown = (): void => {
  wasShown = true
}

/** Focuses the heading once it is there, unless the user has gone on to another part by then. Returns what ends the wait. */
const focusHeading = (): (() => void) => {
  const before = focusedElement()
  const take = (): boolean => {
    const heading = document.querySelector<HTMLElement>('#content h1')
    if (!heading) return false
    if (isFocusFree(before)) {
      heading.tabIndex = -1
      heading.focus()
    }
    return true
  }
  const watching = new MutationObserver(() => {
    if (take()) watching.disconnect()
  })
  const content = document.getElementById('content')
  if (content && !take()) watching.observe(content, { childList: true, subtree: true })
  return () => watching.disconnect()
}

/** Moves the focus to the heading of a page that takes the place of another one, so that screen readers say where the user is. */
export const useHeading = (): void => {
  useLayoutEffect(() => {
    if (wasShown) return focusHeading()
    noteShown()
    return undefined
  }, [])
}
