import type { Response } from 'express'
import { z } from 'zod'
import { isObject } from '../../../events/common.js'
import type { ModelVersion } from '../../../events/model.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Ledger } from '../../commands/ledger.js'
import type { Outcome } from '../../log/contract/log.js'
import { answerAnyRows, type InputRow } from '../../models/serving/answer.js'
import type { ModelStore } from '../../models/serving/model-store.js'
import type { ProgressOf } from '../../models/training/progress.js'
import type { PredictionRecorder } from '../../models/serving/recorder.js'
import { servedBy } from '../../models/serving/served-by.js'
import { predictParams, readParams, versionAsked, type PredictParams } from '../reads/predict-params.js'
import { sendUnkept } from '../protocol/hold-back.js'
import { modelNamed } from '../reads/model-names.js'
import { executionOf, originOf } from '../protocol/origin.js'
import { param, type Route } from '../protocol/route.js'
import { sendArray } from '../protocol/send-array.js'
import { dataSchema, rowsIn, rowsSchema } from '../reads/rows-in-body.js'
import { projectNamed } from '../reads/scope.js'

const rowLimit = { rows: limits.predictMaxRows, instead: 'Send them in several requests, or JOIN the model in SQL.' }

/** The rows of a predict request: the documented bare array, or `{"data": …, "params": {…}}` as clients send. */
export const readPredictBody = async (body: unknown): Promise<{ rows: InputRow[]; params: PredictParams }> => {
  if (!Array.isArray(body) && !(isObject(body) && 'data' in body))
    throw new Problem('missing_parameter', 'Missing parameter', 'Must provide an array of rows, or {"data": [rows]}', {
      hint: 'Send [{"column": value, …}].',
    })
  const params = Array.isArray(body) ? {} : (body['params'] ?? {})
  if (!isObject(params)) throw wrong('params: must be an object')
  const rows = await rowsIn(Array.isArray(body) ? body : body['data'], rowLimit)
  return { rows, params: readParams(params) }
}

/** The forms that `readPredictBody` reads. */
export const predictBody = z.union([rowsSchema, z.object({ data: dataSchema, params: predictParams.nullish() })])

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

type Services = {
  ledger: Ledger
  store: ModelStore
  recorder: PredictionRecorder
  progressOf: ProgressOf
  /** Hears how long the rows of a request took to compute. */
  onPredicted?: (seconds: number) => void
}

export const predictRoutes = ({ ledger, store, recorder, progressOf, onPredicted }: Services): Route[] => {
  const { log } = ledger
  /** The answer to a request that was recorded before: made anew with the version of then, since answers are not kept in plain. */
  const answeredAgain = async ({ positions }: Outcome, body: unknown) => {
    const { rows, params } = await readPredictBody(body)
    const artefact = await servedBy(log, positions[0] ?? 0)
    if (artefact === undefined) throw new TypeError(`position ${positions[0] ?? 0} is no prediction of a version`)
    return answerAnyRows(await store.predictor(artefact), rows, params)
  }
  return [
    {
      method: 'post',
      path: '/projects/:project/models/:model/predict',
      summary: 'Predict: one answer for each row, recorded before it is given unless the model’s recording is off',
      commandHeaders: ['Idempotency-Key'],
      body: predictBody,
      bodySize: 'rows',
      answers: { 200: z.array(z.looseObject({ __service_row_id: z.null() })) },
      async handle(req, res) {
        const [origin, execution] = [originOf(req, res), executionOf(req)]
        const repeated = await ledger.repeated(origin, execution)
        if (repeated && repeated.positions.length > 0) {
          sendUnkept(res)
          res.setHeader(positionHeader, String(repeated.positions[0]))
          await sendArray(res, await answeredAgain(repeated, req.body))
          return
        }
        const project = await projectNamed(log, param(req, 'project'))
        const { position: readAt } = await log.head()
        const called = await modelNamed(log, project, param(req, 'model'))
        const { model } = called
        const { rows, params } = await readPredictBody(req.body)
        const version = versionAsked(called, params.version)
        if (!version.result) throw notReady(model.state.name, version, progressOf(model.stream, version.version))
        const predictor = await store.predictor(version.result.artefact)
        const began = performance.now()
        const answers = await answerAnyRows(predictor, rows, params)
        onPredicted?.((performance.now() - began) / 1000)
        // Nor is it kept when nothing is recorded: rows stand in payloads or nowhere.
        sendUnkept(res)
        if (rows.length > 0 && model.state.recording === 'all') {
          const target = predictor.target.name
          const served = {
            model: model.stream,
            version: version.version,
            origin,
            rows: answers.map((answer, i) => ({ input: rows[i] ?? {}, output: outputOf(answer, target) })),
            readAt,
          }
          const { idempotency } = execution
          if (idempotency) {
            const outcome = await recorder.servedOnce(served, idempotency)
            sayPosition(res, outcome.positions)
            if (outcome.repeated) {
              await sendArray(res, await answeredAgain(outcome, req.body))
              return
            }
          } else sayPosition(res, [await recorder.served(served)])
        }
        await sendArray(res, answers)
      },
    },
  ]
}

const positionHeader = 'Mindledger-Position'

/** Tells where an answer is recorded: outcomes are reported of a position. */
const sayPosition = (res: Response, positions: readonly number[]): void => {
  res.locals['positions'] = positions
  res.setHeader(positionHeader, String(positions[0] ?? 0))
}

const outputOf = (answer: Record<string, unknown>, target: string) => ({
  value: answer[target],
  confidence: answer[`${target}_confidence`],
  min: answer[`${target}_min`],
  max: answer[`${target}_max`],
})
