import { useSignal } from '@preact/signals'
import { json, type ApiError } from '../../api/request.js'
import { quoted, type Value } from '../../api/sql.js'
import { asApiError, useLoaded } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { changeQuery, go, hrefOf, momentShown, pathOf, place } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../parts/notice.js'
import { Tabs } from '../../parts/tabs.js'
import { History } from './history.js'
import { apiPathOf, kindNamed, projectOf, type KindInfo } from '../../basics/kinds.js'

type Resource = Record<string, Value>

const Field = ({ value }: { value: Value }) => {
  if (value === null) return <span class="null">none</span>
  if (typeof value === 'object') return <pre>{JSON.stringify(value, null, 2)}</pre>
  return <>{String(value)}</>
}

const Fields = ({ record }: { record: Resource }) => (
  <dl class="fields">
    {Object.entries(record).map(([name, value]) => (
      <div key={name}>
        <dt>{name.replaceAll('_', ' ')}</dt>
        <dd>
          <Field value={value} />
        </dd>
      </div>
    ))}
  </dl>
)

/** The query that shows the rows of a resource; undefined if it has none. */
const queryOf = (kind: string, project: string | null, name: string): string | undefined => {
  if (kind === 'file') return `SELECT * FROM files.${quoted(name)}`
  if (kind === 'view') return `SELECT * FROM ${quoted(project ?? '')}.${quoted(name)}`
  if (kind === 'project') return `SHOW TABLES FROM ${quoted(name)}`
  if (kind === 'database') return `SHOW TABLES FROM ${quoted(name)}`
  return undefined
}

const Delete = ({ info, path, name }: { info: KindInfo; path: string; name: string }) => {
  const isAsked = useSignal(false)
  const error = useSignal<ApiError | undefined>(undefined)
  const remove = async () => {
    try {
      await json(path, { method: 'DELETE' })
      go(pathOf('resources', info.kind))
    } catch (refused) {
      error.value = asApiError(refused)
    }
  }
  if (!isAsked.value)
    return (
      <button type="button" onClick={() => (isAsked.value = true)}>
        Delete…
      </button>
    )
  return (
    <div class="notice" role="group" aria-label={`Delete ${name}`}>
      <p>Delete {name}? Its history stays in the log, and what depends on it is named if it prevents this.</p>
      {error.value && <Refusal error={error.value} />}
      <div class="row">
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete
        </button>
        <button type="button" onClick={() => (isAsked.value = false)}>
          Keep it
        </button>
      </div>
    </div>
  )
}

/** One resource: what it is, and all its changes. */
export default ({ params: { kind = '', project: segment = '', name = '' } }: PageProps) => {
  const info = kindNamed(kind)
  const project = projectOf(segment)
  const at = momentShown()
  const path = info ? apiPathOf(info, project ?? '', name) : ''
  const { loaded, reload } = useLoaded(async (signal) => (info ? json<Resource>(path, { at, signal }) : undefined), [path, at])
  if (!info) return <Empty title={`There is no kind ${kind}`} />
  const { value, error } = loaded.value
  const query = queryOf(kind, project, name)
  const tab = place.value.query.get('tab') ?? 'record'
  return (
    <>
      <div class="title">
        <div>
          <p class="crumbs">
            <a href={hrefOf(pathOf('resources', kind))}>{info.title}</a>
            {project !== null && <> · {project}</>}
          </p>
          <h1>{name}</h1>
        </div>
        <div class="row">
          {query !== undefined && (
            <a class="button" href={hrefOf('/query', { sql: query })}>
              Query it
            </a>
          )}
          {at === undefined && <Delete info={info} path={path} name={name} />}
        </div>
      </div>
      <Tabs
        label={`About ${name}`}
        tabs={[
          { id: 'record', name: 'Record' },
          { id: 'history', name: 'History' },
        ]}
        chosen={tab}
        choose={(id) => changeQuery({ tab: id === 'record' ? undefined : id })}
      >
        {tab === 'history' ? (
          <History info={info} path={path} changed={reload} />
        ) : (
          <>
            {error && <Refusal error={error} again={reload} />}
            {!value && !error && <Busy />}
            {value && <Fields record={value} />}
          </>
        )}
      </Tabs>
    </>
  )
}
