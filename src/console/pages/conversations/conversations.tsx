import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { pathOfResource } from '../../basics/kinds.js'
import { Busy, Empty, Refusal } from '../../parts/notice.js'
import { countText } from '../../parts/value.js'

type Listed = {
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

/** The conversations of a chatbot, the last one first. */
export default ({ params: { project = '', name = '' } }: PageProps) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded(
    (signal) =>
      select<Listed>({
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
        <div class="scroll" tabIndex={0} role="region" aria-label="Conversations">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Began</th>
                <th scope="col">Channel</th>
                <th scope="col" class="right">
                  Messages
                </th>
                <th scope="col" class="right">
                  Answered
                </th>
                <th scope="col" class="right">
                  Failed
                </th>
                <th scope="col">Last message</th>
              </tr>
            </thead>
            <tbody>
              {value.map((one) => (
                <tr key={one.conversation}>
                  <th scope="row">
                    <a href={hrefOf(pathOf('conversations', project, name, one.conversation))}>{one.started_at.slice(0, 19)}</a>
                  </th>
                  <td>{one.channel}</td>
                  <td class="right">{countText(one.messages)}</td>
                  <td class="right">{countText(one.answered)}</td>
                  <td class={one.failed > 0 ? 'right bad' : 'right'}>{countText(one.failed)}</td>
                  <td>
                    {one.last_message_at?.slice(0, 19)} {one.ended_at === null ? '' : 'ended'}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {value?.length === shownMax && <p class="quiet">The newest {shownMax} are shown. SQL has all: SELECT * FROM log.conversations.</p>}
    </>
  )
}
