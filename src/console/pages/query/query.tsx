/**
 * Room: the page that runs statements. It imports only console/api, console/basics, console/components, console/lists,
 * console/pages/query/answer and console/pages/query/writing.
 */

import { effect, untracked, useSignal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { ApiError } from '../../api/request.js'
import type { Value } from '../../api/sql.js'
import { Columns } from '../../components/columns.js'
import { defaultProject } from '../../basics/default-project.js'
import { commandText } from '../../basics/keys.js'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery, momentShown, place } from '../../basics/place.js'
import { mask, withoutSecrets } from '../../basics/secrets.js'
import { Icon } from '../../components/icon.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { PlannedEvents, type PlannedEvent } from '../../lists/planned-events.js'
import { Tabs } from '../../components/tabs.js'
import { Summaries } from '../../components/summary.js'
import { shown } from '../../components/value.js'
import { sheetRuns, runsMax } from './sheet-runs.js'
import { asItComes, readArrangement, sortText, useArranged } from './answer/arrangement.js'
import { Chart } from './answer/chart.js'
import { savingError } from './download.js'
import { Downloads } from './downloads.js'
import { Editor, type Fault } from './editor.js'
import { Grid } from './answer/grid.js'
import { note } from './statement-history.js'
import { PastList } from './past-list.js'
import { Plan } from './plan.js'
import type { RowStore } from './answer/rows.js'
import type { Outcome, StatementRun } from './statement-run.js'
import { SheetList } from './sheet-list.js'
import { chosen, followWindows, openSheet, sheets, shownSheet, write, type Draft, type Sheet } from './sheets.js'
import { NoAnswer, Status } from './status.js'
import { DatabaseChoice } from './writing/database-choice.js'
import { NotKept, notKept } from './writing/not-kept.js'
import { ParameterFields } from './writing/parameter-fields.js'
import { givenText, keptGiven, readGiven, secretsIn, sentAs, type Given } from './writing/parameters.js'
import { loadNames, parametersOf, placeOf, type KnownNames } from './writing/schema.js'
import './style.css'

const noNames: KnownNames = { schema: {}, at: undefined, areMore: false }

/** Why a statement has no answer, or an incomplete one. */
const errorOf = (outcome: Outcome): ApiError | undefined =>
  outcome.type === 'error' || outcome.type === 'table' ? outcome.error : undefined

const faultOf = (error: ApiError | undefined): Fault | undefined => {
  const found = error && placeOf(error.message)
  return found && { ...found, message: error.message.split('\n')[0] ?? '' }
}

/** The planned events of a dry run. */
const plannedIn = (store: RowStore): PlannedEvent[] =>
  Array.from({ length: store.total }, (_, i) => {
    const [type, stream, version, data] = store.row(i) ?? []
    return { type: shown(type), stream: shown(stream), version: Number(version), data: JSON.parse(shown(data)) as Value }
  })

/** The columns of the rows that fit the filter. They are summarised again when other rows do: `version` is another number then. */
const FittingColumns = ({ store, version }: { store: RowStore; version: number }) => {
  const { loaded } = useLoaded(
    async (signal) => {
      const summaries = new Summaries(store.columns)
      for await (const rows of store.fitting(signal)) summaries.add(rows)
      return { summaries: summaries.read(), rows: store.length }
    },
    [store, version],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} />
  return value ? <Columns {...value} /> : <Busy what="Looking at the rows" />
}

/** Ignores the second click of a double click: by then, Cancel may be at the place of Run. */
const firstClick =
  (act: () => void) =>
  ({ detail }: MouseEvent) => {
    if (detail < 2) act()
  }

/** A draft as parameters of the address, which leaves out the usual database, and secrets. */
const inAddress = ({ sql, db, dry, given }: Draft) => ({
  sql: withoutSecrets(sql),
  db: db === defaultProject() ? undefined : db,
  dry,
  given: keptGiven(given),
})

