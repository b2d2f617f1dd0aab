import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { quoted, run, select, type Value } from '../../api/sql.js'
import { useFocusWhen } from '../../basics/focus.js'
import { useIsShown, useLoaded, useRepeated, useSending } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, pathOf, place } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { Listing, type ListColumn } from '../../lists/listing.js'
import { useFirst } from '../../lists/parts.js'
import { PlanButtons, PlannedEvents } from '../../lists/planned-events.js'
import { ShowMore } from '../../lists/show-more.js'
import { figure } from '../../components/value.js'
import { isUnderWay, loadReport, loadVersions, type ModelName, type ModelRecord, type ListedVersion } from './reports.js'

/** The columns whose shares are compared at once. */
const columnsMax = 40

/** The metrics of two versions, side by side. */
const Comparison = ({ of, pair: [first, second] }: { of: ModelName; pair: [number, number] }) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded(
    (signal) => Promise.all([loadReport(of, first, at, signal), loadReport(of, second, at, signal)]),
    [of.project, of.model, first, second, at],
  )
  const { value, error } = loaded.value
  const columns = [...new Set((value ?? []).flatMap(({ importances }) => importances.map(({ column }) => column)))]
  const { here, more } = useFirst(columns, columnsMax)
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const names = [...new Set(value.flatMap(({ metrics }) => metrics.map(({ metric }) => metric)))]
  const metricOf = (i: 0 | 1, name: string) => value[i].metrics.find(({ metric }) => metric === name)?.value ?? null
  const shareOf = (i: 0 | 1, name: string) => value[i].importances.find(({ column }) => column === name)?.importance ?? null
  const Rows = ({ of: rows, number }: { of: readonly string[]; number: (i: 0 | 1, name: string) => number | null }) => (
    <>
      {rows.map((name) => {
        const [a, b] = [number(0, name), number(1, name)]
        const gap = a === null || b === null ? undefined : b - a
        return (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="right">{figure(a, gap)}</td>
            <td class="right">{figure(b, gap)}</td>
            <td class="right">{gap === undefined ? '' : `${gap > 0 ? '+' : ''}${figure(gap)}`}</td>
          </tr>
        )
      })}
    </>
  )
  return (
    <section aria-label="Comparison">
      <h2>
        Version {first} and version {second}
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="What was measured of both">
        <table class="list measured">
          <thead>
            <tr>
              <th scope="col">Measured</th>
              <th scope="col" class="right">
                {first}
              </th>
              <th scope="col" class="right">
                {second}
              </th>
              <th scope="col" class="right">
                Difference
              </th>
            </tr>
          </thead>
          <tbody>
            <Rows of={names} number={metricOf} />
          </tbody>
          {columns.length > 0 && (
            <tbody>
              <tr>
                <th scope="col" colSpan={4} class="quiet">
                  Share of what it uses
                </th>
              </tr>
              <Rows of={here} number={shareOf} />
            </tbody>
          )}
        </table>
      </div>
      <ShowMore here={here.length} {...more} />
    </section>
  )
}

type Planned = { type: string; stream: string; version: number; data: string } & Record<string, Value>

/** The events that a statement would record. */
const planOf = async (query: string, signal: AbortSignal) =>
  (await select<Planned>({ query, dryRun: true, signal })).map((event) => ({ ...event, data: JSON.parse(event.data) as Value }))

type ActivationProps = { of: ModelName; version: number; isAsked: boolean; changed: () => void; leave: () => void }

/** The events of an activation, before they are recorded. The plan takes the focus if the user asked for it here. */
const ActivationPlan = ({ of, version, isAsked, changed, leave }: ActivationProps) => {
  const query = `SET active ${quoted(of.project)}.${quoted(of.model)}.${version}`
  const { loaded, reload } = useLoaded((signal) => planOf(query, signal), [query])
  const { send, isSending, error: refused } = useSending()
  const isShown = useIsShown()
  const { value: planned, error } = loaded.value
  const group = useFocusWhen<HTMLDivElement>(planned !== undefined && isAsked)
  const activate = () =>
    send(async () => {
      await run({ query })
      if (isShown()) changeQuery({ activate: undefined })
      changed()
    })
  return (
    <div ref={group} class="notice" role="group" tabIndex={-1} aria-label={`Activate version ${version}`}>
      {error && <Refusal error={error} again={reload} />}
      {!planned && !error && <Busy />}
      {planned && (
        <>
          <p>Version {version} would answer from now on. This would be recorded:</p>
          <PlannedEvents events={planned} />
        </>
      )}
      {refused && <Refusal error={refused} />}
      <PlanButtons name={`Activate version ${version}`} isSending={isSending} carryOut={planned && activate} leave={leave} />
    </div>
  )
}

