import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { numberShown, pageOf, PageLinks } from '../../lists/page-links.js'
import './style.css'

type Message = {
  position: number
  received_at: string
  message: string
  sender: string | null
  text: string | null
  status: string
  answer_id: string | null
  answer: string | null
  reason: string | null
  error: string | null
  notice: string | null
  readable: boolean
  agent_project: string | null
  agent: string | null
} & Record<string, Value>

const pageMessages = 100

const query = `SELECT m.position, m.received_at, m.message, m.sender, m.text, m.status, m.answer_id, m.answer, m.reason, m.error, m.notice,
  m.readable, a.project AS agent_project, a.agent
  FROM log.messages AS m LEFT JOIN log.answers AS a ON a.answer_id = m.answer_id
  WHERE m.conversation = :conversation AND (:until::BIGINT IS NULL OR m.position <= :until)
  ORDER BY m.position DESC LIMIT ${pageMessages + 1}`

const Reply = ({ of }: { of: Message }) => {
  if (of.answer !== null)
    return (
      <li class="said ours">
        <p>{of.answer}</p>
        {of.answer_id !== null && of.agent !== null && (
          <small>
            <a href={hrefOf(pathOf('answers', of.agent_project ?? '', of.agent, of.answer_id))}>What is behind it</a>
          </small>
        )}
      </li>
    )
  if (of.reason !== null || of.error !== null)
    return (
      <li class="said ours bad">
        {of.notice !== null && <p>{of.notice}</p>}
        <small>
          not answered: {of.reason} {of.error}
        </small>
      </li>
    )
  return (
    <li class="said ours quiet">
      <small>{of.status.replaceAll('_', ' ')}</small>
    </li>
  )
}

/** A page of the messages of a conversation with a chatbot, as they followed each other, each with its answer. */
export default ({ params: { project = '', name = '', conversation = '' } }: PageProps) => {
  const at = momentShown()
  const until = numberShown('position')
  const { loaded, reload } = useLoaded(
    async (signal) => pageOf(await select<Message>({ query, params: { conversation, until }, at, signal }), pageMessages),
    [conversation, at, until],
  )
  const { value, error } = loaded.value
  return (
    <>
      <div class="title">
        <div>
          <p class="crumbs">
            <a href={hrefOf(pathOf('conversations', project, name))}>
              Conversations of {project}.{name}
            </a>
          </p>
          <h1>Conversation</h1>
        </div>
        <button type="button" onClick={reload}>
          Look again
        </button>
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value?.rows.length === 0 && <Empty title="Nothing was said" />}
      {value && (
        <PageLinks name="position" start={value.next?.position} end="The conversation begins here." isEmpty={value.rows.length === 0} />
      )}
      <ol class="conversation">
        {(value?.rows ?? []).toReversed().flatMap((one) => [
          <li key={one.position} class="said">
            <p>{one.readable ? one.text : <em>erased</em>}</p>
            <small class="quiet">
              {one.sender} · {one.received_at.slice(0, 19)} ·{' '}
              <a href={hrefOf('/events', { position: String(one.position) })}>event {one.position}</a>
            </small>
          </li>,
          <Reply key={`${one.position} reply`} of={one} />,
        ])}
      </ol>
    </>
  )
}
