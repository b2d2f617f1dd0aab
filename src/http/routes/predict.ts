import * as z from 'zod'
import { isObject } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Ledger } from '../../commands/ledger.js'
import type { InputRow } from '../../models/serving/predict-rows.js'
import { notJson, type Body } from '../protocol/body-schema.js'
import { jsonArray } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'
import {
  readPredictParams,
  type PredictResult,
  type PredictionService,
  type PredictParams,
} from '../../models/serving/prediction-service.js'
import { dataSchema, rowsIn, rowsSchema } from '../reads/rows-in-body.js'

/** The options of a request for predictions. */
const predictParams = z.strictObject({
  version: z.int().positive().nullish().describe('The version to use; by default the one in the path, or the active one'),
  confidence: z.number().nullish().describe('The level of the intervals, from .001 to .999; the model’s own by default'),
  explain: z.literal('contributions').nullish().describe('Adds the contribution of each input to _explain'),
  partition_size: z.unknown().optional().describe('Taken for its clients; rows are scored in parts of a fitting size'),
})

const known = Object.keys(predictParams.shape)

const rowLimit = { rows: limits.predictMaxRows, instead: 'Send them in several requests, or JOIN the model in SQL.' }

/** The rows to predict, and the options of the answer. */
type PredictBody = { rows: InputRow[]; params: PredictParams }

/** The rows of a predict request: the documented array, or the object `{"data": …, "params": {…}}` that other clients send. */
export const predictBody: Body<PredictBody> = {
  schema: z.union([rowsSchema, z.object({ data: dataSchema, params: predictParams.nullish() })]),
  read: async ({ json: body, isOther }) => {
    if (isOther) throw notJson()
    if (!Array.isArray(body) && !(isObject(body) && 'data' in body))
      throw new Problem('missing_parameter', 'Missing parameter', 'Must provide an array of rows, or {"data": [rows]}', {
        hint: 'Send [{"column": value, …}].',
      })
    const params = Array.isArray(body) ? {} : (body['params'] ?? {})
    if (!isObject(params)) throw new Problem('wrong_arguments', 'Wrong arguments', 'params: must be an object')
    const rows = await rowsIn(Array.isArray(body) ? body : body['data'], rowLimit)
    return { rows, params: readPredictParams(params, known) }
  },
}

/** The route for predictions. A repeated request gets the recorded answer of the first one. */
export const predictRoutes = (ledger: Ledger, predicting: PredictionService): Route[] => [
  route({
    method: 'post',
    path: '/projects/:projectName/models/:modelName/predict',
    summary: 'Predict: one answer for each row, recorded before the client gets it, unless the model’s recording is off',
    commandHeaders: ['Idempotency-Key'],
    body: predictBody,
    bodySize: 'rows',
    success: 'The model was queried successfully',
    answers: { 200: z.array(z.looseObject({ __service_row_id: z.null() })) },
    async handle({ segments: { projectName: project, modelName: model }, body, call }) {
      const [origin, execution] = [call.origin(), call.execution()]
      const [before] = (await ledger.repeated(origin, execution))?.positions ?? []
      const { answers, position }: PredictResult =
        before === undefined
          ? await predicting.predict({ project, model, ...body }, origin, execution)
          : await predicting.again(before, body)
      // Reports of outcomes refer to this position.
      if (position !== undefined) call.positions = [position]
      // It is never kept, even if recording is off: rows are either stored in payloads or not at all.
      return jsonArray(answers, { keep: 'never' })
    },
  }),
]
