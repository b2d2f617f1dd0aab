import { z } from 'zod'
import { wrong } from '../../errors.js'
import { nearest } from '../nearest.js'

const label = z.union([z.string(), z.number(), z.boolean()])

/** What `USING` may say of a model that is imported. */
export const onnxOptions = z.strictObject({
  file: z.string().min(1).describe('the uploaded file, as PUT /api/files/<name> named it'),
  columns: z.array(z.string().min(1)).min(1).optional().describe('names of the columns, in the order in which the model takes them'),
  classes: z.array(label).min(2).optional().describe('the classes, in the order of the probabilities'),
  output: z.string().optional().describe('the output that is the prediction, for a model with several'),
  example: z.record(z.string(), z.unknown()).optional().describe('a row that the model can be tried on'),
})

export type OnnxOptions = z.infer<typeof onnxOptions>

const known = Object.keys(onnxOptions.shape)

/**
 * Reads the options of an import.
 *
 * @throws Problem wrong_arguments that names the option and what it takes
 * @example readOnnxOptions({ file: 'rent', columns: ['sqft', 'age'] })
 */
export const readOnnxOptions = (using: Readonly<Record<string, unknown>>): OnnxOptions => {
  const unknown = Object.keys(using).find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw wrong(`engine onnx has no option ${unknown}`, `Did you mean ${nearest(unknown, known)}? Its options are ${known.join(', ')}.`)
  const { data, error } = onnxOptions.safeParse(using)
  if (data) return data
  const [issue] = error.issues
  const key = String(issue?.path[0] ?? 'file')
  if (using[key] === undefined)
    throw wrong(
      'engine onnx imports a file, and the statement names none',
      "Upload it with PUT /api/files/rent, then CREATE MODEL rent PREDICT price USING engine = 'onnx', file = 'rent'.",
    )
  throw wrong(
    `${key} of engine onnx: ${issue?.message ?? 'is not usable'}`,
    "columns = ['sqft', 'age'], classes = ['high', 'low'], output = 'label'",
  )
}
