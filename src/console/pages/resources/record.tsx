import { useMemo } from 'preact/hooks'
import type { Value } from '../../api/sql.js'
import type { KindInfo } from '../../basics/kinds.js'
import { changeQuery, hrefOf, momentShown, place } from '../../basics/place.js'
import { wordsOf } from '../../basics/words.js'
import { Refusal } from '../../components/notice.js'
import { blamed, blameOf, partsOf, type Blamed } from './blame.js'
import { whoOf, type Change } from './changes.js'
import { Earlier, useChanges } from './loaded-changes.js'
import { originOf, type Origin } from './origins.js'

const Field = ({ value }: { value: Value }) => {
  if (value === null) return <span class="null">none</span>
  if (typeof value === 'object') return <pre>{JSON.stringify(value, null, 2)}</pre>
  return <>{String(value)}</>
}

/** The change behind a value, or that it is none of those that came after a version. */
const Setter = ({ change, from }: { change: Change | undefined; from: number }) => {
  if (!change)
    return from > 0 ? (
      <p class="quiet">
        <small>by no change after version {from}; earlier ones are not here yet</small>
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

/** A value with the change behind it. If several changes set its parts, each of these stands in a line of its own. */
const BlamedField = ({ value, origin, at }: { value: Value; origin: Origin; at: Blamed }) => {
  const parts = partsOf(at, value, origin)
  const from = origin === 'none' ? 0 : at.changes.from
  const setter = <Setter change={blameOf(at, origin)} from={from} />
  if (parts.length === 0)
    return (
      <>
        <Field value={value} />
        {setter}
      </>
    )
  return (
    <>
      {setter}
      <ul class="parts">
        {parts.map((part) => (
          <li key={JSON.stringify(part.names)}>
            <b>{part.names.join(' › ')}</b> <Field value={part.value} />
            <Setter change={part.change} from={from} />
          </li>
        ))}
      </ul>
    </>
  )
}

/** The members of a resource's record; on request with the change that set each of them, and each of their parts. */
export const Record = ({ info, path, record }: { info: KindInfo; path: string; record: { [name: string]: Value } }) => {
  const at = momentShown()
  const isBlamed = place.value.query.get('blame') === '1'
  const { value: changes, error, reload, earlier } = useChanges({ info, path, at }, isBlamed)
  const behind = useMemo(() => changes && blamed(changes), [changes])
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
              {behind ? <BlamedField value={value} origin={originOf(info.kind, name, record)} at={behind} /> : <Field value={value} />}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
