/**
 * Room: the pages of resources: lists, forms and histories. It imports only console/api, console/basics, console/components,
 * console/lists, console/pages/resources/connection and console/pages/resources/form.
 */

import { useLoaded } from '../../basics/loading.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { countText } from '../../components/value.js'
import { countResources, kinds } from '../../basics/kinds.js'

/** The number of resources of each kind. */
export default () => {
  const at = momentShown()
  const { loaded, reload } = useLoaded((signal) => countResources(at, signal), [at])
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return (
    <>
      <h1>Resources</h1>
      <ul class="cards">
        {kinds.map(({ kind, title, about }) => (
          <li key={kind}>
            <a class="card" href={hrefOf(pathOf('resources', kind))}>
              <strong>{title}</strong>
              <span class="count">{countText(value.get(kind) ?? 0)}</span>
              <span class="quiet">{about}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
