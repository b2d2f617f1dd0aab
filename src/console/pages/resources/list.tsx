import { useLoaded } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { changeQuery, hrefOf, momentShown, pathOf, place } from '../../basics/place.js'
import { titleOf } from '../../basics/words.js'
import { untilTyped } from '../../lists/choices.js'
import { Listing, type ListColumn } from '../../lists/listing.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { countText, shown } from '../../components/value.js'
import { kindNamed, pathOfResource, placeToMake, type KindInfo } from '../../basics/kinds.js'
import { useParts, type Part } from '../../lists/parts.js'
import { countListed, readListed, type ListedRow, type Wanted } from './listed.js'

const columnsOf = (info: KindInfo): ListColumn<ListedRow>[] => [
  { title: 'Name', of: ({ project, name }) => <a href={hrefOf(pathOfResource(info.kind, project, name))}>{name}</a> },
  ...(info.isInProject ? [{ title: 'Project', of: ({ project }: ListedRow) => project }] : []),
  ...info.columns.map((column) => ({
    title: titleOf(column),
    isClipped: true,
    of: (row: ListedRow) => shown(row[column]),
  })),
  { title: 'Created', of: ({ created_at }) => created_at.slice(0, 19) },
]

/** Says that there is no resource, or none that fits the filter. */
const Nothing = ({ info, project }: Omit<Wanted, 'filter'>) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded((signal) => countListed({ info, project }, at, signal), [info.kind, project, at])
  const { value: count, error } = loaded.value
  const title = info.title.toLowerCase()
  if (error) return <Refusal error={error} again={reload} />
  if (count === undefined) return <Busy />
  if (count > 0) return <Empty title="No name has this in it">{`There are ${countText(count)} ${title} in all.`}</Empty>
  return <Empty title={`No ${title} here`}>{`${info.title} ${info.about}.`}</Empty>
}

const noPart: Part<ListedRow> = { rows: [], next: 0, all: 0, at: undefined }

/** The resources of one kind, of all projects or of one, whose names have the text of the filter in them: the service finds them. */
export default ({ params: { kind = '' } }: PageProps) => {
  const info = kindNamed(kind)
  const at = momentShown()
  const filter = place.value.query.get('filter') ?? ''
  const only = place.value.query.get('project')
  const sought = filter.trim()
  const { rows, error, reload, more } = useParts(
    async (part, signal) => {
      await untilTyped(sought, signal)
      return info ? readListed({ info, project: only, filter: sought }, part, signal) : noPart
    },
    at,
    [kind, only, sought],
  )
  if (!info) return <Empty title={`There is no kind ${kind}`} isPage />
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
            <input
              type="search"
              value={filter}
              onInput={({ currentTarget: { value } }) => changeQuery({ filter: value, shown: undefined })}
            />
          </label>
          {at === undefined && (
            <a class="button" href={hrefOf(placeToMake(info), { project: only ?? undefined })}>
              New
            </a>
          )}
        </div>
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!rows && !error && <Busy />}
      {rows && rows.length > 0 && (
        <Listing
          label={info.title}
          keyOf={({ project, name }) => `${project ?? ''}\n${name}`}
          columns={columnsOf(info)}
          rows={rows}
          more={more}
        />
      )}
      {rows?.length === 0 && <Nothing info={info} project={only} />}
    </>
  )
}
