import { forgetNode, shownNodes, type KnownNode } from '../../../log/shared/nodes.js'
import { ConfigError, type Config } from '../../../setup/config.js'
import type { Output } from '../../terminal/output.js'

const columns = ['state', 'id', 'version', 'address', 'seen', 'position', 'lag'] as const

/** What an operator has to know about a node; it needs no action while it only stopped. */
const faultOf = ({ id, state, ahead, unwritable }: KnownNode): string | undefined => {
  if (ahead > 0) return `${id} has ${ahead} events that PostgreSQL lost: "mindledger reappend" restores them`
  if (state === 'alive' && unwritable !== null) return `${id} refuses writes: ${unwritable}`
  return state === 'dead'
    ? `${id} is dead: PostgreSQL has not heard of it. If it does not come back: "mindledger nodes --forget ${id}"`
    : undefined
}

/**
 * `mindledger nodes`: the nodes that share the log of LOG_URL, from the list in PostgreSQL. Exit status 1 if one of them is dead or refuses
 * writes, or has events that PostgreSQL lost. `forget` is the id of a dead node that is taken off the list first.
 */
export const nodes = async (
  { logUrl }: Config,
  { json, forget }: { json: boolean; forget: string | undefined },
  out: Output,
): Promise<number> => {
  if (logUrl === undefined) throw new ConfigError('LOG_URL: must be set to the PostgreSQL of the nodes; without it there is one node')
  if (forget !== undefined) await forgetNode(logUrl, forget)
  const known = await shownNodes(logUrl)
  if (json) for (const node of known) out.line(JSON.stringify(node))
  else {
    const rows = [
      [...columns],
      ...known.map(({ state, id, version, address, seenAt, position, lag }) => [
        ...[state, id, version, address ?? '-', seenAt.toISOString(), String(position), String(lag)],
      ]),
    ]
    const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
    for (const row of rows)
      out.line(
        row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd(),
      )
  }
  const faults = known.flatMap((node) => faultOf(node) ?? [])
  if (!json) for (const fault of faults) out.line(fault)
  return faults.length > 0 ? 1 : 0
}
