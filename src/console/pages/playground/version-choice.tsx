import { select } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import type { Side } from './live-answer.js'

type AgentVersion = { version: number; position: number; changed_at: string }

const versionsMax = 500

/** The versions that an agent has had under its name, the newest first. @throws ApiError */
const loadVersions = ({ project, agent }: Side, signal: AbortSignal): Promise<AgentVersion[]> =>
  select<AgentVersion>({
    query: `SELECT e.version, e.position, h.CHANGED_AT AS changed_at
      FROM information_schema.agents_history AS h JOIN log.events AS e ON e.position = h.VALID_FROM
      WHERE h.PROJECT = :project AND h.NAME = :agent ORDER BY e.position DESC LIMIT ${versionsMax}`,
    params: { project, agent },
    signal,
  })

type Props = {
  side: Side
  /** The position in the address, or `now`; empty for the moment that all pages show. */
  value: string
  moment: string | undefined
  choose: (value: string) => void
}

/** A field for the version of an agent: the current one, or one of the past. */
export const VersionChoice = ({ side, value, moment, choose }: Props) => {
  const { loaded } = useLoaded((signal) => loadVersions(side, signal), [side.project, side.agent])
  const { value: versions = [], error } = loaded.value
  const isListed = value === '' || value === 'now' || versions.some(({ position }) => String(position) === value)
  return (
    <label>
      Its version
      <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">{moment === undefined ? 'now' : `as of ${moment}, like the page`}</option>
        {(moment !== undefined || value === 'now') && <option value="now">now</option>}
        {!isListed && <option value={value}>as of {value}</option>}
        {versions.map(({ version, position, changed_at: time }) => (
          <option key={position} value={String(position)}>
            version {version}, {time.slice(0, 16)} UTC, as of {position}
          </option>
        ))}
      </select>
      {error && <span class="bad">Its versions cannot be listed: {error.message}</span>}
    </label>
  )
}