/** Whether a version can be made the active one: it learned, and another one answers. */
const canAnswer = ({ status, active }: ListedVersion): boolean => status === 'complete' && !active && momentShown() === undefined

type ActivateProps = {
  /** Whether its plan was left just now: then the button has the focus again. */
  isLeft: boolean
  plan: () => void
}

const Activate = ({ isLeft, plan }: ActivateProps) => {
  const button = useFocusWhen<HTMLButtonElement>(isLeft)
  return (
    <button ref={button} type="button" onClick={plan}>
      Activate…
    </button>
  )
}

/** The columns of the list of versions: those that say something, between a choice and what can be done. */
const columnsWith = (
  of: ModelName,
  compare: (version: ListedVersion) => ComponentChildren,
  act: (version: ListedVersion) => ComponentChildren,
): ListColumn<ListedVersion>[] => [
  { title: 'Compare', isName: false, of: compare },
  {
    title: 'Version',
    isName: true,
    of: ({ version }) => <a href={hrefOf(pathOf('models', of.project, of.model), { version: String(version) })}>{version}</a>,
  },
  {
    title: 'Status',
    isBad: ({ status }) => status === 'error',
    of: ({ active, status }) => (active && status === 'complete' ? 'active' : status),
  },
  { title: 'Accuracy', isRight: true, of: ({ accuracy }) => figure(accuracy) },
  { title: 'Engine', of: ({ engine }) => engine },
  { title: 'Rows', isRight: true, of: ({ rows }) => figure(rows) },
  { title: 'Time', isRight: true, of: ({ seconds }) => (seconds === null ? '' : `${figure(seconds)} s`) },
  { title: 'What can be done', isTitleHidden: true, of: act },
]

const lookEveryMs = 1_000

/**
 * All trainings of a model. The user can compare two of them, and choose the active version. The address has the plan of that.
 *
 * @param record the list is loaded again together with it
 * @param changed loads the record again
 */
export const Versions = ({ of, record, changed }: { of: ModelName; record: ModelRecord; changed: () => void }) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded((signal) => loadVersions(of, at, signal), [of.project, of.model, at, record])
  const { value, error } = loaded.value
  const isTraining = at === undefined && value?.some(({ status }) => isUnderWay(status)) === true
  useRepeated(loaded, reload, isTraining ? lookEveryMs : undefined)
  /** The plan that the user asked for or left here last. One of an address does not take the focus. */
  const last = useSignal<{ version: number; isLeft: boolean } | undefined>(undefined)
  const hasTrained = useRef(false)
  useEffect(() => {
    if (hasTrained.current && !isTraining) changed()
    hasTrained.current = isTraining
  }, [isTraining])
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const chosen = (place.value.query.get('compare') ?? '').split(',').filter(Boolean).map(Number)
  const choose = (version: number) => {
    const next = chosen.includes(version) ? chosen.filter((one) => one !== version) : [...chosen, version].slice(-2)
    changeQuery({ compare: next.length === 0 ? undefined : next.join(',') })
  }
  const [first, second] = chosen.toSorted((a, b) => a - b)
  const planned = value.find((one) => String(one.version) === place.value.query.get('activate') && canAnswer(one))?.version
  const left = last.value?.isLeft === true ? last.value.version : undefined
  const show = (version: number, isLeft: boolean) => {
    last.value = { version, isLeft }
    changeQuery({ activate: isLeft ? undefined : String(version) })
  }
  return (
    <>
      <Listing
        label="Versions"
        keyOf={({ version }) => version}
        columns={columnsWith(
          of,
          ({ version }) => (
            <input
              type="checkbox"
              aria-label={`Compare version ${version}`}
              checked={chosen.includes(version)}
              onChange={() => choose(version)}
            />
          ),
          (one) => (
            <>
              {canAnswer(one) && one.version !== planned && (
                <Activate isLeft={one.version === left} plan={() => show(one.version, false)} />
              )}
              {one.error !== null && <span class="quiet clipped">{one.error}</span>}
            </>
          ),
        )}
        rows={value}
      />
      {planned !== undefined && (
        <ActivationPlan
          key={planned}
          of={of}
          version={planned}
          isAsked={last.value?.isLeft === false}
          changed={changed}
          leave={() => show(planned, true)}
        />
      )}
      {first !== undefined && second !== undefined ? (
        <Comparison of={of} pair={[first, second]} />
      ) : (
        value.length > 1 && <p class="quiet">Choose two versions to compare them.</p>
      )}
    </>
  )
}
