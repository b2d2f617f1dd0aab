import { shownNodes } from '../../../log/shared/nodes.js'
import { ConfigError, type Config } from '../../../setup/config.js'
import type { Output } from '../../terminal/output.js'

const columns = ['state', 'id', 'version', 'address', 'seen', 'position', 'lag'] as const

/** `mindledger nodes`: the nodes that share the log of LOG_URL, from the list in PostgreSQL; exit status 1 if one of them is dead. */
export const nodes = async ({ logUrl }: Config, { json }: { json: boolean }, out: Output): Promise<number> => {
  if (logUrl === undefined) throw new ConfigError('LOG_URL: must be set to the PostgreSQL of the nodes; without it there is one node')
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
  return known.some(({ state }) => state === 'dead') ? 1 : 0
}
