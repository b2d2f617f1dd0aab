import { useMemo } from 'preact/hooks'
import { useFocusWhen } from '../../basics/focus.js'
import { searchOf, useOptions, type SearchOptions } from '../../lists/choices.js'
import { SearchChoice } from '../../lists/search-choice.js'
import type { Side } from './live-answer.js'

/** The search in the versions that an agent has had under its name, the newest first; a value is the position of a version. */
const versionSearch = ({ project, agent }: Side): SearchOptions =>
  searchOf({
    query: `SELECT CAST(e.position AS VARCHAR) AS value, e.position,
        concat('version ', e.version, ', ', strftime(h.CHANGED_AT, '%Y-%m-%d %H:%M'), ' UTC, as of ', e.position) AS name
      FROM information_schema.agents_history AS h JOIN log.events AS e ON e.position = h.VALID_FROM
      WHERE h.PROJECT = :project AND h.NAME = :agent`,
    params: { project, agent },
    order: 'position DESC',
  })

type Props = {
  side: Side
  /** The position in the address, or `now`; empty for the moment that all pages show. */
  value: string
  moment: string | undefined
  /** Whether the user asked for it just now: then it takes the focus. */
  isAsked: boolean
  choose: (value: string) => void
}

/** A field for the version of an agent: the current one, or one of the past. */
export const VersionChoice = ({ side, value, moment, isAsked, choose }: Props) => {
  const { project, agent } = side
  const search = useMemo(() => versionSearch(side), [project, agent])
  const { loaded } = useOptions(search, [project, agent])
  const { value: found, error } = loaded.value
  const group = useFocusWhen<HTMLDivElement>(isAsked && found !== undefined)
  return (
    <div ref={group} role="group" tabIndex={-1} aria-label={`The version of ${agent} beside it`}>
      <SearchChoice
        label="Its version"
        value={value}
        choose={choose}
        found={found}
        search={search}
        none={moment === undefined ? 'now' : `as of ${moment}, like the page`}
        also={moment !== undefined || value === 'now' ? [{ value: 'now', text: 'now' }] : []}
        nameOf={(position) => `as of ${position}`}
      />
      {error && <span class="bad">Its versions cannot be listed: {error.message}</span>}
    </div>
  )
}
