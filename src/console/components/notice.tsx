/** Room: parts that several pages show. It imports only console/api and console/basics. */

import { useSignal, type Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ApiError } from '../api/request.js'
import { commandText } from '../basics/keys.js'

/** The reason why something is not shown, and the remedy. */
export const Refusal = ({ error, again }: { error: ApiError; again?: (() => void) | undefined }) => (
  <div class="notice bad" role="alert">
    <p>{error.message}</p>
    {error.hint !== undefined && <p class="quiet">{error.hint}</p>}
    {again && (
      <button type="button" onClick={again}>
        Try again
      </button>
    )}
  </div>
)

/** The text for an empty list, or for a page that is not there: then it has the heading of the page. */
export const Empty = ({ title, isPage = false, children }: { title: string; isPage?: boolean; children?: ComponentChildren }) => (
  <div class="empty">
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
)

/** A line that says what is being loaded. */
export const Busy = ({ what = 'Loading' }: { what?: string }) => (
  <p class="busy" role="status">
    {what}…
  </p>
)

/** Copies a text. A browser lets a page write into the clipboard only over HTTPS or on this machine; elsewhere the keys do. */
export const Copy = ({ text, said }: { text: () => string; said: Signal<string> }) =>
  isSecureContext ? (
    <button
      type="button"
      onClick={() => {
        navigator.clipboard.writeText(text()).then(
          () => (said.value = 'Copied.'),
          () => (said.value = `The browser did not allow it. Press ${commandText('C')}.`),
        )
      }}
    >
      Copy
    </button>
  ) : null

/** A secret text that the service shows only once. */
export const ShownOnce = ({ title, text, children }: { title: string; text: string; children?: ComponentChildren }) => {
  const said = useSignal('')
  return (
    <section class="notice" aria-label={title}>
      <h2>{title}</h2>
      <pre tabIndex={0} role="region" aria-label="The text to copy">
        {text}
      </pre>
      <p class="quiet">It is shown only this once.</p>
      <div class="tools">
        <Copy text={() => text} said={said} />
        {children}
        <p role="status">{said.value}</p>
      </div>
    </section>
  )
}
