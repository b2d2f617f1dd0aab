import { useEffect } from 'preact/hooks'
import { json, request } from '../../api/request.js'
import { useLoaded } from '../../basics/loading.js'
import { Busy, Refusal } from '../../parts/notice.js'
import { bytesText, countText } from '../../parts/value.js'

type Part = { ready: boolean; reason?: string }
type Readiness = {
  rest: Part
  sql: Part & { position: number; lag: number; other_rows: number }
  reads: Part
  log: { position: number | null; writable: boolean; reason?: string }
  warnings?: string[]
}
type Disk = { bytes: Record<string, number>; total: number; free: number }
type Metric = { name: string; labels: string; value: number }

const lookEveryMs = 5_000

/** The samples of Prometheus's text format. */
const metricsIn = (text: string): Metric[] =>
  [...text.matchAll(/^(\w+)(?:\{([^}]*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({ name, labels, value: Number(value) }))

const load = async (signal: AbortSignal) => {
  const [ready, disk, metrics] = await Promise.all([
    // Not ready is an answer, too.
    json<Readiness>('ready', { signal }),
    json<Disk>('log/storage', { signal }),
    request('metrics', { signal, headers: { Accept: 'text/plain' } }).then((response) => response.text()),
  ])
  return { ready, disk, metrics: metricsIn(metrics) }
}

const State = ({ name, part }: { name: string; part: Part }) => (
  <li class="card">
    <strong>{name}</strong>
    <span class={part.ready ? 'good' : 'bad'}>{part.ready ? 'ready' : 'not ready'}</span>
    {part.reason !== undefined && <span class="quiet">{part.reason}</span>}
  </li>
)

/** Whether everything works, and what it uses. */
export default () => {
  const { loaded, reload } = useLoaded(load, [])
  useEffect(() => {
    const timer = setInterval(reload, lookEveryMs)
    return () => clearInterval(timer)
  }, [])
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const { ready, disk, metrics } = value
  return (
    <>
      <h1>Health</h1>
      {(ready.warnings ?? []).map((warning) => (
        <p key={warning} class="notice">
          {warning}
        </p>
      ))}
      <ul class="cards">
        <State name="REST" part={ready.rest} />
        <State name="SQL" part={ready.sql} />
        <State name="Log" part={{ ready: ready.log.writable, ...(ready.log.reason !== undefined && { reason: ready.log.reason }) }} />
        <li class="card">
          <strong>Head</strong>
          <span class="count">{countText(ready.log.position ?? 0)}</span>
          <span class="quiet">SQL is {ready.sql.lag === 0 ? 'there' : `${countText(ready.sql.lag)} events behind`}</span>
        </li>
        <li class="card">
          <strong>Disk</strong>
          <span class="count">{bytesText(disk.total)}</span>
          <span class="quiet">{bytesText(disk.free)} free</span>
        </li>
      </ul>
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
      <h2>Metrics</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Metrics">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Of</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {metrics
              .filter(({ name }) => name.startsWith('mindledger_') && !name.endsWith('_bucket'))
              .map(({ name, labels, value: count }) => (
                <tr key={`${name} ${labels}`}>
                  <th scope="row">{name.replace('mindledger_', '')}</th>
                  <td>{labels}</td>
                  <td class="right">{countText(count)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
