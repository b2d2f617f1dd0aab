import { useSignal } from '@preact/signals'
import { json } from '../../api/request.js'
import type { Value } from '../../api/sql.js'
import { useSending } from '../../basics/loading.js'
import { changeQuery, place, jsonIn } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { Shares } from '../../lists/shares.js'
import { figure, shown } from '../../components/value.js'
import { useInputs, rowOf, type Input } from './inputs.js'
import type { ModelName, ModelRecord, Report } from './reports.js'
import { RowsOfNow } from './training-rows.js'

type Explanation = {
  confidence: number | null
  contributions?: { method: string; base: number; inputs: Record<string, number>; scale: string }
} & Record<string, unknown>

type ExplainedPrediction = { value: Value; least: number | null; greatest: number | null; explanation: Explanation }

const predict = async (
  { project }: ModelName,
  { name, version, predict: target }: ModelRecord,
  row: Record<string, Value>,
): Promise<ExplainedPrediction> => {
  const [answer] = await json<Record<string, Value>[]>(
    `projects/${encodeURIComponent(project)}/models/${encodeURIComponent(name)}/predict`,
    {
      method: 'POST',
      body: { data: [row], params: { version, explain: 'contributions' } },
    },
  )
  return {
    value: answer?.[target] ?? null,
    least: (answer?.[`${target}_min`] ?? null) as number | null,
    greatest: (answer?.[`${target}_max`] ?? null) as number | null,
    explanation: JSON.parse(shown(answer?.[`${target}_explain`] ?? '{}')) as Explanation,
  }
}

const Control = ({ input, value, set }: { input: Input; value: string; set: (value: string) => void }) => {
  const { name, form } = input
  if (form === 'choice')
    return (
      <label>
        {name}
        <select value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
          <option value="">not known</option>
          {input.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      </label>
    )
  if (form === 'text')
    return (
      <label>
        {name}
        <input type="text" value={value} placeholder={input.example} onInput={({ currentTarget }) => set(currentTarget.value)} />
      </label>
    )
  return (
    <fieldset class="slider">
      <legend>{name}</legend>
      <input
        type="range"
        aria-label={`${name}, from ${figure(input.least)} to ${figure(input.greatest)}`}
        min={input.least}
        max={input.greatest}
        step={input.step}
        value={value === '' ? input.usual : value}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      <input
        type="number"
        aria-label={name}
        step="any"
        value={value}
        placeholder="not known"
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    </fieldset>
  )
}

const Answer = ({ target, predicted }: { target: string; predicted: ExplainedPrediction }) => {
  const { value, least, greatest, explanation } = predicted
  const { confidence, contributions } = explanation
  const width = (greatest ?? 0) - (least ?? 0)
  const probabilities = Object.entries(explanation).flatMap(([name, share]) =>
    name.startsWith('probability_class_') && typeof share === 'number'
      ? [{ name: name.slice(18), value: share, text: `${(100 * share).toFixed(1)} %` }]
      : [],
  )
  return (
    <section class="card prediction" aria-live="polite" aria-label="Prediction">
      <span class="quiet">{target}</span>
      <output class="count">{typeof value === 'number' ? figure(value, width) : shown(value)}</output>
      {least !== null && greatest !== null && (
        <p>
          {width === 0 ? 'exactly so' : `between ${figure(least, width)} and ${figure(greatest, width)}`} in{' '}
          {figure(100 * (confidence ?? 0))} of 100 such cases
        </p>
      )}
      {probabilities.length > 0 && <Shares label="Probabilities" first={12} shares={probabilities.toSorted((a, b) => b.value - a.value)} />}
      {contributions && (
        <>
          <h2>What each input added</h2>
          <p class="quiet">
            It begins at {figure(contributions.base)} ({contributions.scale}). Found by {contributions.method}.
          </p>
          <Shares
            label="Contributions"
            first={20}
            shares={Object.entries(contributions.inputs)
              .filter(([, added]) => added !== 0)
              .toSorted(([, a], [, b]) => Math.abs(b) - Math.abs(a))
              .map(([name, added]) => ({ name, value: added, text: `${added > 0 ? '+' : ''}${figure(added)}` }))}
          />
        </>
      )}
    </section>
  )
}

/** A form with a field for each input. Its values are stored in the address. */
export const Attempt = ({ of, record, report }: { of: ModelName; record: ModelRecord; report: Report }) => {
  const { loaded, reload } = useInputs(of, record, report)
  const predicted = useSignal<{ row: string; prediction: ExplainedPrediction } | undefined>(undefined)
  const { send, isSending, error } = useSending()
  const { value: found, error: refused } = loaded.value
  if (refused) return <Refusal error={refused} again={reload} />
  if (!found) return <Busy />
  const { inputs, training, unread } = found
  const given = Object.entries(jsonIn(place.value.query.get('row')) ?? {})
  const values = new Map(given.map(([name, text]) => [name, String(text)]))
  const set = (name: string, value: string) => {
    const next = [...new Map(values).set(name, value)].filter(([, text]) => text !== '')
    changeQuery({ row: JSON.stringify(Object.fromEntries(next)) })
  }
  const row = rowOf(inputs, values)
  const rowText = JSON.stringify(row)
  const attempt = (event: SubmitEvent) => {
    event.preventDefault()
    void send(async () => {
      predicted.value = { row: rowText, prediction: await predict(of, record, row) }
    })
  }
  return (
    <div class="attempt">
      <form onSubmit={attempt}>
        {unread && <p class="quiet">No input has its range, because the rows of the training cannot be read: {unread.message}</p>}
        {!unread && <RowsOfNow training={training} />}
        {inputs.map((input) => (
          <Control key={input.name} input={input} value={values.get(input.name) ?? ''} set={(value) => set(input.name, value)} />
        ))}
        <div class="row">
          <button type="submit" class="primary" disabled={isSending}>
            Predict {record.predict}
          </button>
          <button type="button" onClick={() => changeQuery({ row: undefined })}>
            Clear
          </button>
        </div>
        {record.recording !== 'off' && <p class="quiet">The prediction is recorded in the log, as each of this model is.</p>}
      </form>
      <div>
        {error && <Refusal error={error} />}
        {predicted.value && predicted.value.row !== rowText && (
          <p class="notice" role="status">
            The inputs were changed since this prediction.
          </p>
        )}
        {predicted.value && <Answer target={record.predict} predicted={predicted.value.prediction} />}
      </div>
    </div>
  )
}
