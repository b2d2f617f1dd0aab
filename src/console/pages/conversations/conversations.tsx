/** Room: the pages of conversations of chatbots. It imports console/api, console/basics and console/components alone. */

import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { pathOfResource } from '../../basics/kinds.js'
import { Listing } from '../../components/listing.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { countText } from '../../components/value.js'

type ListedConversation = {
  conversation: string
  project: string
  chatbot: string
  channel: string
  started_at: string
  ended_at: number | null
  messages: number
  answered: number
  failed: number
  last_message_at: string | null
} & Record<string, Value>

const shownMax = 200

/** The conversations of a chatbot, the latest first. */
export default ({ params: { project = '', name = '' } }: PageProps) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded(
    (signal) =>
      select<ListedConversation>({
        query: `SELECT * FROM log.conversations WHERE project = :project AND chatbot = :name
          ORDER BY coalesce(last_message_at, started_at) DESC LIMIT ${shownMax}`,
        params: { project, name },
        at,
        signal,
      }),
    [project, name, at],
  )
  const { value, error } = loaded.value
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(pathOfResource('chatbot', project, name))}>
          {project}.{name}
        </a>
      </p>
      <h1>Conversations</h1>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value?.length === 0 && <Empty title="Nobody has written to it yet" />}
      {value && value.length > 0 && (
        <Listing
          label="Conversations"
          keyOf={({ conversation }) => conversation}
          columns={[
            {
              title: 'Began',
              of: (one) => <a href={hrefOf(pathOf('conversations', project, name, one.conversation))}>{one.started_at.slice(0, 19)}</a>,
            },
            { title: 'Channel', of: ({ channel }) => channel },
            { title: 'Messages', isRight: true, of: ({ messages }) => countText(messages) },
            { title: 'Answered', isRight: true, of: ({ answered }) => countText(answered) },
            { title: 'Failed', isRight: true, isBad: ({ failed }) => failed > 0, of: ({ failed }) => countText(failed) },
            {
              title: 'Last message',
              of: ({ last_message_at, ended_at }) => `${last_message_at?.slice(0, 19) ?? ''}${ended_at === null ? '' : ' ended'}`,
            },
          ]}
          rows={value}
        />
      )}
      {value?.length === shownMax && <p class="quiet">The newest {shownMax} are shown. SQL has all: SELECT * FROM log.conversations.</p>}
    </>
  )
}
