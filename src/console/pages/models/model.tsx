import { useSignal } from '@preact/signals'
import { quoted, run } from '../../api/sql.js'
import { useIsShown, useLoaded, useSending } from '../../basics/loading.js'
import type { PageProps } from '../../basics/page-props.js'
import { changeQuery, go, hrefOf, momentShown, place } from '../../basics/place.js'
import { pathOfResource } from '../../basics/kinds.js'
import { Busy, Refusal } from '../../components/notice.js'
import { tabAmong, Tabs } from '../../components/tabs.js'
import { figure } from '../../components/value.js'
import { forecastQuery, joinedQuery } from './asked-in-sql.js'
import { Attempt } from './attempt.js'
import { Card } from './card.js'
import { Dependence } from './dependence.js'
import { Forecast } from './forecast.js'
import { Progress } from './progress.js'
import { isUnderWay, loadModel, loadPlan, loadReport, type ModelName, type ModelRecord } from './reports.js'
import { Since } from './accuracy-since.js'
import { Versions } from './versions.js'
import './style.css'

/** Trains a new version with the settings of the last one. */
const Retrain = ({ of, begun }: { of: ModelName; begun: () => void }) => {
  const { send, isSending, error } = useSending()
  const isShown = useIsShown()
  const retrain = () =>
    send(async () => {
      await run({ query: `RETRAIN ${quoted(of.project)}.${quoted(of.model)}` })
      if (!isShown()) return
      changeQuery({ version: undefined, tab: 'versions' })
      begun()
    })
  return (
    <>
      <button type="button" disabled={isSending} onClick={() => void retrain()}>
        Retrain
      </button>
      {error && <Refusal error={error} />}
    </>
  )
}

/** Opens the query page with the forecasts of a series model, or with the rows that another model learned from. */
const QueryIt = ({ of, record }: { of: ModelName; record: ModelRecord }) => {
  const isOpening = useSignal(false)
  const isShown = useIsShown()
  const isOfSeries = record.engine === 'forecast' && record.status === 'complete'
  const open = async () => {
    isOpening.value = true
    const plan = isOfSeries ? await loadPlan(of, record.version, momentShown()).catch(() => undefined) : undefined
    if (!isShown()) return
    if (plan) go('/query', { sql: forecastQuery(of, record, plan) })
    else go('/query', { sql: joinedQuery(of, record) })
  }
  return (
    <button type="button" disabled={isOpening.value} onClick={() => void open()}>
      Query it
    </button>
  )
}

/** The details of a version whose training has ended. */
const Shown = ({ of, record, reload }: { of: ModelName; record: ModelRecord; reload: () => void }) => {
  const at = momentShown()
  const { loaded, reload: readAgain } = useLoaded(
    (signal) => loadReport(of, record.version, at, signal),
    [of.project, of.model, record.version, at],
  )
  const { value: report, error } = loaded.value
  const isOfSeries = report !== undefined && report.series.length > 0
  const tabs = [
    { id: 'card', name: 'Card' },
    ...(isOfSeries
      ? [{ id: 'forecast', name: 'Forecast' }]
      : [
          { id: 'try', name: 'Try it' },
          { id: 'dependence', name: 'Dependence' },
        ]),
    { id: 'since', name: 'Since then' },
    { id: 'versions', name: 'Versions' },
  ]
  const tab = tabAmong(tabs, place.value.query.get('tab'))
  return (
    <Tabs label={`About ${of.model}`} tabs={tabs} chosen={tab} choose={(id) => changeQuery({ tab: id === 'card' ? undefined : id })}>
      {error && <Refusal error={error} again={readAgain} />}
      {!report && !error && <Busy />}
      {report && tab === 'card' && <Card report={report} target={record.predict} />}
      {report && tab === 'try' && <Attempt of={of} record={record} report={report} />}
      {report && tab === 'dependence' && <Dependence of={of} record={record} report={report} />}
      {report && tab === 'since' && <Since of={of} record={record} report={report} />}
      {report && tab === 'forecast' && <Forecast of={of} record={record} report={report} />}
      {tab === 'versions' && <Versions of={of} record={record} changed={reload} />}
    </Tabs>
  )
}

/** A model: its accuracy, its predictions, and its versions. */
export default ({ params: { project = '', name = '' } }: PageProps) => {
  const at = momentShown()
  const asked = place.value.query.get('version')
  const version = asked === null ? undefined : Number(asked)
  const of = { project, model: name }
  const { loaded, reload } = useLoaded((signal) => loadModel(of, version, at, signal), [project, name, version, at])
  const { value: record, error } = loaded.value
  return (
    <>
      <div class="title">
        <div>
          <p class="crumbs">
            <a href={hrefOf('/models')}>Models</a> · {project}
          </p>
          <h1>{name}</h1>
          {record && (
            <p class="quiet">
              predicts {record.predict} · version {record.version}
              {record.active && record.status === 'complete' ? ', active' : ''} · {record.engine}
              {record.accuracy === null ? '' : ` · accuracy ${figure(record.accuracy)}`}
            </p>
          )}
        </div>
        <div class="row">
          {record && at === undefined && <Retrain of={of} begun={reload} />}
          <a class="button" href={hrefOf(pathOfResource('model', project, name))}>
            Record and history
          </a>
          {record && <QueryIt of={of} record={record} />}
        </div>
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!record && !error && <Busy />}
      {record?.error && (
        <div class="notice bad" role="alert">
          <p>The training ended without a model: {record.error}</p>
        </div>
      )}
      {record && at === undefined && isUnderWay(record.status) && (
        <Progress
          of={of}
          version={record.version}
          ended={(hasFailed) => {
            // The active version in the place of one that failed would look like its success.
            changeQuery({ version: hasFailed ? String(record.version) : undefined, tab: undefined })
            reload()
          }}
        />
      )}
      {record?.status === 'complete' && <Shown key={record.version} of={of} record={record} reload={reload} />}
      {record?.status === 'error' && <Versions of={of} record={record} changed={reload} />}
    </>
  )
}
