import { namesShown, type NamedResource } from '../../log/contract/lookups.js'

/** Lists the resources that prevent a command: `agent broker, view large and 3 more`. If their number is not given: `and more`. */
export const listed = (found: readonly NamedResource[], count?: number): string => {
  const names = found.slice(0, namesShown).map(({ kind, state }) => `${kind} ${state.name}`)
  const others = (count ?? found.length) - names.length
  return names.join(', ') + (others > 0 ? ` and ${count === undefined ? '' : `${others} `}more` : '')
}
