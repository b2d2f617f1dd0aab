import { select } from '../../api/sql.js'
import { kinds } from '../../basics/kinds.js'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery } from '../../basics/place.js'
import { wordsOf } from '../../basics/words.js'
import { TextField } from '../../components/text-field.js'
import type { LogEvent } from './log-event.js'

const filterNames = ['kind', 'type', 'actor', 'project'] as const

/** The filter of events; a member that is null matches all. */
export type Filter = Record<(typeof filterNames)[number], string | null>

/** The filter in an address. */
export const filterIn = (query: URLSearchParams): Filter => ({
  kind: query.get('kind'),
  type: query.get('type'),
  actor: query.get('actor'),
  project: query.get('project'),
})

/** A filter as a query string for the API. @example searchOf({ kind: 'skill', type: null, actor: null, project: null }) // 'kind=skill' */
export const searchOf = (filter: Filter): string => {
  const search = new URLSearchParams()
  for (const name of filterNames) {
    const wanted = filter[name]
    if (wanted !== null && wanted !== '') search.set(name, wanted)
  }
  return search.toString()
}

/** The kinds of events whose resources have no page. */
const otherKinds = ['conversation', 'config', 'engine', 'predictions', 'answers', 'contents', 'queries', 'searches', 'log']
const kindsOffered = [...kinds.map(({ kind }) => kind), ...otherKinds]

/** The event types in the log, sorted by name. */
const useTypes = (at: string | undefined): readonly string[] => {
  const { loaded } = useLoaded(
    async (signal) =>
      (await select<{ type: string }>({ query: 'SELECT DISTINCT type FROM log.events', at, signal })).map(({ type }) => type),
    [at],
  )
  return loaded.value.value ?? []
}

/** Filters events by kind, type, actor and project. It offers the types that are shown or chosen, even while SQL is starting. */
export const Filters = ({ filter, at, events }: { filter: Filter; at: string | undefined; events: readonly LogEvent[] }) => {
  const shownTypes = [...events.map(({ type }) => type), ...(filter.type === null ? [] : [filter.type])]
  const types = [...new Set([...useTypes(at), ...shownTypes])].filter((type) => type !== '').toSorted()
  return (
    <>
      <label class="inline">
        <span>Kind</span>
        <select value={filter.kind ?? ''} onChange={({ currentTarget }) => changeQuery({ kind: currentTarget.value, type: undefined })}>
          <option value="">all</option>
          {kindsOffered.map((kind) => (
            <option key={kind} value={kind}>
              {kind.replace('_', ' ')}
            </option>
          ))}
        </select>
      </label>
      <label class="inline">
        <span>Type</span>
        <select value={filter.type ?? ''} onChange={({ currentTarget }) => changeQuery({ type: currentTarget.value })}>
          <option value="">all</option>
          {types.map((type) => (
            <option key={type} value={type}>
              {wordsOf(type)}
            </option>
          ))}
        </select>
      </label>
      <label class="inline">
        <span>By</span>
        <TextField value={filter.actor ?? ''} change={(actor) => changeQuery({ actor })} placeholder="anybody" />
      </label>
      <label class="inline">
        <span>Project</span>
        <TextField value={filter.project ?? ''} change={(project) => changeQuery({ project })} placeholder="all" />
      </label>
    </>
  )
}
