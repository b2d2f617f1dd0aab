import { useSignal, type Signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { exactRowsOf } from '../../api/exact.js'
import { firstName, quotedName, run, select } from '../../api/sql.js'
import { ofQuery } from '../../api/silence-timer.js'
import { defaultProject } from '../../basics/default-project.js'
import { useDraft } from '../../basics/drafts.js'
import { useIsShown, useLoaded, useSending } from '../../basics/loading.js'
import { changeQuery, goToMade, hrefOf, pathOf, place, jsonIn } from '../../basics/place.js'
import { withoutSecrets } from '../../basics/secrets.js'
import { nameFrom } from '../../basics/words.js'
import { Columns } from '../../components/columns.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { Restored } from '../../components/restored.js'
import { Summaries, type ColumnSummary } from '../../components/summary.js'
import { countText } from '../../components/value.js'
import { useOptions } from '../../lists/choices.js'
import { ProjectChoice } from '../../lists/project-choice.js'
import { SearchChoice } from '../../lists/search-choice.js'
import { rowsOf, statementOf, type Plan } from './statement.js'
import { tableSearch } from './tables.js'
import './style.css'

/** The number of rows that are examined for the overview of a table. The training reads all rows. */
const picturedMax = 20_000

/** The steps ahead of a forecast, unless another number is written. */
const horizonUsual = '10'

/** The project of a table that is a view; null for any other table, and for none. @throws ApiError */
const loadProjectOf = async (table: string, signal: AbortSignal): Promise<string | null> => {
  const query = `SELECT name FROM log.resources WHERE kind = 'project' AND name = :name`
  const name = firstName(table)
  const [found] = name === '' ? [] : await select<{ name: string }>({ query, params: { name }, signal })
  return found?.name ?? null
}

type Picture = { summaries: ColumnSummary[]; rows: number; isPart: boolean }

/** Summaries of the columns of a query, from its first rows. @throws ApiError */
const loadPicture = async (plan: Plan, signal: AbortSignal): Promise<Picture> => {
  const rowsToLearn = `SELECT * FROM ${rowsOf(plan)} AS rows_to_learn LIMIT ${picturedMax + 1}`
  const answer = await run({ query: rowsToLearn, readsOnly: true, signal }, ofQuery)
  if (answer.type === 'ok') return { summaries: [], rows: 0, isPart: false }
  const summaries = new Summaries(answer.columns)
  let [rows, isPart] = [0, false]
  for await (const piece of answer.pieces) {
    const found = exactRowsOf(piece, answer.columns)
    const taken = found.slice(0, picturedMax - rows)
    summaries.add(taken)
    rows += taken.length
    isPart ||= taken.length < found.length
  }
  return { summaries: summaries.read(), rows, isPart }
}

/** Whether a query stands only in the address, which may come from somebody else. It is shown, and runs when the reader asks for its rows. */
const isOnlySent = (query: URLSearchParams, typed: string): boolean => {
  const own = query.get('query')
  return own !== null && own !== withoutSecrets(typed)
}

/**
 * The plan of a training as stored in the address, which has the query that was typed without its secrets.
 *
 * @param within the project of the table
 */
const readPlan = (query: URLSearchParams, typed: string, within: string | null): Plan | undefined => {
  const table = query.get('table')
  const own = query.get('query')
  if (table === null && own === null) return undefined
  return {
    // The full name of a table means the same everywhere. Within a project, the service writes the SQL for a connected database itself.
    db: (own === null ? undefined : query.get('db')) ?? defaultProject(),
    query: own === null ? `SELECT * FROM ${quotedName(table ?? '')}` : isOnlySent(query, typed) ? own : typed,
    name: query.get('name') ?? '',
    project: query.get('project') ?? within ?? defaultProject(),
    target: query.get('target') ?? '',
    without: query.getAll('without').flatMap((names) => [jsonIn(names) ?? []].flat().map(String)),
    engine: query.get('engine') ?? '',
    order: query.get('order') ?? '',
    group: query.get('group') ?? '',
    horizon: Number(query.get('horizon') ?? horizonUsual),
  }
}

/** The query that is being written, as the browser keeps it until a model is trained. */
type QueryDraft = ReturnType<typeof useDraft>

/** What a query is written instead of: the query or the table in the address. */
const baseIn = (query: URLSearchParams): string => query.get('query') ?? query.get('table') ?? ''

type SourceProps = { plan: Plan | undefined; typed: Signal<string>; draft: QueryDraft }

const Source = ({ plan, typed, draft }: SourceProps) => {
  const search = useMemo(tableSearch, [])
  const { loaded, reload } = useOptions(search, [])
  const { value, error } = loaded.value
  const own = place.value.query.get('query')
  const base = baseIn(place.value.query)
  // A link to another query or table shows that one.
  const found = draft.found && (base === '' || draft.found.base === base) ? draft.found : undefined
  const text = useSignal(found?.texts['query'] ?? plan?.query ?? '')
  const isOwn = useSignal(own !== null || found !== undefined)
  const shownFor = useRef(own)
  // In the next frame it would take back what was typed before.
  useLayoutEffect(() => {
    if (own === shownFor.current) return
    shownFor.current = own
    if (own === null) return
    isOwn.value = true
    if (own !== withoutSecrets(text.peek())) text.value = own
  }, [own])
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  if (value.all === 0 && !plan)
    return (
      <Empty title="There are no rows to learn from">
        <p>
          Upload a file on the <a href={hrefOf('/')}>first page</a>, or <a href={hrefOf('/connect')}>connect a database</a>.
        </p>
      </Empty>
    )
  const discard = () => {
    draft.drop()
    text.value = plan?.query ?? ''
    isOwn.value = own !== null
  }
  return (
    <>
      {found && <Restored draft={found} discard={discard} />}
      <form
        class="row source"
        onSubmit={(event) => {
          event.preventDefault()
          typed.value = text.value
          const query = withoutSecrets(text.value)
          if (query !== own)
            changeQuery({ query, project: plan?.project, table: undefined, target: undefined, without: undefined }, { replace: false })
        }}
      >
        <SearchChoice
          label="Table"
          value={place.value.query.get('table') ?? ''}
          choose={(table) => {
            if (isOwn.value) draft.drop()
            isOwn.value = false
            // A query of the user's own puts its project into the address, too. Without one, the project there was asked for.
            const project = own === null ? (place.value.query.get('project') ?? undefined) : undefined
            changeQuery({ table, query: undefined, db: undefined, project, target: undefined, without: undefined }, { replace: false })
          }}
          found={value}
          search={search}
          none={own === null ? 'Choose…' : 'a query of your own'}
        />
        {!isOwn.value && plan && (
          <button type="button" onClick={() => ((isOwn.value = true), (text.value = plan.query))}>
            Choose rows by a query
          </button>
        )}
        {isOwn.value && (
          <>
            <label class="wide">
              Query, in {plan?.db ?? defaultProject()}
              <textarea
                rows={3}
                spellcheck={false}
                value={text.value}
                onInput={({ currentTarget }) => {
                  text.value = currentTarget.value
                  draft.type(text.value === '' ? {} : { query: text.value })
                }}
              />
            </label>
            <button type="submit">Show its rows</button>
          </>
        )}
      </form>
    </>
  )
}

const engines = ['auto', 'boosted_trees', 'linear', 'constant'] as const

type OptionsProps = { plan: Plan; summaries: readonly ColumnSummary[] }

const Options = ({ plan, summaries }: OptionsProps) => {
  const names = summaries.map(({ column }) => column.name)
  const timed = summaries.filter(({ column }) => /DATE|TIMESTAMP|INT/.test(column.type)).map(({ column }) => column.name)
  const choice = (label: string, key: string, value: string, options: readonly string[], none: string) => (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => changeQuery({ [key]: currentTarget.value || undefined })}>
        <option value="">{none}</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  )
  return (
    <div class="row options">
      <label>
        Name of the model
        <input
          type="text"
          value={plan.name}
          required
          placeholder={nameFrom(plan.target) || 'model'}
          onInput={({ currentTarget }) => changeQuery({ name: currentTarget.value })}
        />
      </label>
      <ProjectChoice value={plan.project} choose={(project) => changeQuery({ project })} />
      {choice('Predict', 'target', plan.target, names, 'Choose…')}
      {plan.order === '' && choice('Engine', 'engine', plan.engine, engines.slice(1), 'auto')}
      {choice(
        'Forecast along',
        'order',
        plan.order,
        timed.filter((name) => name !== plan.target),
        'no time: rows stand alone',
      )}
      {plan.order !== '' && (
        <>
          {choice(
            'One series for each',
            'group',
            plan.group,
            names.filter((name) => name !== plan.target && name !== plan.order),
            'one series in all',
          )}
          <label>
            Steps ahead
            <input
              type="number"
              min={1}
              max={1000}
              value={place.value.query.get('horizon') ?? ''}
              placeholder={horizonUsual}
              onInput={({ currentTarget }) => changeQuery({ horizon: currentTarget.value })}
            />
          </label>
        </>
      )}
    </div>
  )
}

