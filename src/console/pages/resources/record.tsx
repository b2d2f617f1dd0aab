import type { Value } from '../../api/sql.js'
import type { KindInfo } from '../../basics/kinds.js'
import { changeQuery, hrefOf, momentShown, place } from '../../basics/place.js'
import { wordsOf } from '../../basics/words.js'
import { Refusal } from '../../components/notice.js'
import { blameOf, whoOf, type Changes } from './changes.js'
import { Earlier, useChanges } from './loaded-changes.js'
import { originOf, type Origin } from './origins.js'

const Field = ({ value }: { value: Value }) => {
  if (value === null) return <span class="null">none</span>
  if (typeof value === 'object') return <pre>{JSON.stringify(value, null, 2)}</pre>
  return <>{String(value)}</>
}

const Blame = ({ changes, origin }: { changes: Changes; origin: Origin }) => {
  const change = blameOf(changes, origin)
  if (!change)
    return changes.from > 0 && origin !== 'none' ? (
      <p class="quiet">
        <small>by no change after version {changes.from}; earlier ones are not here yet</small>
      </p>
    ) : null
  return (
    <p class="quiet">
      <small>
        <a href={hrefOf('/events', { position: String(change.position) })}>{wordsOf(change.type)}</a>, version {change.version}, by{' '}
        {whoOf(change)}
      </small>
    </p>
  )
}

/** The members of a resource's record; on request with the change that set each of them. */
export const Record = ({ info, path, record }: { info: KindInfo; path: string; record: { [name: string]: Value } }) => {
  const at = momentShown()
  const isBlamed = place.value.query.get('blame') === '1'
  const { value: changes, error, reload, earlier } = useChanges({ info, path, at }, isBlamed)
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
      <Earlier value={changes} earlier={earlier} />
      <dl class="fields">
        {Object.entries(record).map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd>
              <Field value={value} />
              {changes && <Blame changes={changes} origin={originOf(info.kind, name, record)} />}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
