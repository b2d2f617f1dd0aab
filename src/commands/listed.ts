import type { AnyFound } from '../log/lookups.js'

const listedMax = 20

/** What stands in the way of a command, for its refusal: `agent broker, view large and 3 more` */
export const listed = (found: readonly AnyFound[]): string => {
  const names = found.slice(0, listedMax).map(({ kind, state }) => `${kind} ${state.name}`)
  return names.join(', ') + (found.length > listedMax ? ` and ${found.length - listedMax} more` : '')
}