type PicturedProps = { plan: Plan; draft: QueryDraft }

const Pictured = ({ plan, draft }: PicturedProps) => {
  const { loaded, reload } = useLoaded((signal) => loadPicture(plan, signal), [plan.db, plan.query])
  const { send, isSending, error } = useSending()
  const isShown = useIsShown()
  const { value, error: refused } = loaded.value
  if (refused) return <Refusal error={refused} again={reload} />
  if (!value) return <Busy what="Looking at its rows" />
  const { summaries, rows, isPart } = value
  const named = { ...plan, name: plan.name || nameFrom(plan.target) || 'model' }
  const statement = plan.target === '' ? undefined : statementOf(named)
  const train = (query: string) =>
    send(async () => {
      await run({ query, db: plan.project })
      if (place.value.query.has('query')) draft.drop()
      if (isShown()) goToMade(pathOf('models', plan.project, named.name))
    })
  const toggle = (name: string) => {
    const next = plan.without.includes(name) ? plan.without.filter((one) => one !== name) : [...plan.without, name]
    changeQuery({ without: next.length === 0 ? undefined : JSON.stringify(next) })
  }
  return (
    <>
      <p class="quiet">
        {isPart ? `The first ${countText(rows)} rows, as they are. A training reads all.` : `${countText(rows)} rows.`} Choose what to
        predict.
      </p>
      <Columns
        summaries={summaries}
        rows={rows}
        action={({ name }) => (
          <div class="row">
            <button type="button" aria-pressed={plan.target === name} onClick={() => changeQuery({ target: name })}>
              {plan.target === name ? 'Predicted' : 'Predict this'}
            </button>
            {plan.target !== name && plan.order === '' && (
              <label class="inline">
                <input type="checkbox" checked={!plan.without.includes(name)} onChange={() => toggle(name)} />
                learn from it
              </label>
            )}
          </div>
        )}
      />
      <Options plan={plan} summaries={summaries} />
      {statement !== undefined && (
        <>
          <pre class="card statement">{statement}</pre>
          {error && <Refusal error={error} />}
          <button type="button" class="primary" disabled={isSending} onClick={() => void train(statement)}>
            Train
          </button>
        </>
      )}
    </>
  )
}

/** Trains a model, after an overview of its rows. */
export default () => {
  const typed = useSignal('')
  const draft = useDraft('query of a training', baseIn(place.value.query))
  const table = place.value.query.get('table') ?? ''
  const { loaded, reload } = useLoaded(async (signal) => ({ table, project: await loadProjectOf(table, signal) }), [table])
  const { value: of, error } = loaded.value
  // Until the project of another table is known, nothing is planned for it.
  const plan = of?.table === table ? readPlan(place.value.query, typed.value, of.project) : undefined
  return (
    <>
      <h1>Train a model</h1>
      {error && <Refusal error={error} again={reload} />}
      {!of && !error && <Busy />}
      {of && <Source plan={plan} typed={typed} draft={draft} />}
      {plan && !isOnlySent(place.value.query, typed.value) && <Pictured key={`${plan.db}\n${plan.query}`} plan={plan} draft={draft} />}
    </>
  )
}
