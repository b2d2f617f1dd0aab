import { useSignal } from '@preact/signals'
import { json } from '../../api/request.js'
import { select, type Value } from '../../api/sql.js'
import { costText, loadCost } from '../../basics/cost.js'
import { useLoaded, useSending } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { Feedback } from '../../components/feedback.js'
import { Busy, Refusal } from '../../components/notice.js'
import { Rows } from '../../lists/rows.js'
import { countText } from '../../components/value.js'

/** The names of an agent when it answered, and the streams by which the service finds it under any name. */
type Agent = { project: string; agent: string; project_id: string; agent_id: string } & Record<string, Value>

const agentQuery = `SELECT project, agent, project_id, agent_id FROM log.answers WHERE answer_id = :id`

/** An answer, and its path in the API. @throws ApiError */
const loadAnswer = async (names: { project: string; agent: string; id: string }, at: string | undefined, signal: AbortSignal) => {
  const { id } = names
  const [found] = await select<Agent>({ query: agentQuery, params: { id }, at, signal })
  const [project, agent] = [found?.project_id ?? names.project, found?.agent_id ?? names.agent]
  const path = `projects/${encodeURIComponent(project)}/agents/${encodeURIComponent(agent)}/answers/${encodeURIComponent(id)}`
  return { path, answer: await json<Answer>(path, { at, signal }) }
}

type Query = { sql: string; columns: string[]; rows: Value[][]; cut: boolean }

type Answer = {
  id: string
  position: number
  recorded_at: string
  version: number
  purpose: string
  model: string
  outcome: string
  error: string | null
  question: string
  answer: string
  input_tokens: number | null
  output_tokens: number | null
  duration_ms: number
  queries: Query[]
  exchanges: { [key: string]: Value }[]
  history: { role?: string; content?: string }[]
}

type Step = {
  step: number
  kind: string
  name: string
  outcome: string
  duration_ms: number | null
  input: string | null
  output: string | null
  sql: string | null
  exchanges: string | null
} & Record<string, Value>

type Comparison = { same?: boolean; differences?: Value } & Record<string, Value>

const Rerun = ({ path }: { path: string }) => {
  const found = useSignal<Comparison | undefined>(undefined)
  const { send, isSending, error } = useSending()
  const rerun = () =>
    send(async () => {
      found.value = await json<Comparison>(`${path}/rerun`, { method: 'POST', body: {} })
    })
  return (
    <section aria-label="Asked again">
      <h2>Does the record give it again?</h2>
      <p>The agent is run again with the exchanges of the record, without a call. The same bytes come out, or the difference is shown.</p>
      <button type="button" disabled={isSending} onClick={() => void rerun()}>
        Ask again from the record
      </button>
      {error && <Refusal error={error} />}
      {found.value && <pre class="card">{JSON.stringify(found.value, null, 2)}</pre>}
    </section>
  )
}

const Cost = ({ id }: { id: string }) => {
  const { loaded, reload } = useLoaded((signal) => loadCost(id, signal), [id])
  const { value, error, isLoading } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (isLoading) return <Busy />
  return <>{value === undefined ? <span class="null">no price of this model was set in llm_prices</span> : costText(value)}</>
}

const Steps = ({ id }: { id: string }) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded(
    (signal) =>
      select<Step>({
        query:
          'SELECT step, kind, name, outcome, duration_ms, input, output, sql, exchanges FROM log.answer_steps WHERE answer_id = :id ORDER BY step',
        params: { id },
        at,
        signal,
      }),
    [id, at],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return (
    <ol class="events changes">
      {value.map(({ step, kind, name, outcome, duration_ms: ms, input, output, sql, exchanges }) => (
        <li key={step}>
          <details>
            <summary>
              <span class="position">{step}</span>
              <strong>
                {kind} {name !== kind && <span class="quiet">{name}</span>}
              </strong>
              <span class="quiet clipped">{sql ?? output ?? ''}</span>
              <span class={outcome === 'complete' ? 'quiet' : 'bad'}>{ms === null ? outcome : `${(ms / 1_000).toFixed(2)} s`}</span>
            </summary>
            {sql !== null && <pre>{sql}</pre>}
            <h3>Asked</h3>
            <pre>{input}</pre>
            <h3>Came back</h3>
            <pre>{output}</pre>
            {exchanges !== null && (
              <>
                <h3>Said to a reranking model, and by it</h3>
                <pre>{exchanges}</pre>
              </>
            )}
          </details>
        </li>
      ))}
    </ol>
  )
}

/** The record of an answer: its versions, question, steps and texts. */
export default ({ params: { project = '', agent = '', id = '' } }: PageProps) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded((signal) => loadAnswer({ project, agent, id }, at, signal), [project, agent, id, at])
  const { value: found, error } = loaded.value
  const value = found?.answer
  return (
    <>
      <div class="title">
        <div>
          <p class="crumbs">
            <a href={hrefOf('/answers')}>Answers</a> · {project}.{agent}
          </p>
          <h1>{value ? value.question.slice(0, 200) : 'An answer'}</h1>
        </div>
        <div class="row">
          <a class="button" href={hrefOf('/playground', { agent: `${project}/${agent}` })}>
            Ask it
          </a>
          {value && (
            <a class="button" href={hrefOf('/audit', { event: String(value.position) })}>
              Prove it
            </a>
          )}
        </div>
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {found && value && (
        <>
          <p class="card answer-text">{value.answer === '' ? (value.error ?? value.outcome) : value.answer}</p>
          <dl class="fields">
            <div>
              <dt>outcome</dt>
              <dd class={value.outcome === 'failed' ? 'bad' : undefined}>
                {value.outcome} {value.error}
              </dd>
            </div>
            <div>
              <dt>agent</dt>
              <dd>
                <a href={hrefOf(pathOf('resources', 'agent', project, agent), { tab: 'history' })}>
                  {agent}, version {value.version}
                </a>
              </dd>
            </div>
            <div>
              <dt>language model</dt>
              <dd>{value.model}</dd>
            </div>
            <div>
              <dt>tokens</dt>
              <dd>
                {value.input_tokens === null
                  ? 'not told'
                  : `${countText(value.input_tokens)} read, ${countText(value.output_tokens ?? 0)} written`}
              </dd>
            </div>
            <div>
              <dt>cost</dt>
              <dd>
                <Cost id={value.id} />
              </dd>
            </div>
            <div>
              <dt>recorded</dt>
              <dd>
                {value.recorded_at.slice(0, 19).replace('T', ' ')} UTC, by{' '}
                <a href={hrefOf('/events', { position: String(value.position) })}>event {value.position}</a>, after{' '}
                {(value.duration_ms / 1_000).toFixed(2)} s
              </dd>
            </div>
          </dl>
          <section aria-label="Whether it is good">
            <h2>Whether it is good</h2>
            <Feedback path={found.path} answer={value.id} at={at} />
          </section>
          {value.queries.length > 0 && <h2>What it rests on</h2>}
          {value.queries.map(({ sql, columns, rows, cut }, i) => (
            <section key={i} aria-label={`Query ${i + 1}`}>
              <pre class="card">{sql}</pre>
              <Rows label={`Rows of query ${i + 1}`} columns={columns} rows={rows} isCut={cut} />
            </section>
          ))}
          <h2>Step by step</h2>
          <Steps id={value.id} />
          {at === undefined && <Rerun path={found.path} />}
        </>
      )}
    </>
  )
}
