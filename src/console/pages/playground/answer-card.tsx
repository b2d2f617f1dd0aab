import { useMemo } from 'preact/hooks'
import { costText, loadCost } from '../../basics/cost.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf, pathOf } from '../../basics/place.js'
import { Feedback } from '../../components/feedback.js'
import { Refusal } from '../../components/notice.js'
import { Rows } from '../../lists/rows.js'
import { countText } from '../../components/value.js'
import { answerPath } from './rounds.js'
import type { LiveAnswer, Step } from './live-answer.js'

const ToolUse = ({ step }: { step: Step }) => (
  <details class="step">
    <summary>
      <strong>{step.tool}</strong>{' '}
      <span class={step.hasFailed ? 'bad' : 'quiet'}>
        {step.hasFailed ? 'failed' : step.rows ? `${countText(step.rows.rows.length)} rows` : step.output === undefined ? 'at work…' : ''}
      </span>{' '}
      <code class="clipped">{step.rows?.sql ?? step.input}</code>
    </summary>
    <pre>{step.rows?.sql ?? step.input}</pre>
    {step.rows ? (
      <Rows label="Rows of the query" columns={step.rows.columns} rows={step.rows.rows} isCut={step.rows.isCut} />
    ) : (
      <pre class="quiet">{step.output}</pre>
    )}
  </details>
)

/** The cost of an answer, if a price of its model is set. */
const Cost = ({ answer }: { answer: string }) => {
  const { loaded } = useLoaded((signal) => loadCost(answer, signal), [answer])
  const { value, error } = loaded.value
  if (error) return <> · its cost is not known: {error.message}</>
  return value === undefined ? null : <> · cost {costText(value)}</>
}

/** An answer while it arrives: the agent's steps, its text, and a link to its record. */
export const AnswerCard = ({ asking }: { asking: LiveAnswer }) => {
  const { state, text, steps, answer, position, version, outcome, note, tokens, ms, error } = asking.said.value
  const { project, agent, asOf } = asking.side
  /** Screen readers hear of the end of an answer only if it ends here, and not of one that was loaded. */
  const isLive = useMemo(() => asking.said.peek().state === 'asking', [asking])
  return (
    <article class="card said" aria-label={`${agent} says`} aria-busy={state === 'asking'}>
      <p class="quiet">
        {project}.{agent}
        {asOf === undefined ? '' : ` as of ${asOf}`}
        {version === undefined ? '' : `, version ${version}`}
      </p>
      {steps.map((step, i) => (
        <ToolUse key={i} step={step} />
      ))}
      {text !== '' && <p class="text">{text}</p>}
      {state === 'asking' && (
        <p class="row">
          <span class="busy" role="status">
            {text === '' ? 'Thinking…' : 'Writing…'}
          </span>
          <button type="button" onClick={() => asking.stop()}>
            Stop
          </button>
        </p>
      )}
      <p class={state === 'stopped' ? 'quiet' : 'hidden'} role="status">
        {state === 'stopped' ? 'Stopped.' : isLive && state === 'answered' ? `${agent} has answered.` : ''}
      </p>
      {error && <Refusal error={error} />}
      {note !== undefined && <p class="quiet">{note}</p>}
      {state !== 'asking' && answer !== undefined && (
        <footer class="row">
          <span class="quiet">
            {outcome ?? state}
            {tokens?.read === null || tokens === undefined
              ? ''
              : ` · ${countText(tokens.read)} tokens read, ${countText(tokens.written ?? 0)} written`}
            {ms === undefined ? '' : ` · ${(ms / 1_000).toFixed(1)} s`}
            <Cost answer={answer} />
          </span>
          {/* It is recorded now, also if the agent of a past moment answers. */}
          {position !== undefined && <a href={hrefOf('/events', { position: String(position), at: undefined })}>event {position}</a>}
          <a class="button" href={hrefOf(pathOf('answers', project, agent, answer), { at: undefined })}>
            Its record
          </a>
        </footer>
      )}
      {state === 'answered' && answer !== undefined && <Feedback key={answer} path={answerPath(asking.side, answer)} answer={answer} />}
    </article>
  )
}
