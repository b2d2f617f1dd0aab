import * as z from 'zod'
import { limits } from '../../basics/limits.js'
import type { PredictionService } from '../../models/serving/prediction-service.js'
import { rowsIn } from '../../http/reads/rows-in-body.js'
import { Budget } from '../tool-parts/budget.js'
import { tool, type Tool } from '../tool-parts/tool.js'
import { project } from './arguments.js'

const input = z.strictObject({
  model: z.string().min(1).describe('The name of the model, or of a version of it: rent.2'),
  project,
  rows: z
    .array(z.record(z.string(), z.unknown()))
    .describe(`An object of input columns for each row, at most ${limits.mcpPredictMaxRows}; describe with kind "model" tells the columns`),
  version: z.int().min(1).optional().describe('The version to use; by default the active one'),
  confidence: z.number().optional().describe('The level of the intervals, from .001 to .999; the model’s own by default'),
  contributions: z.boolean().optional().describe('Whether to explain the contribution of each input'),
})

const output = z.object({
  model: z.string(),
  version: z.int().describe('The version that answered'),
  target: z.string().describe('The column that was predicted'),
  position: z.int().nullable().describe('The log position at which the predictions are recorded; null where the model keeps no record'),
  predictions: z.array(
    z.object({
      value: z.union([z.string(), z.number(), z.boolean()]).nullable(),
      confidence: z.number().nullable(),
      min: z.number().nullable(),
      max: z.number().nullable(),
      anomaly: z.boolean().nullable().describe('Whether the truth in the row lies outside of min and max'),
      explanation: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
  truncated: z.boolean().describe('Whether explanations were left out, because the answer would be too long'),
})

type Prediction = z.infer<typeof output>['predictions'][number]

const predictionOf = (answer: Readonly<Record<string, unknown>>, target: string): Prediction => ({
  value: answer[target] as Prediction['value'],
  confidence: answer[`${target}_confidence`] as number | null,
  min: answer[`${target}_min`] as number | null,
  max: answer[`${target}_max`] as number | null,
  anomaly: answer[`${target}_anomaly`] as boolean | null,
  explanation: JSON.parse(String(answer[`${target}_explain`])) as Prediction['explanation'],
})

const rowLimit = { rows: limits.mcpPredictMaxRows, instead: 'JOIN a table with the model in query: it scores any number of rows.' }

/** Predictions of a model. They are recorded before they are returned, as over REST. */
export const predictTool = (predicting: PredictionService, defaultProject: string): Tool =>
  tool({
    name: 'predict',
    title: 'Predict with a model',
    description:
      'Predicts rows with a trained model: a value for each, with its confidence, bounds and explanation. The answers are recorded in the log.',
    effect: { readsOnly: true },
    input,
    output,
    async run({ model, project: name = defaultProject, rows: sent, version, confidence, contributions }, { origin, note }) {
      const rows = await rowsIn(sent, rowLimit)
      const params = {
        confidence,
        explain: contributions === true ? 'contributions' : undefined,
        ...(version !== undefined && { version }),
      }
      const { answers, position, ...by } = await predicting.predict({ project: name, model, rows, params }, origin)
      if (position !== undefined) note([position])
      const budget = new Budget()
      const all = answers.map((answer) => predictionOf(answer, by.target))
      const explained = all.map((one) => (budget.takes(one) ? one : { ...one, explanation: null }))
      const truncated = explained.some((one, i) => one !== all[i])
      return { model, ...by, position: position ?? null, predictions: explained, truncated }
    },
  })
