import type { Warning } from './warnings.js'

/** What in a training's query may give other rows in another run, and the view that contains it. */
export type Nondeterminism = { what: string; view: string | null }

/** The warnings of a training whose query may give other rows in another run: its model can only be reproduced from the kept rows. */
export const unrepeatable = (nondeterminism: readonly Nondeterminism[]): Warning[] => {
  const details = nondeterminism.map(
    ({ what, view }) => `The query may give other rows when it is run again: ${what}${view === null ? '' : ` (in the view ${view})`}`,
  )
  return [...new Set(details)].map((detail) => ({ kind: 'unrepeatable', detail }))
}
