/** Room: the pages of recorded answers of agents. It imports console/api, console/basics and console/components alone. */

import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, pathOf, place } from '../../basics/place.js'
import { Listing } from '../../components/listing.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { countText } from '../../components/value.js'

type ListedAnswer = {
  position: number
  recorded_at: string
  project: string
  agent: string
  version: number
  answer_id: string
  purpose: string
  model: string
  outcome: string
  question: string | null
  input_tokens: number | null
  output_tokens: number | null
  duration_ms: number | null
  verdict: string | null
} & Record<string, Value>

const shownMax = 200

/** The latest questions to agents. */
export default () => {
  const at = momentShown()
  const outcome = place.value.query.get('outcome') ?? ''
  const { loaded, reload } = useLoaded(
    (signal) =>
      select<ListedAnswer>({
        query: `SELECT position, recorded_at, project, agent, version, answer_id, purpose, model, outcome, left(question, 200) AS question,
          input_tokens, output_tokens, duration_ms, verdict FROM log.answers WHERE :outcome = '' OR outcome = :outcome ORDER BY position DESC LIMIT ${shownMax}`,
        params: { outcome },
        at,
        signal,
      }),
    [at, outcome],
  )
  const { value, error } = loaded.value
  return (
    <>
      <div class="title">
        <h1>Answers</h1>
        <label class="inline">
          <span>Outcome</span>
          <select value={outcome} onChange={({ currentTarget }) => changeQuery({ outcome: currentTarget.value })}>
            <option value="">all</option>
            {['answered', 'unanswered', 'failed', 'aborted'].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value?.length === 0 && <Empty title="Nobody has asked yet" />}
      {value && value.length > 0 && (
        <Listing
          label="Answers"
          keyOf={({ position }) => position}
          columns={[
            {
              title: 'Question',
              isClipped: true,
              of: (one) => <a href={hrefOf(pathOf('answers', one.project, one.agent, one.answer_id))}>{one.question ?? 'erased'}</a>,
            },
            {
              title: 'Agent',
              of: ({ project, agent, version }) => (
                <>
                  {project}.{agent} <span class="quiet">version {version}</span>
                </>
              ),
            },
            { title: 'Outcome', isBad: (one) => one.outcome === 'failed', of: (one) => one.outcome },
            { title: 'Verdict', of: ({ verdict }) => verdict },
            { title: 'Model', of: ({ model }) => model },
            {
              title: 'Tokens',
              isRight: true,
              of: ({ input_tokens, output_tokens }) => (input_tokens === null ? '' : countText(input_tokens + (output_tokens ?? 0))),
            },
            {
              title: 'Time',
              isRight: true,
              of: ({ duration_ms }) => (duration_ms === null ? '' : `${(duration_ms / 1_000).toFixed(1)} s`),
            },
            { title: 'When', of: ({ recorded_at }) => recorded_at.slice(0, 16) },
          ]}
          rows={value}
        />
      )}
      {value?.length === shownMax && <p class="quiet">The newest {shownMax} are shown. SQL has all: SELECT * FROM log.answers.</p>}
    </>
  )
}
