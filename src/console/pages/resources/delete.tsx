import { useSignal } from '@preact/signals'
import { json } from '../../api/request.js'
import type { Value } from '../../api/sql.js'
import { useFocusWhen } from '../../basics/focus.js'
import { pathOfResource, type KindInfo } from '../../basics/kinds.js'
import { useIsShown, useLoaded, useSending } from '../../basics/loading.js'
import { changeQuery, go, hrefOf, pathOf, place } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { selectPart, useParts, type More, type Part } from '../../lists/parts.js'
import { PlannedEvents, type PlannedEvent } from '../../lists/planned-events.js'
import { ShowMore } from '../../lists/show-more.js'

type Mention = { kind: string; project: string; name: string } & Record<string, Value>

/** Finds resources whose texts contain the name. A text may use the name with another meaning; the user has to judge that. */
const mentionsQuery = `SELECT DISTINCT kind, project, name FROM (
  SELECT 'view' AS kind, PROJECT AS project, NAME AS name, QUERY AS said FROM information_schema.views
  UNION ALL SELECT 'model', PROJECT, NAME, SELECT_DATA_QUERY FROM information_schema.models
  UNION ALL SELECT 'job', PROJECT, NAME, concat_ws(' ', QUERY, IF_QUERY) FROM information_schema.jobs
  UNION ALL SELECT 'skill', PROJECT, NAME, PARAMS FROM information_schema.skills
  UNION ALL SELECT 'agent', PROJECT, NAME, concat_ws(' ', MODEL_NAME, array_to_string(SKILLS, ' '), PARAMS) FROM information_schema.agents
  UNION ALL SELECT 'knowledge_base', PROJECT, NAME,
    concat_ws(' ', EMBEDDING_MODEL, RERANKING_MODEL, STORAGE, PARAMS) FROM information_schema.knowledge_bases
  UNION ALL SELECT 'chatbot', PROJECT, NAME, concat_ws(' ', "DATABASE", MODEL_NAME, PARAMS) FROM information_schema.chatbots
) AS all_of_them WHERE contains(lower(said), lower(:name)) AND NOT (kind = :kind AND project = :project AND name = :name)`

const noMentions: Part<Mention> = { rows: [], next: 0, all: 0, at: undefined }

const Mentions = ({ mentions, more }: { mentions: readonly Mention[]; more: More }) => (
  <>
    <p>These mention its name:</p>
    <ul class="newest">
      {mentions.map(({ kind, project, name }) => (
        <li key={`${kind} ${project} ${name}`}>
          {kind}{' '}
          <a href={hrefOf(pathOfResource(kind, project, name))}>
            {project}.{name}
          </a>
        </li>
      ))}
    </ul>
    <ShowMore here={mentions.length} {...more} />
  </>
)

/** Deletes a resource after showing the planned events, and the resources that mention its name. The plan has an address. */
export const Delete = ({ info, path, project, name }: { info: KindInfo; path: string; project: string | null; name: string }) => {
  const isAsked = place.value.query.get('plan') === 'delete'
  const { loaded, reload } = useLoaded(async () => {
    if (!isAsked) return undefined
    return json<{ events: PlannedEvent[] }>(path, { method: 'DELETE', headers: { Prefer: 'dry-run' }, isReading: true })
  }, [path, isAsked])
  const params = { name, project: project ?? '', kind: info.kind }
  const mentions = useParts(
    async (part, signal) =>
      isAsked ? selectPart<Mention>({ query: mentionsQuery, params, order: 'kind, project, name' }, part, signal) : noMentions,
    undefined,
    [path, isAsked],
    'mentions',
  )
  const { send, isSending, error: refused, forget } = useSending()
  const isShown = useIsShown()
  // Mentions that came after the plan would move its buttons under a pointer.
  const plan = isAsked && mentions.rows && mentions.first !== noMentions ? loaded.value.value : undefined
  const error = refused ?? loaded.value.error ?? mentions.error
  const isLoading = isAsked && !plan && !error
  /** What the user did here last. The plan of an address does not take the focus. */
  const last = useSignal<'asked' | 'kept' | undefined>(undefined)
  const group = useFocusWhen<HTMLDivElement>(plan !== undefined && last.value === 'asked')
  const button = useFocusWhen<HTMLButtonElement>(!plan && last.value === 'kept')
  const ask = () => {
    last.value = 'asked'
    forget()
    if (isAsked) {
      reload()
      mentions.reload()
    } else changeQuery({ plan: 'delete' })
  }
  const keep = () => {
    last.value = 'kept'
    changeQuery({ plan: undefined, mentions: undefined })
  }
  const remove = () =>
    send(async () => {
      await json(path, { method: 'DELETE' })
      if (isShown()) go(pathOf('resources', info.kind))
    })
  return (
    <>
      {!plan && (
        <button ref={button} type="button" disabled={isLoading} onClick={ask}>
          Delete…
        </button>
      )}
      {isLoading && <Busy />}
      {error && <Refusal error={error} />}
      {plan && (
        <div ref={group} class="notice" role="group" tabIndex={-1} aria-label={`Delete ${name}`}>
          <p>Delete {name}? Its history stays in the log. This would be recorded:</p>
          <PlannedEvents events={plan.events} />
          {mentions.rows && mentions.rows.length > 0 && <Mentions mentions={mentions.rows} more={mentions.more} />}
          <div class="row">
            <button type="button" class="danger" disabled={isSending} onClick={() => void remove()}>
              Delete
            </button>
            <button type="button" onClick={keep}>
              Keep it
            </button>
          </div>
        </div>
      )}
    </>
  )
}
