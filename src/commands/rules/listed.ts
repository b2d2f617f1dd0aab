import type { NamedResource } from '../../log/contract/lookups.js'

const listedMax = 20

/** Lists the resources that prevent a command: `agent broker, view large and 3 more`. `count` is their total number. */
export const listed = (found: readonly NamedResource[], count = found.length): string => {
  const names = found.slice(0, listedMax).map(({ kind, state }) => `${kind} ${state.name}`)
  return names.join(', ') + (count > names.length ? ` and ${count - names.length} more` : '')
}
