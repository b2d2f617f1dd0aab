/** Room: parts that several pages show. It imports console/api and console/basics alone. */

import type { ComponentChildren } from 'preact'
import type { ApiError } from '../api/request.js'

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

/** The text for an empty list. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
)

/** A line that says what is being loaded. */
export const Busy = ({ what = 'Loading' }: { what?: string }) => (
  <p class="busy" role="status">
    {what}…
  </p>
)
