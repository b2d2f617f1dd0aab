import type { Value } from '../../api/sql.js'
import type { KindInfo } from '../../basics/kinds.js'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, place } from '../../basics/place.js'
import { wordsOf } from '../../basics/words.js'
import { Refusal } from '../../parts/notice.js'
import { blameOf, loadChanges, whoOf, type Change } from './changes.js'

const Field = ({ value }: { value: Value }) => {
  if (value === null) return <span class="null">none</span>
  if (typeof value === 'object') return <pre>{JSON.stringify(value, null, 2)}</pre>
  return <>{String(value)}</>
}

const Blame = ({ change }: { change: Change | undefined }) =>
  change && (
    <p class="quiet">
      <small>
        <a href={hrefOf('/events', { position: String(change.position) })}>{wordsOf(change.type)}</a>, version {change.version}, by{' '}
        {whoOf(change)}
      </small>
    </p>
  )

/** What a resource is, member by member; on request with the change that set each. */
export const Record = ({ info, path, record }: { info: KindInfo; path: string; record: { [name: string]: Value } }) => {
  const at = momentShown()
  const isBlamed = place.value.query.get('blame') === '1'
  const { loaded, reload } = useLoaded(
    async (signal) => (isBlamed ? (await loadChanges(info, path, at, signal)).changes : undefined),
    [path, at, isBlamed],
  )
  const { value: changes, error } = loaded.value
  return (
    <>
      <label class="inline">
        <input
          type="checkbox"
          checked={isBlamed}
          onChange={({ currentTarget }) => changeQuery({ blame: currentTarget.checked ? '1' : undefined })}
        />
        <span>Who set what</span>
      </label>
      {error && <Refusal error={error} again={reload} />}
      <dl class="fields">
        {Object.entries(record).map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd>
              <Field value={value} />
              <Blame change={changes && blameOf(changes, name)} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