/** Statements and their answers. The address stores the statement that is shown. */
export default () => {
  const { query } = place.value
  const at = momentShown()
  const sent = query.get('sql') ?? ''
  const db = query.get('db') ?? defaultProject()
  const text = useSignal('')
  const running = sheetRuns.of(chosen.value)
  const view = query.get('view') ?? 'rows'
  const { filter, by, descending } = readArrangement(query)
  const dry = query.get('dry') ?? undefined
  const isDryRun = dry === '1'
  const given = query.get('given') ?? undefined
  /** The values of parameters that are secrets, of each sheet. They are neither in the address nor in the browser's storage. */
  const secrets = useSignal<Record<number, Record<string, Given>>>({})
  const values = Object.assign(readGiven(given), secrets.value[chosen.value])
  /** The run whose statement writes, and for which another one was not run. */
  const held = useSignal<StatementRun | undefined>(undefined)
  const { loaded: names } = useLoaded((signal) => loadNames(at, signal), [at])
  const outcome = running.outcome.value
  const error = errorOf(outcome)
  /** The place of an error is one of the text that ran. */
  const isSame = running.statement.value?.query === text.value.trimEnd()
  const fault = useMemo(() => (isSame ? faultOf(error) : undefined), [error, isSame])
  const parameters = parametersOf(text.value)

  // All effects of this page come before it is seen: a click or a key would meet the sheet before, or none.
  // This effect must be the first one: other windows may have changed the sheets while another page was shown.
  useLayoutEffect(
    () =>
      followWindows((before) => {
        if (before === chosen.value) text.value = shownSheet().sql
        else show(shownSheet())
      }),
    [],
  )

  // A link to another statement, or a step back, shows that statement. Without one, the last text appears again.
  const ours = useRef<string | undefined>(undefined)
  useLayoutEffect(() => {
    // The address may have changed since this was drawn. What it has now is drawn next, and must not be overwritten before.
    if ((place.peek().query.get('sql') ?? '') !== sent) return
    const draft = { db, dry, given }
    if (sent === '') {
      if (Object.keys(draft).some((name) => query.has(name))) write(draft)
      changeQuery(inAddress(shownSheet()))
    }
    // If the address comes from this page itself, it may be older than the typed text.
    else if (sent === ours.current) write(draft)
    else openSheet({ sql: sent, ...draft }, ours.current !== undefined)
    ours.current = sent === '' ? withoutSecrets(shownSheet().sql) : sent
    text.value = shownSheet().sql
  }, [sent, db, dry, given])
  // Typed text belongs to the sheet that is shown, and is written at once: in the next frame it may be another one.
  useLayoutEffect(
    () =>
      effect(() => {
        const sql = text.value
        untracked(() => {
          if (sql !== shownSheet().sql) write({ sql })
        })
      }),
    [],
  )
  useLayoutEffect(() => sheetRuns.keepOnly(sheets.value.map(({ id }) => id)), [sheets.value])

  const show = (draft: Draft & Partial<Sheet>) => {
    if (draft.id !== undefined) chosen.value = draft.id
    savingError.value = undefined
    ours.current = withoutSecrets(draft.sql)
    text.value = draft.sql
    changeQuery({ ...inAddress(draft), view: undefined, ...asItComes })
  }

  /** Shows a statement that is not in the address. */
  const open = (draft: Draft, isStep = false) => {
    openSheet(draft, isStep)
    show(shownSheet())
  }

  /** Changes how the shown statement runs. */
  const set = (change: Partial<Draft>) => {
    write(change)
    changeQuery(change)
  }
  const give = (next: Record<string, Given>) => {
    secrets.value = { ...secrets.value, [chosen.value]: secretsIn(next) }
    set({ given: keptGiven(givenText(next)) })
  }

  const asked = parameters.map((name) => ({ name, ...sentAs(values[name] ?? { text: '' }) }))
  const params: Record<string, Value> = Object.fromEntries(asked.map(({ name, value }) => [name, value]))
  const wrongly = asked.find(({ problem }) => problem !== undefined)
  const wrong = wrongly && `The parameter :${wrongly.name}: ${wrongly.problem ?? ''}.`
  const isMasked = shownSheet().isMasked === true && text.value.includes(mask)
  const unfit = wrong ?? (isMasked ? notKept : undefined)

  // Blanks before the statement are sent: the place of an error is counted from the beginning of the text.
  const sql = text.value.trimEnd()
  const isFull = sheetRuns.isFull && !running.isRunning
  const hindrance =
    (sql === '' ? 'Write a statement first.' : unfit) ??
    (isFull ? `${runsMax} statements run. Cancel one, or wait until it ends.` : undefined)
  const statement = { query: sql, db, at, dryRun: isDryRun, ...(parameters.length > 0 && { params }) }

  const runText = async () => {
    if (hindrance !== undefined) return
    held.value = running.isWritingOther(statement) ? running : undefined
    if (held.value || running.isTwice(statement)) return
    savingError.value = undefined
    // The filter and the order of another statement do not apply to this one.
    const arrangement = withoutSecrets(text.value) === sent ? {} : { filter: undefined, sort: undefined }
    ours.current = withoutSecrets(text.value)
    const draft = { sql: text.value, db, dry, given }
    changeQuery({ ...inAddress(draft), view: view === 'past' ? undefined : view, ...arrangement }, { replace: false })
    write(draft)
    const began = performance.now()
    const ended = await running.run(statement)
    note({ sql, db, at: new Date().toISOString(), ended, ms: Math.round(performance.now() - began) })
    sheetRuns.trim()
  }

  const store = outcome.type === 'table' ? outcome.store : undefined
  const isWhole = outcome.type === 'table' && outcome.isWhole
  const isPlanned = outcome.type === 'table' && outcome.isDryRun
  const { arranged, isArranging } = useArranged(isPlanned ? undefined : store, isWhole, { filter, by, descending })
  const isRunning = running.isRunning
  return (
    <div class="query">
      <h1 class="hidden">Query</h1>
      <SheetList
        show={show}
        add={() => {
          if (text.value.trim() === '') return
          open({ sql: '', db })
        }}
      />
      <div class="tools">
        {isRunning ? (
          <button type="button" class="danger" onClick={firstClick(() => running.cancel())}>
            <Icon name="stop" /> Cancel
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            disabled={hindrance !== undefined}
            onClick={firstClick(() => void runText())}
            title={hindrance ?? commandText('Enter')}
          >
            <Icon name="run" /> Run
          </button>
        )}
        <DatabaseChoice value={db} at={at} choose={(name) => set({ db: name })} />
        <label class="inline" title="Shows the events that a statement which writes would record">
          <input
            type="checkbox"
            checked={isDryRun}
            onChange={({ currentTarget }) => set({ dry: currentTarget.checked ? '1' : undefined })}
          />
          <span>Dry run</span>
        </label>
        <Downloads asked={{ query: text.value, db, at, params, isDryRun }} wrong={unfit} answer={running.wholeAnswerOf(statement)} />
      </div>
      <Editor text={text} sheet={chosen.value} onRun={() => void runText()} names={names.value.value ?? noNames} db={db} fault={fault} />
      {isMasked && <NotKept sql={text.value} isMeant={() => write({ isMasked: false })} />}
      {parameters.length > 0 && <ParameterFields names={parameters} given={values} change={give} />}
      {held.value === running && isRunning && (
        <p class="notice" role="alert">
          The statement before still runs, and may change something. Cancel it first, or wait until it ends.
        </p>
      )}
      {savingError.value && <Refusal error={savingError.value} />}
      <NoAnswer outcome={outcome} />
      <div class="answer">
        <div class="tools">
          <Status outcome={outcome} isArranging={isArranging} />
          {store && !isPlanned && (
            <label class="inline">
              <span>Filter</span>
              <input type="search" value={filter} onInput={({ currentTarget }) => changeQuery({ filter: currentTarget.value })} />
            </label>
          )}
        </div>
        {outcome.type === 'table' && outcome.at !== at && (
          <p class="notice" role="status">
            {outcome.at === undefined ? 'These rows were the newest when the query ran.' : `These rows are as of ${outcome.at}.`} Run it
            again for {at === undefined ? 'the newest' : `those as of ${at}`}.
          </p>
        )}
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
            <PastList choose={(sql, of) => open({ sql, db: of, ...(isDryRun && { dry }) }, true)} />
          ) : view === 'plan' && wrong !== undefined ? (
            <Empty title="No plan yet">{wrong}</Empty>
          ) : view === 'plan' ? (
            <Plan sql={text.value} db={db} at={at} params={params} />
          ) : store === undefined ? (
            outcome.type === 'none' ? (
              <Empty title="Ask anything">Tables, models, history and events are all here. Names are proposed as you type.</Empty>
            ) : outcome.type === 'cancelled' && outcome.mayBeDone ? (
              <Empty title="Not waiting">The statement may have been carried out. Look before you run it again.</Empty>
            ) : outcome.type === 'cancelled' ? (
              <Empty title="Cancelled">The statement was cancelled before its first row came. Run asks again.</Empty>
            ) : outcome.type === 'ok' ? (
              <Empty title="Done">This statement answers no rows.</Empty>
            ) : (
              outcome.type === 'running' && <Busy what="Waiting for the first rows" />
            )
          ) : isPlanned ? (
            <PlannedEvents events={plannedIn(store)} />
          ) : (view === 'columns' || view === 'chart') && store.filter !== filter ? (
            <Busy what="Filtering" />
          ) : view === 'columns' && filter !== '' ? (
            <FittingColumns store={store} version={arranged} />
          ) : view === 'columns' ? (
            <Columns summaries={running.columnSummaries()} rows={store.total} />
          ) : view === 'chart' ? (
            outcome.type === 'table' && outcome.isWhole ? (
              <Chart
                store={store}
                version={outcome.version + (filter === '' && by === undefined ? 0 : arranged)}
                summaries={running.columnSummaries()}
              />
            ) : (
              <Busy what="Rows are still coming" />
            )
          ) : (
            <Grid
              store={store}
              version={(outcome.type === 'table' ? outcome.version : 0) + arranged}
              sort={{ by, descending }}
              onSort={(column) => changeQuery({ sort: sortText(column, by === column && !descending) })}
              label="Rows of the answer"
            />
          )}
        </Tabs>
      </div>
    </div>
  )
}
