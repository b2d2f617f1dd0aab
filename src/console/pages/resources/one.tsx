import { useSignal } from '@preact/signals'
import { exactTable } from '../../api/exact.js'
import { json } from '../../api/request.js'
import { nameText, quoted, type Value } from '../../api/sql.js'
import { apiUrl } from '../../api/url.js'
import { useIsShown, useLoaded, useSending } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { changeQuery, go, hrefOf, momentShown, pathOf, place } from '../../basics/place.js'
import { Busy, Empty, Refusal, ShownOnce } from '../../components/notice.js'
import { JobRuns } from '../../lists/job-runs.js'
import { Rows } from '../../lists/rows.js'
import { tabAmong, Tabs } from '../../components/tabs.js'
import { Contents } from './contents.js'
import { Delete } from './delete.js'
import { Edit } from './edit.js'
import { History } from './history.js'
import { Record } from './record.js'
import { SentStatements } from './connection/sent-statements.js'
import { Tables } from './connection/tables.js'
import { Types } from './types.js'
import { apiPathOf, kindNamed, pathOfResource, projectOf } from '../../basics/kinds.js'

type Resource = { [name: string]: Value }

/** The query for the rows of a resource; undefined if it has none. */
const queryOf = (kind: string, project: string | null, name: string): string | undefined => {
  if (kind === 'file') return `SELECT * FROM files.${quoted(name)}`
  if (kind === 'view') return `SELECT * FROM ${quoted(project ?? '')}.${quoted(name)}`
  if (kind === 'project') return `SHOW TABLES FROM ${quoted(name)}`
  if (kind === 'database') return `SHOW TABLES FROM ${quoted(name)}`
  return undefined
}

/** The kinds that a form can change. Files are uploaded again. */
const editable: ReadonlySet<string> = new Set([
  ...['project', 'model', 'skill', 'agent', 'chatbot', 'view', 'job', 'database', 'knowledge_base'],
])

const previewedMax = 50

/** The first rows of a table. */
const Preview = ({ query, at }: { query: string; at: string | undefined }) => {
  const { loaded, reload } = useLoaded(
    (signal) => exactTable({ query: `SELECT * FROM (${query}) AS previewed LIMIT ${previewedMax}`, at, signal }),
    [query, at],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const { columns, rows } = value
  return (
    <Rows
      label="First rows"
      columns={columns.map(({ name, type }) => `${name} (${type})`)}
      types={columns.map(({ type }) => type)}
      rows={rows}
      isCut={rows.length === previewedMax}
    />
  )
}

/** Gives the webhook of a chatbot another address. */
const NewWebhook = ({ path }: { path: string }) => {
  const webhook = useSignal<string | undefined>(undefined)
  const { send, isSending, error } = useSending()
  const renew = () =>
    send(async () => {
      const { webhook_token } = await json<{ webhook_token: string }>(`${path}/webhook_token`, { method: 'POST' })
      webhook.value = apiUrl(`webhooks/chatbots/${webhook_token}`).href
    })
  if (webhook.value !== undefined) return <ShownOnce title="The address of its webhook" text={webhook.value} />
  return (
    <details>
      <summary>New webhook address…</summary>
      <p>The address of now then no longer works. The new one is shown once.</p>
      {error && <Refusal error={error} />}
      <button type="button" class="danger" disabled={isSending} onClick={() => void renew()}>
        Replace the address
      </button>
    </details>
  )
}

/** One resource: its record, and all its changes. */
export default ({ params: { kind = '', project: segment = '', name = '' } }: PageProps) => {
  const info = kindNamed(kind)
  const project = info ? projectOf(info, segment) : null
  const at = momentShown()
  const path = info ? apiPathOf(info, project ?? '', name) : ''
  const isShown = useIsShown()
  const { loaded, reload } = useLoaded(async (signal) => (info ? json<Resource>(path, { at, signal }) : undefined), [path, at])
  if (!info) return <Empty title={`There is no kind ${kind}`} isPage />
  const { value, error } = loaded.value
  const query = queryOf(kind, project, name)
  const hasRows = kind === 'file' || kind === 'view'
  const isNow = at === undefined
  const tabs = [
    { id: 'record', name: kind === 'project' ? 'Contents' : 'Record' },
    ...(hasRows ? [{ id: 'rows', name: 'Rows' }] : []),
    ...(kind === 'file' && isNow ? [{ id: 'types', name: 'Types' }] : []),
    ...(kind === 'database' && isNow ? [{ id: 'tables', name: 'Tables' }] : []),
    ...(editable.has(kind) && isNow ? [{ id: 'edit', name: 'Edit' }] : []),
    ...(kind === 'database' ? [{ id: 'sent', name: 'Statements' }] : []),
    ...(kind === 'job' ? [{ id: 'runs', name: 'Runs' }] : []),
    { id: 'history', name: 'History' },
  ]
  const tab = tabAmong(tabs, place.value.query.get('tab'))
  /** Shows the changed resource: here, or at its new name. Returns whether this page stays. */
  const changed = (newName: string | undefined): boolean => {
    const isHere = newName === undefined || newName === name
    if (isHere) reload()
    else if (isShown()) go(pathOfResource(kind, project, newName), { tab })
    return isHere
  }
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
          {hasRows && isNow && (
            <a class="button" href={hrefOf('/models/new', { table: nameText([project ?? 'files', name]) })}>
              Train a model
            </a>
          )}
          {kind === 'model' && (
            <a class="button" href={hrefOf(pathOf('models', project ?? '', name))}>
              Its card
            </a>
          )}
          {kind === 'job' && isNow && (
            <a class="button" href={hrefOf(pathOf('new', kind), { project: project ?? undefined, from: project ?? undefined, like: name })}>
              Make one like it
            </a>
          )}
          {kind === 'chatbot' && (
            <a class="button" href={hrefOf(pathOf('conversations', project ?? '', name))}>
              Conversations
            </a>
          )}
          {kind === 'agent' && (
            <>
              <a class="button" href={hrefOf('/playground', { agent: `${project ?? ''}/${name}` })}>
                Ask it
              </a>
              <a class="button" href={hrefOf('/answers', { agent: `${project ?? ''}/${name}` })}>
                Answers
              </a>
            </>
          )}
          {isNow && <Delete info={info} path={path} project={project} name={name} />}
        </div>
      </div>
      <Tabs label={`About ${name}`} tabs={tabs} chosen={tab} choose={(id) => changeQuery({ tab: id === 'record' ? undefined : id })}>
        {tab === 'history' ? (
          <History info={info} path={path} changed={changed} />
        ) : tab === 'edit' ? (
          <Edit info={info} path={path} project={project} name={name} done={changed} />
        ) : tab === 'types' ? (
          <Types file={name} done={reload} />
        ) : tab === 'tables' ? (
          <Tables database={name} />
        ) : tab === 'sent' ? (
          <SentStatements database={name} />
        ) : tab === 'runs' ? (
          <JobRuns job={{ project: project ?? '', name }} />
        ) : tab === 'rows' && query !== undefined ? (
          <Preview query={query} at={at} />
        ) : (
          <>
            {error && <Refusal error={error} again={reload} />}
            {!value && !error && <Busy />}
            {value && kind === 'project' && <Contents project={typeof value['name'] === 'string' ? value['name'] : name} />}
            {value && <Record info={info} path={path} record={value} />}
            {value && kind === 'chatbot' && isNow && <NewWebhook key={path} path={path} />}
          </>
        )}
      </Tabs>
    </>
  )
}
