import { json } from '../../api/request.js'
import { useLoaded } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { changeQuery, hrefOf, momentShown, pathOf, place } from '../../basics/place.js'
import { titleOf } from '../../basics/words.js'
import { Listing, type ListColumn } from '../../components/listing.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { shown } from '../../components/value.js'
import {
  kindNamed,
  listResources,
  pathOfResource,
  placeToMake,
  type KindInfo,
  type ListedResource,
  type ResourceRecord,
} from '../../basics/kinds.js'

const keyOf = (project: string | null, name: string): string => `${project ?? ''}\n${name}`

/** What a newer version of a model than the active one does, for its status. */
const notYet: Readonly<Record<string, string>> = { generating: 'waits', training: 'is training', error: 'failed' }

/** The record that stands for all versions of a model: that of the version which answers, or else the newest. Others have one record. */
const standingFor = (versions: readonly ResourceRecord[]): ResourceRecord => {
  const [newest = {}] = versions.toSorted((a, b) => Number(b['version']) - Number(a['version']))
  const active = versions.find((one) => one['active'] === true && one['status'] === 'complete') ?? newest
  const state = notYet[shown(newest['status'])]
  if (active === newest || state === undefined) return active
  return { ...active, status: `${shown(active['status'])}, version ${shown(newest['version'])} ${state}` }
}

/** One record for each name: the API lists every version of a model. */
const byName = (records: readonly ResourceRecord[]): [string, ResourceRecord][] => {
  const versions = new Map<string, ResourceRecord[]>()
  for (const record of records) {
    const name = shown(record['name'])
    versions.set(name, [...(versions.get(name) ?? []), record])
  }
  return Array.from(versions, ([name, all]) => [name, standingFor(all)])
}

/** Combines lists and records: the log's table has all resources of a kind at once, the records have their settings. */
const load = async (info: KindInfo, only: string | null, at: string | undefined, signal: AbortSignal) => {
  const listed = await listResources(at, signal, { kinds: [info.kind], project: only })
  const projects = [...new Set(listed.map(({ project }) => project))]
  const lists = await Promise.all(
    projects.map(async (project) => {
      const path = info.isInProject ? `projects/${encodeURIComponent(project ?? '')}/${info.plural}` : info.plural
      const records = info.columns.length === 0 ? [] : await json<ResourceRecord[]>(path, { at, signal })
      return byName(records).map(([name, record]): [string, ResourceRecord] => [keyOf(project, name), record])
    }),
  )
  return { listed, records: new Map(lists.flat()) }
}

const columnsOf = (info: KindInfo, records: Map<string, ResourceRecord>): ListColumn<ListedResource>[] => [
  { title: 'Name', of: ({ project, name }) => <a href={hrefOf(pathOfResource(info.kind, project, name))}>{name}</a> },
  ...(info.isInProject ? [{ title: 'Project', of: ({ project }: ListedResource) => project }] : []),
  ...info.columns.map((column) => ({
    title: titleOf(column),
    isClipped: true,
    of: ({ project, name }: ListedResource) => shown(records.get(keyOf(project, name))?.[column] ?? null),
  })),
  { title: 'Created', of: ({ created_at }) => created_at.slice(0, 19) },
]

/** The resources of one kind, of all projects or of one. */
export default ({ params: { kind = '' } }: PageProps) => {
  const info = kindNamed(kind)
  const at = momentShown()
  const filter = place.value.query.get('filter') ?? ''
  const only = place.value.query.get('project')
  const { loaded, reload } = useLoaded(async (signal) => (info ? load(info, only, at, signal) : undefined), [kind, only, at])
  if (!info) return <Empty title={`There is no kind ${kind}`} />
  const { value, error } = loaded.value
  const fitting = value?.listed.filter(({ name, project }) => `${project ?? ''} ${name}`.toLowerCase().includes(filter.toLowerCase()))
  return (
    <>
      <div class="title">
        <div>
          {only !== null && (
            <p class="crumbs">
              <a href={hrefOf(pathOf('resources', kind))}>{info.title} of all projects</a>
            </p>
          )}
          <h1>
            {info.title}
            {only !== null && (
              <>
                {' '}
                of <a href={hrefOf(pathOfResource('project', null, only))}>{only}</a>
              </>
            )}
          </h1>
        </div>
        <div class="row">
          <label class="inline">
            <span>Filter</span>
            <input type="search" value={filter} onInput={({ currentTarget }) => changeQuery({ filter: currentTarget.value })} />
          </label>
          {at === undefined && (
            <a class="button" href={hrefOf(placeToMake(info), { project: only ?? undefined })}>
              New
            </a>
          )}
        </div>
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value &&
        fitting &&
        (fitting.length > 0 ? (
          <Listing
            label={info.title}
            keyOf={({ project, name }) => keyOf(project, name)}
            columns={columnsOf(info, value.records)}
            rows={fitting}
          />
        ) : (
          <Empty title={filter === '' ? `No ${info.title.toLowerCase()} here` : 'No name has this in it'}>
            {filter === '' ? `${info.title} ${info.about}.` : `There are ${value.listed.length} ${info.title.toLowerCase()} in all.`}
          </Empty>
        ))}
    </>
  )
}
