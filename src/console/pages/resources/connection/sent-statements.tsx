import { literal, select, type Value } from '../../../api/sql.js'
import { useLoaded } from '../../../basics/loading.js'
import { hrefOf, momentShown, pathOf } from '../../../basics/place.js'
import { Listing } from '../../../lists/listing.js'
import { numberShown, pageOf, PageLinks } from '../../../lists/page-links.js'
import { Busy, Empty, Refusal } from '../../../components/notice.js'
import { countText, msText } from '../../../components/value.js'

type SentStatement = {
  position: number
  recorded_at: string
  purpose: string
  statement: string
  rows: number
  duration_ms: number
  outcome: string
  asked_by: string | null
  model_project: string | null
  model: string | null
  model_version: number | null
  answer_project: string | null
  answer_agent: string | null
  answer_id: string | null
} & Record<string, Value>

const sentMax = 50
/** The number of characters of a statement in its line; the query for all statements shows the whole text. */
const shownMaxChars = 200

const ofConnection = (name: string): string =>
  `database_id = (SELECT stream FROM log.resources WHERE kind = 'database' AND lower(name) = lower(${literal(name)}))`

/** The newest statements up to a position, each with the model or the answer that needed it. */
const newestOf = (name: string): string => `WITH sent AS (
    SELECT * FROM log.database_queries WHERE ${ofConnection(name)} AND (:until::BIGINT IS NULL OR position <= :until)
    ORDER BY position DESC LIMIT ${sentMax + 1}
  ), answer AS (
    SELECT DISTINCT ON (request) request, project, agent, answer_id FROM log.answers
    WHERE request IN (SELECT request FROM sent WHERE purpose = 'skill') ORDER BY request, position
  )
  SELECT s.position, s.recorded_at, s.purpose, left(s.statement, ${shownMaxChars}) AS statement, s.rows, s.duration_ms, s.outcome, s.asked_by,
    m.project AS model_project, s.model, s.model_version,
    a.project AS answer_project, a.agent AS answer_agent, a.answer_id
  FROM sent AS s
  LEFT JOIN log.resources AS m ON m.kind = 'model' AND m.stream = s.model_id
  LEFT JOIN answer AS a ON s.purpose = 'skill' AND a.request = s.request
  ORDER BY s.position DESC`

/** The query for all statements, with their whole texts. */
const allOf = (name: string): string => `SELECT * FROM log.database_queries WHERE ${ofConnection(name)} ORDER BY position DESC`

/** The purpose of a statement: a model's version, an agent's answer, or a user's query. */
const Purpose = ({ sent }: { sent: SentStatement }) => {
  const { purpose, model, model_project, model_version, answer_project, answer_agent, answer_id, asked_by } = sent
  if (model !== null) {
    const text = `${model}, version ${model_version ?? '?'}`
    return <>training of {model_project === null ? text : <a href={hrefOf(pathOf('models', model_project, model))}>{text}</a>}</>
  }
  if (answer_project !== null && answer_agent !== null && answer_id !== null)
    return (
      <>
        <a href={hrefOf(pathOf('answers', answer_project, answer_agent, answer_id))}>answer</a> of {answer_agent}
      </>
    )
  return (
    <>
      {purpose}
      {asked_by !== null && ` of ${asked_by}`}
    </>
  )
}

/** The statements that were sent to a connected database, the newest first, and page by page back to the first one. */
export const SentStatements = ({ database }: { database: string }) => {
  const at = momentShown()
  const until = numberShown('position')
  const { loaded, reload } = useLoaded(
    async (signal) => pageOf(await select<SentStatement>({ query: newestOf(database), params: { until }, at, signal }), sentMax),
    [database, at, until],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  if (value.rows.length === 0 && until === null)
    return <Empty title="Nothing was sent to it yet">Statements that read it are listed here with what became of them.</Empty>
  return (
    <>
      <Listing
        label="Statements that were sent"
        keyOf={({ position }) => position}
        columns={[
          {
            title: 'Sent',
            of: ({ position, recorded_at }) => <a href={hrefOf('/events', { position: String(position) })}>{recorded_at.slice(0, 19)}</a>,
          },
          { title: 'Statement', isClipped: true, of: ({ statement }) => <code title={statement}>{statement}</code> },
          { title: 'Rows', isRight: true, of: ({ rows }) => countText(rows) },
          { title: 'Took', isRight: true, of: ({ duration_ms }) => msText(duration_ms) },
          { title: 'Outcome', isBad: ({ outcome }) => outcome === 'failed' || outcome === 'lost', of: ({ outcome }) => outcome },
          { title: 'For', of: (sent) => <Purpose sent={sent} /> },
        ]}
        rows={value.rows}
      />
      <p class="tools">
        {value.next && until === null && <span class="quiet">The newest {sentMax} are shown.</span>}
        <a class="button" href={hrefOf('/query', { sql: allOf(database) })}>
          Query all of them
        </a>
      </p>
      <PageLinks name="position" start={value.next?.position} end="Nothing was sent before." />
    </>
  )
}
