/** Room: the pages of recorded answers of agents. It imports only console/api, console/basics, console/components and console/lists. */

import { useMemo } from 'preact/hooks'
import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, pathOf, place } from '../../basics/place.js'
import { searchOf, useOptions, type SearchOptions } from '../../lists/choices.js'
import { Listing } from '../../lists/listing.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { numberShown, pageOf, PageLinks } from '../../lists/page-links.js'
import { SearchChoice } from '../../lists/search-choice.js'
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

const pageAnswers = 100

const query = `SELECT position, recorded_at, project, agent, version, answer_id, purpose, model, outcome, left(question, 200) AS question,
  input_tokens, output_tokens, duration_ms, verdict FROM log.answers
  WHERE (:outcome = '' OR outcome = :outcome) AND (:agent = '' OR project || '/' || agent = :agent)
  AND (:until::BIGINT IS NULL OR position <= :until) ORDER BY position DESC LIMIT ${pageAnswers + 1}`

/** The search in the agents that have answered. */
const agentSearch = (at: string | undefined): SearchOptions =>
  searchOf({ query: `SELECT DISTINCT project || '/' || agent AS value, project || '/' || agent AS name FROM log.answers`, at })

/** The latest questions to agents. */
export default () => {
  const at = momentShown()
  const outcome = place.value.query.get('outcome') ?? ''
  const agent = place.value.query.get('agent') ?? ''
  const until = numberShown('position')
  const { loaded, reload } = useLoaded(
    async (signal) => pageOf(await select<ListedAnswer>({ query, params: { outcome, agent, until }, at, signal }), pageAnswers),
    [at, outcome, agent, until],
  )
  const search = useMemo(() => agentSearch(at), [at])
  const { loaded: agents } = useOptions(search, [at])
  const { value, error } = loaded.value
  return (
    <>
      <div class="title">
        <h1>Answers</h1>
        <SearchChoice
          label="Agent"
          labelIs="beside"
          value={agent}
          choose={(name) => changeQuery({ agent: name, position: undefined })}
          found={agents.value.value}
          search={search}
          none="all"
        />
        <label class="inline">
          <span>Outcome</span>
          <select value={outcome} onChange={({ currentTarget }) => changeQuery({ outcome: currentTarget.value, position: undefined })}>
            <option value="">all</option>
            {['answered', 'unanswered', 'failed', 'aborted'].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value?.rows.length === 0 && (
        <Empty title={`${agent}${outcome}` === '' && until === null ? 'Nobody has asked yet' : 'No answer fits'} />
      )}
      {value && value.rows.length > 0 && (
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
          rows={value.rows}
        />
      )}
      {value && <PageLinks name="position" start={value.next?.position} end="No earlier answer fits." isEmpty={value.rows.length === 0} />}
    </>
  )
}
