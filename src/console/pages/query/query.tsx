import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { SQLNamespace } from '@codemirror/lang-sql'
import { request } from '../../api/request.js'
import type { Value } from '../../api/sql.js'
import { asApiError, useLoaded } from '../../basics/loading.js'
import { changeQuery, momentShown, place } from '../../basics/place.js'
import { Icon } from '../../parts/icon.js'
import { Busy, Empty, Refusal } from '../../parts/notice.js'
import { Tabs } from '../../parts/tabs.js'
import { bytesText, countText } from '../../parts/value.js'
import { Columns } from '../../parts/columns.js'
import { Chart } from './chart.js'
import { Editor, type Fault } from './editor.js'
import { Grid } from './grid.js'
import { forgetAll, note, past } from './past.js'
import { answerMaxBytes } from './rows.js'
import { Plan } from './plan.js'
import { Running, type Outcome } from './running.js'
import { loadDatabases, loadSchema, parametersOf, placeOf } from './schema.js'

const noSchema: SQLNamespace = {}

/** A value as the reader means it: a number, true, false, null, or a text. */
const valueOf = (text: string): Value => {
  if (/^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim()) && Number.isFinite(Number(text))) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return text === 'null' ? null : text
}

const faultOf = (outcome: Outcome): Fault | undefined => {
  if (outcome.type !== 'error') return undefined
  const found = placeOf(outcome.error.message)
  return found && { ...found, message: outcome.error.message.split('\n')[0] ?? '' }
}

const Status = ({ outcome }: { outcome: Outcome }) => {
  if (outcome.type === 'running') return <p role="status">Running…</p>
  if (outcome.type === 'ok')
    return (
      <p role="status">
        Done{outcome.affected === null ? '' : `: ${countText(outcome.affected)} rows`}, in {Math.round(outcome.ms)} ms.
      </p>
    )
  if (outcome.type !== 'table') return null
  const { store, isWhole, isCut, firstMs, ms } = outcome
  const left = store.length === store.total ? '' : `${countText(store.length)} of `
  return (
    <p role="status">
      {left}
      {countText(store.total)} {store.total === 1 ? 'row' : 'rows'}
      {isWhole ? '' : ' so far'} · first after {Math.round(firstMs)} ms{isWhole ? `, all after ${Math.round(ms)} ms` : ''}
      {isCut && store.isFull ? ` · cut off at ${bytesText(answerMaxBytes)}: select less, or download it` : isCut ? ' · cancelled' : ''}
    </p>
  )
}

const formats = {
  CSV: { name: 'answer.csv', accept: 'text/csv', form: undefined },
  'JSON lines': { name: 'answer.jsonl', accept: 'application/json', form: 'jsonlines' },
} as const

