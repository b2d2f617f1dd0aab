/**
 * Room: the first page: the resources, and ways to begin. It imports only console/api, console/basics, console/components and
 * console/lists.
 */

import { json } from '../../api/request.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { Listing } from '../../lists/listing.js'
import { Busy, Refusal } from '../../components/notice.js'
import { countResources, kinds, newestResources, pathOfResource } from '../../basics/kinds.js'
import { countText } from '../../components/value.js'
import { Start } from './start.js'

/** The number of resources under *Newest*. */
const newestMax = 12

type Status = { mindledger_version: string }

/** The newest resources, and ways to begin. An empty service shows first steps. */
export default () => {
  const at = momentShown()
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const [status, counts, newest] = await Promise.all([
        json<Status>('status', { signal }),
        countResources(at, signal),
        newestResources(newestMax, at, signal),
      ])
      return { status, counts, newest }
    },
    [at],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const { status, counts, newest } = value
  const isEmpty = [...counts.keys()].every((kind) => kind === 'project')
  return (
    <>
      <h1>Mindledger {status.mindledger_version}</h1>
      {!isEmpty && (
        <>
          <ul class="cards">
            {kinds
              .map((info) => ({ info, count: counts.get(info.kind) ?? 0 }))
              .filter(({ count }) => count > 0)
              .map(({ info: { kind, title, about }, count }) => (
                <li key={kind}>
                  <a class="card" href={hrefOf(pathOf('resources', kind))}>
                    <strong>{title}</strong>
                    <span class="count">{countText(count)}</span>
                    <span class="quiet">{about}</span>
                  </a>
                </li>
              ))}
          </ul>
          <h2>Newest</h2>
          <Listing
            label="Newest"
            isNarrow
            keyOf={({ kind, project, name }) => `${kind} ${project ?? ''} ${name}`}
            columns={[
              { title: 'Name', of: ({ kind, project, name }) => <a href={hrefOf(pathOfResource(kind, project, name))}>{name}</a> },
              { title: 'Kind', of: ({ kind }) => kind.replace('_', ' ') },
              { title: 'Project', of: ({ project }) => project },
              { title: 'Created', of: ({ created_at }) => created_at.slice(0, 16) },
            ]}
            rows={newest}
          />
          <h2>Add a file</h2>
        </>
      )}
      {/* The first upload must not replace this: it may show the refusal of another file. */}
      <Start done={reload} isShort={!isEmpty} />
    </>
  )
}
