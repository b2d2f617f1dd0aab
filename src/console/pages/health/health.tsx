/**
 * Room: the page of the service's health and the runs of jobs. It imports only console/api, console/basics, console/components and
 * console/lists.
 */

import { useSignal } from '@preact/signals'
import { json, text } from '../../api/request.js'
import { useLoaded, useRepeated } from '../../basics/loading.js'
import { changeQuery, place } from '../../basics/place.js'
import { Listing } from '../../lists/listing.js'
import { Busy, Refusal } from '../../components/notice.js'
import { Shares } from '../../lists/shares.js'
import { TimeLine } from '../../components/time-line.js'
import { bytesText, countText } from '../../components/value.js'
import { JobRuns } from '../../lists/job-runs.js'

type Part = { ready: boolean; reason?: string }
/** How a node stands to the log that it shares with others. */
type SharedLog = { state: string; lag: { events: number } }
type Readiness = {
  rest: Part
  sql: Part & { state: 'following' | 'building' | 'stopped'; position: number; lag: number; other_rows: number }
  reads: Part
  log: { position: number | null; writable: boolean; reason?: string; shared?: SharedLog }
  warnings?: string[]
}
type Disk = { bytes: Record<string, number>; total: number; free: number }
type Metric = { name: string; labels: string; value: number }

const lookEveryMs = 5_000

