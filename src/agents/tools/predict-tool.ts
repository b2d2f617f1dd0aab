import { isObject, type Json, type JsonObject } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Origin } from '../../log/contract/log.js'
import { answerRows } from '../../models/serving/predict-rows.js'
import type { ModelStore } from '../../models/serving/model-store.js'
import type { PredictionRecorder } from '../../models/serving/prediction-recorder.js'
import { isRemote } from '../../models/engines/contract/remote.js'
import { cutText } from '../../llm/tokens/estimates.js'
import type { ScopeModel } from '../scope/agent-scope.js'
import { fittingTexts, inputSchema, itemNamed, type Tool } from './tool.js'

/** The parts that predict and that record predictions. */
export type PredictionParts = { store: ModelStore; recorder: PredictionRecorder }

type PredictParts = PredictionParts & { models: readonly ScopeModel[]; origin: Origin; readAt: number }

/** The targets and inputs of models, as text for a language model. Their names come from data. */
export const modelsText = async (models: readonly ScopeModel[], store: ModelStore): Promise<string> => {
  const lines = models.map(async ({ label, version, artefact }) => {
    const { inputs } = await store.predictor(artefact)
    return `${label} predicts ${version.target} from ${inputs.map(({ name, type }) => `${name} (${type})`).join(', ')}`
  })
  return cutText((await Promise.all(lines)).join('\n'), limits.agentToolOutputMaxChars)
}

const rowsIn = (sent: Json | undefined): JsonObject[] => {
  const listed = isObject(sent) ? [sent] : Array.isArray(sent) ? sent : []
  const rows = listed.filter((row) => isObject(row))
  if (rows.length === 0 || rows.length < listed.length) throw wrong('rows: must be a list of objects, each with the inputs of one row')
  if (rows.length > limits.agentPredictMaxRows)
    throw wrong(`rows: at most ${limits.agentPredictMaxRows} rows are predicted at once (agentPredictMaxRows)`)
  return rows
}

/** Predictions as text for a language model, one per line, as many as fit. */
const predictionsText = (predictions: readonly object[]): string => {
  const lines = fittingTexts(predictions, (one) => JSON.stringify(one))
  const all = predictions.length
  const leftOut = `${all} rows were predicted; the first ${lines.length} are shown, and the others are left out. Predict them again with fewer rows at once.`
  return [...lines, ...(lines.length < all ? [leftOut] : [])].join('\n')
}

/**
 * The tool that predicts with the models of an agent, and explains the prediction if the model can. Each prediction is recorded as over
 * REST.
 */
export const predictTool = ({ models, store, recorder, origin, readAt }: PredictParts): Tool => ({
  kind: 'predict',
  description: {
    name: 'predict',
    description: 'Predicts rows with a model, and tells how sure it is.',
    inputSchema: inputSchema(
      {
        model: { type: 'string', enum: models.map(({ label }) => label) },
        rows: { type: 'array', items: { type: 'object' }, description: 'The inputs of each row, by name' },
        explain: { type: 'boolean', description: 'Whether to tell what each input contributed' },
      },
      ['explain', ...(models.length === 1 ? ['model'] : [])],
    ),
  },
  givesData: true,
  async use({ model: name, rows: sent, explain }) {
    const model = itemNamed('model', models, ({ label }) => label, name)
    const rows = rowsIn(sent)
    const predictor = await store.predictor(model.artefact)
    const canExplain = explain === true && !isRemote(predictor) && predictor.contributions !== undefined
    const answers = await answerRows(predictor, rows, canExplain ? { explain: 'contributions' } : {})
    const target = predictor.target.name
    const said = answers.map((answer) => ({
      [target]: answer[target],
      confidence: answer[`${target}_confidence`],
      min: answer[`${target}_min`],
      max: answer[`${target}_max`],
      explain: answer[`${target}_explain`],
    }))
    if (await recorder.records(model.found.stream)) {
      const served = said.map((output, i) => ({
        input: rows[i] ?? {},
        output: { value: output[target], confidence: output['confidence'], min: output['min'], max: output['max'] },
      }))
      await recorder.served({ model: model.found.stream, version: model.version.version, rows: served, origin, readAt })
    }
    return { output: predictionsText(said), rows: rows.length }
  },
})
