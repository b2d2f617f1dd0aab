import * as z from 'zod'
import { isObject } from '../../../events/common.js'
import type { ModelVersion } from '../../../events/model.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Ledger } from '../../commands/ledger.js'
import { answerAnyRows, type InputRow } from '../../models/serving/answer.js'
import type { ModelStore } from '../../models/serving/model-store.js'
import type { ProgressOf } from '../../models/training/progress.js'
import type { PredictionRecorder } from '../../models/serving/recorder.js'
import { servedBy } from '../../models/serving/served-by.js'
import { modelNamed, projectNamed } from '../reads/scope.js'
import type { Body } from '../protocol/body.js'
import { jsonArray, type Headers, type Reply } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'
import { dataSchema, rowsIn, rowsSchema } from '../reads/rows-in-body.js'
import { versionOf } from '../../commands/model.js'
import type { Found } from '../../log/contract/log.js'
import { nearest } from '../../basics/nearest.js'

/** The options of a request for predictions. */
const predictParams = z.strictObject({
  version: z.int().positive().nullish().describe('The version that answers; the active one unless it is said here or in the path'),
  confidence: z.number().nullish().describe('The level of the intervals, from .001 to .999; the model’s own unless it is said'),
  explain: z.literal('contributions').nullish().describe('Adds to _explain what each input contributed'),
  partition_size: z.unknown().optional().describe('Taken for its clients; rows are scored in parts of a fitting size'),
})

const known = Object.keys(predictParams.shape)
type PredictParams = { version?: number; confidence?: unknown; explain?: unknown }

/**
 * Reads the `params` of a request for predictions. The confidence level and the kind of explanation are checked where they are used.
 *
 * @throws Problem that names an unknown param and the most similar known one
 * @example readParams({ version: 2, confidence: 0.5 }) // { version: 2, confidence: 0.5 }
 */
const readParams = (params: Readonly<Record<string, unknown>>): PredictParams => {
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
  { model, version, named }: { model: Found<'model'>; version: ModelVersion; named: number | undefined },
  asked: number | undefined,
): ModelVersion => {
  if (asked === undefined || asked === named) return version
  if (named !== undefined)
    throw wrong(`params.version is ${asked}, and the path names version ${named}`, 'Name the version in one of the two places.')
  return versionOf(model.state, asked)
}

const rowLimit = { rows: limits.predictMaxRows, instead: 'Send them in several requests, or JOIN the model in SQL.' }

/** The rows to predict, and the options of the answer. */
type Asked = { rows: InputRow[]; params: PredictParams }

/** The rows of a predict request: the documented bare array, or `{"data": …, "params": {…}}` as clients send. */
export const predictBody: Body<Asked> = {
  schema: z.union([rowsSchema, z.object({ data: dataSchema, params: predictParams.nullish() })]),
  read: async ({ json: body }) => {
    if (!Array.isArray(body) && !(isObject(body) && 'data' in body))
      throw new Problem('missing_parameter', 'Missing parameter', 'Must provide an array of rows, or {"data": [rows]}', {
        hint: 'Send [{"column": value, …}].',
      })
    const params = Array.isArray(body) ? {} : (body['params'] ?? {})
    if (!isObject(params)) throw wrong('params: must be an object')
    const rows = await rowsIn(Array.isArray(body) ? body : body['data'], rowLimit)
    return { rows, params: readParams(params) }
  },
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

type Services = {
  ledger: Ledger
  store: ModelStore
  recorder: PredictionRecorder
  progressOf: ProgressOf
  /** Called with the time that the rows of a request took to compute. */
  onPredicted?: (seconds: number) => void
}

export const predictRoutes = ({ ledger, store, recorder, progressOf, onPredicted }: Services): Route[] => {
  const { log } = ledger

  /** Answers a request that was recorded before: predicts again with the same version, because answers are not kept unencrypted. */
  const answeredAgain = async (position: number, { rows, params }: Asked): Promise<Reply> => {
    const artefact = await servedBy(log, position)
    if (artefact === undefined) throw new TypeError(`position ${position} is no prediction of a version`)
    return answerAt(position, await answerAnyRows(await store.predictor(artefact), rows, params))
  }

  /** The version that answers, with its model loaded. @throws Problem when it is not trained */
  const versionFor = async (project: string, ref: string, params: PredictParams) => {
    const called = await modelNamed(log, await projectNamed(log, project), ref)
    const version = versionAsked(called, params.version)
    const { model } = called
    if (!version.result) throw notReady(model.state.name, version, progressOf(model.stream, version.version))
    return { model, version, predictor: await store.predictor(version.result.artefact) }
  }

  return [
    route({
      method: 'post',
      path: '/projects/:project/models/:model/predict',
      summary: 'Predict: one answer for each row, recorded before it is given unless the model’s recording is off',
      commandHeaders: ['Idempotency-Key'],
      body: predictBody,
      bodySize: 'rows',
      answers: { 200: z.array(z.looseObject({ __service_row_id: z.null() })) },
      async handle({ segments, body, call }) {
        const [origin, execution] = [call.origin(), call.execution()]
        const [before] = (await ledger.repeated(origin, execution))?.positions ?? []
        if (before !== undefined) return answeredAgain(before, body)
        const { position: readAt } = await log.head()
        const { model, version, predictor } = await versionFor(segments.project, segments.model, body.params)
        const { rows } = body
        const began = performance.now()
        const answers = await answerAnyRows(predictor, rows, body.params)
        onPredicted?.((performance.now() - began) / 1000)
        if (rows.length === 0 || model.state.recording !== 'all') return unkept(answers)
        const served = { model: model.stream, version: version.version, origin, rows: servedRows(rows, answers, predictor), readAt }
        const { idempotency } = execution
        const { positions, repeated } = idempotency
          ? await recorder.servedOnce(served, idempotency)
          : { positions: [await recorder.served(served)], repeated: false }
        call.positions = positions
        const [position = 0] = positions
        return repeated ? answeredAgain(position, body) : answerAt(position, answers)
      },
    }),
  ]
}

type Answers = Awaited<ReturnType<typeof answerAnyRows>>

/** A reply that is never kept, even if recording is off: rows are stored in payloads or not at all. */
const unkept = (answers: Answers, headers: Headers = {}): Reply => jsonArray(answers, { headers, keep: 'never' })

/** Answers with the position at which they are recorded: outcomes are reported by this position. */
const answerAt = (position: number, answers: Answers): Reply => unkept(answers, { 'Mindledger-Position': String(position) })

/** Rows as they are recorded: the input and the answer. */
const servedRows = (rows: readonly InputRow[], answers: Answers, { target: { name } }: { target: { name: string } }) =>
  answers.map((answer, i) => ({
    input: rows[i] ?? {},
    output: {
      value: answer[name],
      confidence: answer[`${name}_confidence`],
      min: answer[`${name}_min`],
      max: answer[`${name}_max`],
    },
  }))
