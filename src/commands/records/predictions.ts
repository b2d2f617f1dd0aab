/** Room: decisions on events that belong to no resource. It imports only events, basics, log/contract and commands/rules. */

import type { Command } from '@event-driven-io/emmett'
import { predictionsStream, type OutcomesReported, type PredictionsServed } from '../../../events/records/predictions.js'
import { notFound } from '../../basics/errors.js'
import type { NewEvent } from '../../log/contract/log.js'
import { byStream, type Resource } from '../../log/contract/lookups.js'
import type { Decisions } from '../rules/decider.js'

/** An answered request: its id, if it has one, and its number of rows. */
export type AnsweredRequest = { request: string | null; rows: number }
/** The answers of a model's version. `payload` is the hash of the sealed rows, null if they are only counted. */
type VersionAnswers = Omit<PredictionsServed, 'rows' | 'requests'> & { requests: AnsweredRequest[] }
/** The true values of predicted rows. `name` is the model's name, `payload` the hash of the sealed values. */
type Truths = Omit<OutcomesReported, 'rows'> & { name: string }

export type PredictionsCommand = Command<'RecordPredictions', VersionAnswers> | Command<'ReportOutcomes', Truths>

const reads = ({ type, data }: PredictionsCommand) => (type === 'ReportOutcomes' ? { model: byStream('model', data.model) } : {})

type Facts = { model?: Resource<'model'> | undefined }

/** An answer is recorded even if the model was deleted meanwhile, because a client gets it. */
const recorded = ({ model, version, requests, payload, statement, read_at }: VersionAnswers): PredictionsServed => ({
  model,
  version,
  rows: requests.reduce((sum, { rows }) => sum + rows, 0),
  requests: requests.flatMap(({ request, rows }) => (request === null ? [] : [{ request, rows }])),
  payload,
  statement,
  read_at,
})

const reported = ({ model, predictions, payload }: Truths): OutcomesReported => ({
  model,
  rows: predictions.reduce((sum, { rows }) => sum + rows.length, 0),
  predictions,
  payload,
})

const decide = ({ type, data }: PredictionsCommand, { model }: Facts): NewEvent[] => {
  const stream = predictionsStream(data.model)
  if (type === 'RecordPredictions') return [{ stream, event: { type: 'PredictionsServed', data: recorded(data) } }]
  if (!model) throw notFound('model', data.name)
  return [{ stream, event: { type: 'OutcomesReported', data: reported(data) } }]
}

/** Decides the commands of predictions. Their stream is separate from the model's and has no state. */
export const predictionsDecisions: Decisions<PredictionsCommand, Facts> = {
  commands: { RecordPredictions: 'record', ReportOutcomes: true },
  secrets: [],
  reads,
  decide,
}
