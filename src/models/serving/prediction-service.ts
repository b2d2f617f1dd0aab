/**
 * Room: predictions of models, their records, and their true values. It imports only events, basics, catalogue, log, commands, files and
 * models.
 */

import type { ModelVersion } from '../../../events/model.js'
import { Problem, wrong } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'
import type { Execution } from '../../commands/ledger.js'
import { versionOf } from '../../commands/model.js'
import type { Log, Resource, Origin } from '../../log/contract/log.js'
import { answerRows, type AnswerRow, type InputRow } from './predict-rows.js'
import type { ModelStore } from './model-store.js'
import type { PredictionRecorder } from './prediction-recorder.js'
import { artefactOfPrediction } from './prediction-provenance.js'
import type { ProgressOf } from '../training/progress.js'
import { modelNamed } from './model-by-name.js'

export type PredictParams = { version?: number; confidence?: unknown; explain?: unknown }

/**
 * Reads the options of a request for predictions. The confidence level and the kind of explanation are checked where they are used.
 *
 * @param known the known option names
 * @throws Problem with an unknown option and the most similar known one
 * @example readPredictParams({ version: 2, confidence: 0.5 }, ['version', 'confidence']) // { version: 2, confidence: 0.5 }
 */
export const readPredictParams = (params: Readonly<Record<string, unknown>>, known: readonly string[]): PredictParams => {
  const unknown = Object.keys(params).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw wrong(`params: there is no "${unknown}"`, `Did you mean "${nearest(unknown, known)}"? There are version, confidence and explain.`)
  const { version, confidence, explain } = params
  if (version === undefined || version === null) return { confidence, explain }
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1)
    throw wrong(`params.version: ${JSON.stringify(version)} is not the number of a version`, 'Versions are 1, 2, 3 …')
  return { version, confidence, explain }
}

/** The version that answers. @throws Problem when there is none, or path and `params` name different ones */
const versionAsked = (
  { model, version, named }: { model: Resource<'model'>; version: ModelVersion; named: number | undefined },
  asked: number | undefined,
): ModelVersion => {
  if (asked === undefined || asked === named) return version
  if (named !== undefined)
    throw wrong(`params.version is ${asked}, and the path names version ${named}`, 'Name the version in one of the two places.')
  return versionOf(model.state, asked)
}

const notReady = (name: string, { version, status, error }: ModelVersion, progress: ReturnType<ProgressOf>): Problem =>
  new Problem(
    'not_ready',
    'Model is not ready',
    `version ${version} of ${name} has status ${status}${error === null ? '' : `: ${error}`}`,
    {
      hint: status === 'error' ? 'RETRAIN it with a query that can be learned from.' : 'Wait until its status is complete.',
      model_status: status,
      ...(progress && { progress }),
    },
  )

/** Rows as they are recorded: the input and the answer. */
const servedRows = (rows: readonly InputRow[], answers: readonly AnswerRow[], { target: { name } }: { target: { name: string } }) =>
  answers.map((answer, i) => ({
    input: rows[i] ?? {},
    output: {
      value: answer[name],
      confidence: answer[`${name}_confidence`],
      min: answer[`${name}_min`],
      max: answer[`${name}_max`],
    },
  }))

/** A request for predictions, and its client. `model` may include a version: `rent.2`. */
export type PredictRequest = { project: string; model: string; rows: readonly InputRow[]; params: PredictParams }

/** The answers, in the order of the rows, and the position at which they are recorded; undefined if the model's recording is off. */
export type PredictResult = { answers: AnswerRow[]; position: number | undefined }

export type PredictServices = {
  log: Log
  store: ModelStore
  recorder: PredictionRecorder
  progressOf: ProgressOf
  /** Called with the time that computing the rows of a request took. */
  onPredicted?: (seconds: number) => void
}

/** Predicts for all clients: every answer is recorded before the client gets it, unless the model's recording is off. */
export class PredictionService {
  constructor(private readonly services: PredictServices) {}

  /** Answers a request that was recorded before: it predicts again with the same version, because unencrypted answers are not kept. */
  async again(position: number, { rows, params }: Pick<PredictRequest, 'rows' | 'params'>): Promise<PredictResult> {
    const { log, store } = this.services
    const artefact = await artefactOfPrediction(log, position)
    if (artefact === undefined) throw new TypeError(`position ${position} is no prediction of a version`)
    return { answers: await answerRows(await store.predictor(artefact), rows, params), position }
  }

  /**
   * The predictions of some rows.
   *
   * @example const { answers, position } = await predicting.predict({ project: 'shop', model: 'rent', rows, params: {} }, origin)
   * @throws Problem not_found, not_ready, or one that names the row
   */
  async predict(
    asked: PredictRequest,
    origin: Origin,
    { idempotency }: Execution = {},
  ): Promise<PredictResult & { version: number; target: string }> {
    const { log, recorder, onPredicted } = this.services
    const { position: readAt } = await log.head()
    const { model, version, predictor } = await this.#versionFor(asked)
    const { rows, params } = asked
    const began = performance.now()
    const answers = await answerRows(predictor, rows, params)
    onPredicted?.((performance.now() - began) / 1000)
    const by = { version: version.version, target: predictor.target.name }
    if (rows.length === 0 || model.state.recording !== 'all') return { answers, position: undefined, ...by }
    const served = { model: model.stream, version: version.version, origin, rows: servedRows(rows, answers, predictor), readAt }
    if (!idempotency) return { answers, position: await recorder.served(served), ...by }
    const { positions, repeated } = await recorder.servedOnce(served, idempotency)
    const [position = 0] = positions
    return { ...(repeated ? await this.again(position, asked) : { answers, position }), ...by }
  }

  /** The version that answers, with its model loaded. @throws Problem when it is not trained */
  async #versionFor({ project, model: ref, params }: PredictRequest) {
    const { log, store, progressOf } = this.services
    const called = await modelNamed(log, project, ref)
    const version = versionAsked(called, params.version)
    const { model } = called
    if (!version.result) throw notReady(model.state.name, version, progressOf(model.stream, version.version))
    return { model, version, predictor: await store.predictor(version.result.artefact) }
  }
}