/** Reads samples from Prometheus's text format. */
const metricsIn = (written: string): Metric[] =>
  [...written.matchAll(/^(\w+)(?:\{([^}]*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels,
    value: Number(value),
  }))

const load = async (signal: AbortSignal) => {
  const [ready, disk, metrics] = await Promise.all([
    // The answer "not ready" is also a valid answer.
    json<Readiness>('ready', { signal, alsoAnswers: 503 }),
    json<Disk>('log/storage', { signal }),
    text('metrics', { signal, headers: { Accept: 'text/plain' } }),
  ])
  return { ready, disk, metrics: metricsIn(metrics) }
}

/** A part that is not ready yet is not shown as a fault. */
const State = ({ name, part, isStarting = false }: { name: string; part: Part; isStarting?: boolean }) => (
  <li class="card">
    <strong>{name}</strong>
    <span class={part.ready ? 'good' : isStarting ? 'quiet' : 'bad'}>{part.ready ? 'ready' : isStarting ? 'starting…' : 'not ready'}</span>
    {part.reason !== undefined && <span class="quiet">{part.reason}</span>}
  </li>
)

const Shared = ({ of: { state, lag } }: { of: SharedLog }) => (
  <li class="card">
    <strong>Shared log</strong>
    <span class={state === 'following' ? 'good' : 'bad'}>{state.replace('_', ' ')}</span>
    <span class="quiet">{lag.events === 0 ? 'with the others' : `${countText(lag.events)} events behind`}</span>
  </li>
)

const standOf = ({ ready, state, lag }: Readiness['sql']): string => {
  if (!ready) return state === 'building' ? 'SQL is starting' : 'SQL is not ready'
  return lag === 0 ? 'SQL is there' : `SQL is ${countText(lag)} events behind`
}

/** The number of samples that are kept: some hours. */
const keptMax = 2_000

type HealthSample = { seconds: number; memory: number; lag: number; requests: number }

const sumOf = (metrics: readonly Metric[], name: string): number =>
  metrics.filter((metric) => metric.name === name).reduce((sum, { value }) => sum + value, 0)

/** Requests per second between two samples; a single sample gives none. */
const rateOf = (looks: readonly HealthSample[]): (number | null)[] =>
  looks.map(({ requests, seconds }, i) => {
    const before = looks[i - 1]
    return before === undefined || seconds === before.seconds
      ? null
      : Math.max(0, (requests - before.requests) / (seconds - before.seconds))
  })

const Lines = ({ looks }: { looks: readonly HealthSample[] }) => {
  const seconds = looks.map((look) => look.seconds)
  return (
    <div class="time-lines">
      <TimeLine label="Memory" series={{ seconds, values: looks.map(({ memory }) => memory) }} text={bytesText} />
      <TimeLine
        label="Events behind"
        series={{ seconds, values: looks.map(({ lag }) => lag) }}
        text={(value) => countText(Math.round(value))}
      />
      <TimeLine
        label="Requests a second"
        series={{ seconds, values: rateOf(looks) }}
        text={(value) => String(Number(value.toPrecision(2)))}
      />
    </div>
  )
}

/** Waiting and running work, and its processes. */
const Work = ({ metrics, isSqlReady }: { metrics: readonly Metric[]; isSqlReady: boolean }) => {
  const count = (name: string) => sumOf(metrics, `mindledger_${name}`)
  const waiting = [count('log_queued_commands'), count('sql_waiting_queries'), count('trainings_waiting')] as const
  const running = [count('sql_running_queries'), count('trainings_running')] as const
  const sqlMemory = count('analytics_resident_memory_bytes')
  const restarts = count('analytics_restarts_total')
  return (
    <>
      <li class="card">
        <strong>Queue</strong>
        <span class="count">{countText(waiting.reduce((sum, one) => sum + one, 0))}</span>
        <span class="quiet">
          wait: {countText(waiting[0])} commands, {countText(waiting[1])} queries, {countText(waiting[2])} trainings
        </span>
      </li>
      <li class="card">
        <strong>Under way</strong>
        <span class="count">{countText(running.reduce((sum, one) => sum + one, 0))}</span>
        <span class="quiet">
          {countText(running[0])} queries, {countText(running[1])} trainings
        </span>
      </li>
      <li class="card">
        <strong>Server process</strong>
        <span class="count">{bytesText(sumOf(metrics, 'process_resident_memory_bytes'))}</span>
        <span class="quiet">of memory</span>
      </li>
      <li class="card">
        <strong>SQL process</strong>
        {sqlMemory > 0 && <span class="count">{bytesText(sqlMemory)}</span>}
        <span class="quiet">
          {sqlMemory > 0 ? 'of memory' : isSqlReady ? 'waiting for its first numbers…' : 'waiting until it has started…'}
          {restarts === 0 ? '' : `, started again ${countText(restarts)} times`}
        </span>
      </li>
    </>
  )
}

/** The limits that requests have exceeded since the start. */
const LimitsHit = ({ metrics }: { metrics: readonly Metric[] }) => {
  const hit = metrics
    .filter(({ name }) => name === 'mindledger_limits_hit_total')
    .map(({ labels, value }) => ({ name: /limit="(\w+)"/.exec(labels)?.[1] ?? labels, value, text: countText(value) }))
    .toSorted((a, b) => b.value - a.value)
  return (
    <section aria-label="Limits that were hit">
      <h2>Limits that were hit</h2>
      {hit.length === 0 ? <p class="quiet">None since the start.</p> : <Shares label="Refusals by limit" shares={hit} />}
    </section>
  )
}

type Setting = { name: string; value: string | null; is_default: boolean; about: string }

const SettingsList = () => {
  const { loaded, reload } = useLoaded((signal) => json<Setting[]>('settings', { signal }), [])
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return (
    <dl class="fields">
      {value.map(({ name, value: set, is_default, about }) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            {set === null ? <span class="null">not set</span> : <code>{set}</code>} {!is_default && <strong>set by the environment</strong>}
            <p class="quiet">{about}</p>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The value of each setting, loaded when the user opens it, or an address where it is open. */
const Settings = () => {
  const isOpen = place.value.query.get('settings') === '1'
  const toggled = (open: boolean) => open !== isOpen && changeQuery({ settings: open ? '1' : undefined })
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => toggled(currentTarget.open)}>
      <summary>Settings</summary>
      {isOpen && <SettingsList />}
    </details>
  )
}

type Loaded = Awaited<ReturnType<typeof load>>

/** The readiness of all parts, and their use of resources. */
const Parts = ({ of, looks, everyMs }: { of: Loaded; looks: readonly HealthSample[]; everyMs: number | undefined }) => {
  const { ready, disk, metrics } = of
  return (
    <>
      {(ready.warnings ?? []).map((warning) => (
        <p key={warning} class="notice">
          {warning}
        </p>
      ))}
      <ul class="cards">
        <State name="REST" part={ready.rest} />
        <State name="SQL" part={ready.sql} isStarting={ready.sql.state === 'building'} />
        <State name="Log" part={{ ready: ready.log.writable, ...(ready.log.reason !== undefined && { reason: ready.log.reason }) }} />
        <li class="card">
          <strong>Head</strong>
          <span class="count">{countText(ready.log.position ?? 0)}</span>
          <span class="quiet">{standOf(ready.sql)}</span>
        </li>
        {ready.log.shared && <Shared of={ready.log.shared} />}
        <li class="card">
          <strong>Disk</strong>
          <span class="count">{bytesText(disk.total)}</span>
          <span class="quiet">{bytesText(disk.free)} free</span>
        </li>
        <Work metrics={metrics} isSqlReady={ready.sql.ready} />
      </ul>
      <Lines looks={looks} />
      {ready.sql.ready ? (
        <JobRuns everyMs={everyMs} />
      ) : (
        <section aria-label="Runs of jobs">
          <h2>Runs of jobs</h2>
          <Busy what="Waiting for SQL" />
        </section>
      )}
      <LimitsHit metrics={metrics} />
      <h2>Disk by kind</h2>
      <dl class="fields">
        {Object.entries(disk.bytes)
          .filter(([, bytes]) => bytes > 0)
          .map(([kind, bytes]) => (
            <div key={kind}>
              <dt>{kind.replaceAll('_', ' ')}</dt>
              <dd>{bytesText(bytes)}</dd>
            </div>
          ))}
      </dl>
      <h2>How it is set</h2>
      <Settings />
      <h2>Metrics</h2>
      <Listing
        label="Metrics"
        keyOf={({ name, labels }) => `${name} ${labels}`}
        columns={[
          { title: 'Name', of: ({ name }) => name.replace('mindledger_', '') },
          { title: 'Of', of: ({ labels }) => labels },
          { title: 'Value', isRight: true, of: ({ value: count }) => countText(count) },
        ]}
        rows={metrics.filter(({ name }) => name.startsWith('mindledger_') && !name.endsWith('_bucket'))}
      />
    </>
  )
}

/** How the service is, looked at again and again. The title stays in its place, so that it keeps the focus when the numbers come. */
export default () => {
  const looks = useSignal<readonly HealthSample[]>([])
  const { loaded, reload } = useLoaded(async (signal) => {
    const found = await load(signal)
    const look = {
      seconds: Date.now() / 1_000,
      memory: sumOf(found.metrics, 'process_resident_memory_bytes') + sumOf(found.metrics, 'mindledger_analytics_resident_memory_bytes'),
      lag: found.ready.sql.lag,
      requests: sumOf(found.metrics, 'mindledger_http_request_duration_seconds_count'),
    }
    looks.value = [...looks.peek(), look].slice(-keptMax)
    return found
  }, [])
  const isPaused = useSignal(false)
  const everyMs = isPaused.value ? undefined : lookEveryMs
  useRepeated(loaded, reload, everyMs)
  const pause = () => {
    isPaused.value = !isPaused.peek()
    if (!isPaused.peek()) reload()
  }
  const { value, error } = loaded.value
  return (
    <>
      <div class="title">
        <h1>Health</h1>
        {value && (
          <button type="button" aria-pressed={isPaused.value} onClick={pause}>
            Pause
          </button>
        )}
      </div>
      {error && <Refusal error={error} again={reload} />}
      {value ? <Parts of={value} looks={looks.value} everyMs={everyMs} /> : !error && <Busy what="Waiting for the first numbers" />}
    </>
  )
}
