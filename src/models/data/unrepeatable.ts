import type { Warning } from './warnings.js'

/** What of a training's query may give other rows when it is run again, and the view in which that stands. */
export type Nondeterminism = { what: string; view: string | null }

/** The warnings of a training whose query may not give the same rows again: its model is reproduced from the kept rows alone. */
export const unrepeatable = (chances: readonly Nondeterminism[]): Warning[] => {
  const details = chances.map(
    ({ what, view }) => `The query may give other rows when it is run again: ${what}${view === null ? '' : ` (in the view ${view})`}`,
  )
  return [...new Set(details)].map((detail) => ({ kind: 'unrepeatable', detail }))
}
