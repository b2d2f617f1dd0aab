/** Room: the pages of conversations of chatbots. It imports only console/api, console/basics, console/components and console/lists. */

import { select, streamOf, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { pathOfResource } from '../../basics/kinds.js'
import { Listing } from '../../lists/listing.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { numberShown, pageOf, PageLinks } from '../../lists/page-links.js'
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
  newest: number
} & Record<string, Value>

const pageConversations = 100

/** The last chatbot that had this name. */
const deletedChatbot = '(SELECT max(chatbot_id) FROM log.conversations WHERE project = :project AND chatbot = :name)'

/** The position of the last message of each conversation. A page begins at one, so that what is said later moves no conversation to it. */
const newestOf = '(SELECT conversation, max(position) AS newest FROM log.messages GROUP BY conversation)'

/** The conversations of a chatbot, the latest first. */
export default ({ params: { project = '', name = '' } }: PageProps) => {
  const at = momentShown()
  const until = numberShown('position')
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const asked = await select<ListedConversation>({
        query: `SELECT c.*, m.newest FROM log.conversations AS c JOIN ${newestOf} AS m ON m.conversation = c.conversation
          WHERE c.chatbot_id = coalesce(${streamOf('chatbot')}, ${deletedChatbot}) AND (:until::BIGINT IS NULL OR m.newest <= :until)
          ORDER BY m.newest DESC LIMIT ${pageConversations + 1}`,
        params: { project, name, until },
        at,
        signal,
      })
      return pageOf(asked, pageConversations)
    },
    [project, name, at, until],
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
      {value?.rows.length === 0 && <Empty title={until === null ? 'Nobody has written to it yet' : 'There is no earlier one'} />}
      {value && value.rows.length > 0 && (
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
          rows={value.rows}
        />
      )}
      {value && (
        <PageLinks name="position" start={value.next?.newest} end="There is no earlier conversation." isEmpty={value.rows.length === 0} />
      )}
    </>
  )
}