/** The whole answer as a file, also what is too much for this page. */
const download = async (
  format: keyof typeof formats,
  { query, db, at, params }: { query: string; db: string; at: string | undefined; params: Record<string, Value> },
): Promise<void> => {
  const { name, accept, form } = formats[format]
  const context = { db, ...(at !== undefined && { as_of: at }) }
  const body = { query, context, params, ...(form !== undefined && { response_format: form }) }
  const response = await request('sql/query', { method: 'POST', body, headers: { Accept: accept } })
  const url = URL.createObjectURL(await response.blob())
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

const Past = ({ choose }: { choose: (sql: string, db: string) => void }) =>
  past.value.length === 0 ? (
    <Empty title="Nothing yet">What you run is listed here. It is kept in this browser alone.</Empty>
  ) : (
    <>
      <ol class="past">
        {past.value.map(({ sql, db, at, ok, ms }) => (
          <li key={sql}>
            <button type="button" class="plain" onClick={() => choose(sql, db)}>
              <code>{sql}</code>
            </button>
            <span class="quiet">
              {ok ? `${ms} ms` : 'refused'} · {at.slice(0, 16).replace('T', ' ')}
            </span>
          </li>
        ))}
      </ol>
      <button type="button" onClick={forgetAll}>
        Forget all
      </button>
    </>
  )

/** A statement, and what it answers. The statement is in the address. */
export default () => {
  const { query } = place.value
  const at = momentShown()
  const text = useSignal(query.get('sql') ?? '')
  const db = query.get('db') ?? 'mindsdb'
  const running = useMemo(() => new Running(), [])
  const values = useSignal<Record<string, string>>({})
  const view = query.get('view') ?? 'rows'
  const sort = useSignal<{ by: number | undefined; descending: boolean }>({ by: undefined, descending: false })
  const filter = useSignal('')
  const isDryRun = useSignal(false)
  const arranged = useSignal(0)
  const failure = useSignal<unknown>(undefined)
  const { loaded: schema } = useLoaded((signal) => loadSchema(at, signal), [at])
  const { loaded: databases } = useLoaded((signal) => loadDatabases(at, signal), [at])
  const outcome = running.outcome.value
  const parameters = parametersOf(text.value)

  // A link to another statement, or a step back, shows that one.
  const sent = query.get('sql') ?? ''
  const ours = useRef<string | undefined>(undefined)
  useEffect(() => {
    // What this page put there itself may be behind what was typed since.
    if (sent !== ours.current) text.value = sent
  }, [sent])
  useEffect(() => () => running.cancel(), [])

  const given = (): Record<string, Value> => Object.fromEntries(parameters.map((name) => [name, valueOf(values.value[name] ?? '')]))

  const runText = async () => {
    const sql = text.value.trim()
    if (sql === '') return
    ours.current = text.value
    changeQuery({ sql: text.value, db: db === 'mindsdb' ? undefined : db, view: view === 'past' ? undefined : view }, { replace: false })
    sort.value = { by: undefined, descending: false }
    filter.value = ''
    const began = performance.now()
    const params = given()
    await running.run({ query: sql, db, at, dryRun: isDryRun.value, ...(parameters.length > 0 && { params }) })
    const ok = running.outcome.value.type !== 'error'
    note({ sql, db, at: new Date().toISOString(), ok, ms: Math.round(performance.now() - began) })
  }

  useSignalEffect(() => {
    const { by, descending } = sort.value
    const wanted = filter.value
    const now = running.outcome.peek()
    if (now.type !== 'table') return
    const aborting = new AbortController()
    now.store.arrange({ filter: wanted, by, descending }, aborting.signal).then(
      () => (arranged.value = arranged.peek() + 1),
      () => undefined,
    )
    return () => aborting.abort()
  })

  const choosePast = (sql: string, of: string) => {
    text.value = sql
    changeQuery({ sql, db: of === 'mindsdb' ? undefined : of, view: undefined })
  }
  const store = outcome.type === 'table' ? outcome.store : undefined
  const isRunning = running.isRunning
  return (
    <div class="query">
      <h1 class="hidden">Query</h1>
      <div class="tools">
        {isRunning ? (
          <button type="button" class="danger" onClick={() => running.cancel()}>
            <Icon name="stop" /> Cancel
          </button>
        ) : (
          <button type="button" class="primary" onClick={() => void runText()} title="Ctrl Enter">
            <Icon name="run" /> Run
          </button>
        )}
        <label class="inline">
          <span>in</span>
          <select value={db} onChange={({ currentTarget }) => changeQuery({ db: currentTarget.value })}>
            {[...new Set([db, ...(databases.value.value ?? [])])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="inline" title="Shows the events that a statement which writes would record">
          <input type="checkbox" checked={isDryRun.value} onChange={({ currentTarget }) => (isDryRun.value = currentTarget.checked)} />
          <span>Dry run</span>
        </label>
        {(['CSV', 'JSON lines'] as const).map((format) => (
          <button
            key={format}
            type="button"
            disabled={text.value.trim() === ''}
            onClick={() => {
              failure.value = undefined
              download(format, { query: text.value, db, at, params: given() }).catch((error: unknown) => (failure.value = error))
            }}
          >
            <Icon name="down" /> {format}
          </button>
        ))}
      </div>
      <Editor text={text} onRun={() => void runText()} schema={schema.value.value ?? noSchema} fault={faultOf(outcome)} />
      {parameters.length > 0 && (
        <div class="parameters" role="group" aria-label="Parameters">
          {parameters.map((name) => (
            <label key={name}>
              :{name}
              <input
                value={values.value[name] ?? ''}
                onInput={({ currentTarget }) => (values.value = { ...values.value, [name]: currentTarget.value })}
              />
            </label>
          ))}
        </div>
      )}
      {failure.value !== undefined && <Refusal error={asApiError(failure.value)} />}
      {outcome.type === 'error' && (
        <div class="notice bad" role="alert">
          <pre>{outcome.error.message}</pre>
          {outcome.error.hint !== undefined && <p class="quiet">{outcome.error.hint}</p>}
        </div>
      )}
      <div class="answer">
        <div class="tools">
          <Status outcome={outcome} />
          {store && (
            <label class="inline">
              <span>Filter</span>
              <input type="search" value={filter.value} onInput={({ currentTarget }) => (filter.value = currentTarget.value)} />
            </label>
          )}
        </div>
        <Tabs
          label="The answer"
          tabs={[
            { id: 'rows', name: 'Rows' },
            { id: 'columns', name: 'Columns' },
            { id: 'chart', name: 'Chart' },
            { id: 'plan', name: 'Plan' },
            { id: 'past', name: 'My queries' },
          ]}
          chosen={view}
          choose={(id) => changeQuery({ view: id === 'rows' ? undefined : id })}
        >
          {view === 'past' ? (
            <Past choose={choosePast} />
          ) : view === 'plan' ? (
            <Plan sql={text.value} db={db} at={at} params={given()} />
          ) : store === undefined ? (
            outcome.type === 'none' && (
              <Empty title="Ask anything">Tables, models, history and events are all here. Names are proposed as you type.</Empty>
            )
          ) : view === 'columns' ? (
            <Columns summaries={running.summaries.value} rows={store.total} />
          ) : view === 'chart' ? (
            outcome.type === 'table' && outcome.isWhole ? (
              <Chart store={store} version={outcome.version} summaries={running.summaries.value} />
            ) : (
              <Busy what="Rows are still coming" />
            )
          ) : (
            <Grid
              store={store}
              version={(outcome.type === 'table' ? outcome.version : 0) + arranged.value}
              sort={sort.value}
              onSort={(by) => (sort.value = { by, descending: sort.value.by === by && !sort.value.descending })}
              label="Rows of the answer"
            />
          )}
        </Tabs>
      </div>
    </div>
  )
}
