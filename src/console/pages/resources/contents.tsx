import { select, type Value } from '../../api/sql.js'
import { kinds, pathOfResource } from '../../basics/kinds.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { countText } from '../../components/value.js'

type Content = { kind: string; name: string; count: number } & Record<string, Value>

/** The most names of one kind on the page of a project; the list of the kind shows all. */
const namesMax = 12

const contentsQuery = `SELECT kind, name, count FROM (
  SELECT kind, name, count(*) OVER (PARTITION BY kind) AS count, row_number() OVER (PARTITION BY kind ORDER BY name) AS place
  FROM log.resources WHERE project = :project AND list_contains(:kinds::VARCHAR[], kind)
) AS counted WHERE place <= ${namesMax} ORDER BY kind, place`

const kindsInProjects = kinds.filter(({ isInProject }) => isInProject)

/** The contents of a project by kind: the number of resources, and the first names. */
export const Contents = ({ project }: { project: string }) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded(
    (signal) => select<Content>({ query: contentsQuery, params: { project, kinds: kindsInProjects.map(({ kind }) => kind) }, at, signal }),
    [project, at],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  if (value.length === 0) return <Empty title="Nothing is in this project yet" />
  return (
    <div class="contents">
      {kindsInProjects
        .map(({ kind, title }) => ({ kind, title, found: value.filter((one) => one.kind === kind) }))
        .filter(({ found }) => found.length > 0)
        .map(({ kind, title, found }) => {
          const count = found[0]?.count ?? 0
          return (
            <section key={kind} class="card" aria-labelledby={`contents-${kind}`}>
              <h2 id={`contents-${kind}`}>
                {title} <span class="quiet">{countText(count)}</span>
              </h2>
              <ul>
                {found.map(({ name }) => (
                  <li key={name} class="clipped">
                    <a href={hrefOf(pathOfResource(kind, project, name))} title={name}>
                      {name}
                    </a>
                  </li>
                ))}
              </ul>
              {count > found.length && (
                <p>
                  <a href={hrefOf(pathOf('resources', kind), { project })}>
                    All {countText(count)} {title.toLowerCase()}
                  </a>
                </p>
              )}
            </section>
          )
        })}
    </div>
  )
}
