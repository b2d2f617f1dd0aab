/** Room: the page that compares two moments. It imports only console/api, console/basics, console/components and console/lists. */

import { useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, place } from '../../basics/place.js'
import { kindNamed, pathOfResource } from '../../basics/kinds.js'
import { Diff } from '../../components/diff.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { countText } from '../../components/value.js'
import { useParts } from '../../lists/parts.js'
import { ShowMore } from '../../lists/show-more.js'
import { loadChanges, loadDifferences, type ChangesPart, type Moments, type ResourceChange } from './changes.js'

const Differences = ({ changed, moments }: { changed: ResourceChange; moments: Moments }) => {
  const { loaded, reload } = useLoaded(
    (signal) => loadDifferences(changed, moments, signal),
    [changed.stream, changed.project, changed.name, moments.from, moments.to],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return value.length === 0 ? <p class="quiet">Its record is the same as before.</p> : <Diff operations={value} />
}

const signs = { created: '+', changed: '~', deleted: '−', 'created and deleted': '±' } as const

/** The streams of the open lines, as stored in the address. */
const opened = (): readonly string[] => place.value.query.get('open')?.split('\n') ?? []

const setOpen = (stream: string, isOpen: boolean): void => {
  const others = opened().filter((each) => each !== stream)
  changeQuery({ open: (isOpen ? [...others, stream] : others).join('\n') })
}

const fullName = ({ project, name }: { project: string | null; name: string }): string => (project === null ? name : `${project}.${name}`)

const One = ({ changed, moments }: { changed: ResourceChange; moments: Moments }) => {
  const { stream, kind, project, name, before, became, events } = changed
  const isOpen = opened().includes(stream)
  const isGone = became === 'deleted' || became === 'created and deleted'
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => currentTarget.open !== isOpen && setOpen(stream, currentTarget.open)}>
      <summary>
        <span class="position" aria-hidden="true">
          {signs[became]}
        </span>
        <strong>{fullName(changed)}</strong>
        <span class="quiet">
          {kind.replace('_', ' ')} {became}
          {before === null ? '' : `, was ${fullName(before)}`}
        </span>
        <span class="quiet">
          {countText(events)} {events === 1 ? 'event' : 'events'}
        </span>
      </summary>
      {isOpen && (
        <div class="inside">
          {became === 'created and deleted' && <p class="quiet">It was there at neither moment.</p>}
          {kindNamed(kind) && became !== 'created and deleted' && <Differences changed={changed} moments={moments} />}
          <p class="tools">
            {kindNamed(kind) && !isGone && (
              <a class="button" href={hrefOf(pathOfResource(kind, project, name), { tab: 'history', at: undefined })}>
                Its history
              </a>
            )}
          </p>
        </div>
      )}
    </details>
  )
}

const Changes = ({ moments }: { moments: Moments }) => {
  const { rows, first, error, reload, more } = useParts<ResourceChange, ChangesPart>(
    (part, signal) => loadChanges(moments, part, signal),
    undefined,
    [moments.from, moments.to],
  )
  if (error) return <Refusal error={error} again={reload} />
  if (!rows || !first) return <Busy what="Comparing" />
  if (rows.length === 0) return <Empty title="No resource changed between them" />
  return (
    <>
      <p role="status">
        {countText(more.all)} {more.all === 1 ? 'resource' : 'resources'} changed, by {countText(first.events)}{' '}
        {first.events === 1 ? 'event' : 'events'}.
      </p>
      <ul class="events changes">
        {rows.map((changed) => (
          <li key={changed.stream}>
            <One changed={changed} moments={first.moments} />
          </li>
        ))}
      </ul>
      <ShowMore here={rows.length} {...more} />
    </>
  )
}

/** The changes between two positions of the log, or two times. */
export default () => {
  const { query } = place.value
  const [from, to] = [query.get('from'), query.get('to')]
  const choose = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const said = (name: string) => {
      const text = form.get(name)
      return typeof text === 'string' ? text.trim() : undefined
    }
    changeQuery({ from: said('from'), to: said('to'), open: undefined, shown: undefined }, { replace: false })
  }
  return (
    <>
      <h1>Compare</h1>
      <form class="tools" onSubmit={choose} key={`${from ?? ''} ${to ?? ''}`}>
        <label>
          From (a position, or a time in UTC)
          <input name="from" required defaultValue={from ?? ''} placeholder="1, or 2026-01-31 12:00:00" />
        </label>
        <label>
          To (now, if empty)
          <input name="to" defaultValue={to ?? ''} placeholder="now" />
        </label>
        <button type="submit" class="primary">
          Compare
        </button>
      </form>
      {(from ?? '') === '' && (
        <Empty title="What changed between two moments?">
          Every resource that was created, changed or deleted between them is listed, with what differs.
        </Empty>
      )}
      {from !== null && from !== '' && <Changes moments={{ from, to: to === null || to === '' ? undefined : to }} />}
    </>
  )
}
