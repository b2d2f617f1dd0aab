import { useSignal } from '@preact/signals'
import { bodyForm } from '../../api/schemas.js'
import { apiUrl } from '../../api/url.js'
import { defaultProject } from '../../basics/default-project.js'
import { isMadeByForm, kindNamed, pathOfResource, placeToMake } from '../../basics/kinds.js'
import { useIsShown, useLoaded } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { changeQuery, goToMade, hrefOf, pathOf, place } from '../../basics/place.js'
import { mask } from '../../basics/secrets.js'
import { Busy, Empty, Refusal, ShownOnce } from '../../components/notice.js'
import { ProjectChoice } from '../../lists/project-choice.js'
import { ResourceForm } from './form/form.js'
import { loadLikeness, type Likeness } from './form/likeness.js'

/** Says where the values of a new job come from, and what they lack. */
const LikeAnother = ({ name, hasSecrets }: Likeness) => (
  <div class="notice" role="status">
    <p>
      These are the statements of {name}, which stays as it is. If the new one takes its place, delete {name} afterwards.
    </p>
    {hasSecrets && <p>Its secrets are not shown: type them again where {mask} is.</p>}
  </div>
)

/** A form for a new resource of a kind. The address stores its project, and the job that it is made like. */
export default ({ params: { kind = '' } }: PageProps) => {
  const info = kindNamed(kind)
  const { query } = place.value
  const project = query.get('project') ?? defaultProject()
  const like = kind === 'job' ? query.get('like') : null
  const from = query.get('from') ?? project
  const isShown = useIsShown()
  /** A new chatbot, and the address of its webhook. */
  const chatbot = useSignal<{ page: string; webhook: string } | undefined>(undefined)
  const { loaded, reload } = useLoaded(
    async (signal) =>
      info &&
      isMadeByForm(info) &&
      Promise.all([
        bodyForm('post', info.isInProject ? `/api/projects/{project}/${info.plural}` : `/api/${info.plural}`),
        like === null ? undefined : loadLikeness(info, from, like, signal),
      ]),
    [kind, like, like === null ? undefined : from],
  )
  if (!info) return <Empty title={`There is no kind ${kind}`} isPage />
  if (!isMadeByForm(info))
    return (
      <Empty title={`${info.title} are not made by a form`} isPage>
        <a href={hrefOf(placeToMake(info))}>Make one</a>
      </Empty>
    )
  const { value, error } = loaded.value
  const within = info.isInProject ? project : null
  const path = within === null ? info.plural : `projects/${encodeURIComponent(within)}/${info.plural}`
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(pathOf('resources', kind))}>{info.title}</a>
      </p>
      <h1>New: {kind.replace('_', ' ')}</h1>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {chatbot.value && (
        <ShownOnce title="The address of its webhook" text={chatbot.value.webhook}>
          <a class="button" href={hrefOf(chatbot.value.page, { at: undefined })}>
            Go on to the chatbot
          </a>
        </ShownOnce>
      )}
      {value && !chatbot.value && (
        <>
          {info.isInProject && <ProjectChoice value={project} choose={(name) => changeQuery({ project: name })} />}
          {value[1] && <LikeAnother {...value[1]} />}
          <ResourceForm
            key={JSON.stringify(value[1])}
            form={value[0]}
            initial={value[1]?.values}
            method="POST"
            path={path}
            word="Create"
            draft={value[1] ? `new ${kind} like ${value[1].project}/${value[1].name}` : `new ${kind}`}
            project={within}
            done={({ name }, answer) => {
              const page = pathOfResource(kind, within, typeof name === 'string' ? name : '')
              const token = kind === 'chatbot' ? answer['webhook_token'] : undefined
              if (typeof token === 'string') chatbot.value = { page, webhook: apiUrl(`webhooks/chatbots/${token}`).href }
              else if (isShown()) goToMade(page)
            }}
          />
        </>
      )}
    </>
  )
}
