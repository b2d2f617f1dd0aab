import * as z from 'zod'
import type { JsonObject } from '../../events/common.js'
import { wrong } from '../basics/errors.js'
import { readOptions } from './engine-options.js'

export const onnxName = 'onnx'

const label = z.union([z.string(), z.number(), z.boolean()])

/** The options that `USING` may give for an imported model. */
export const onnxOptions = z.strictObject({
  file: z.string().min(1).describe("the name of an uploaded ONNX file, such as 'rent'"),
  columns: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("the names of all columns in the order in which the model takes them, such as ['sqft', 'age']"),
  classes: z.array(label).min(2).optional().describe("the classes in the order of the probabilities, such as ['high', 'low']"),
  output: z.string().min(1).optional().describe("the name of the output that is the prediction, such as 'label'"),
  example: z.record(z.string(), z.unknown()).optional().describe("a row to try the model with, such as {'sqft': 80, 'district': 'north'}"),
})

export type OnnxOptions = z.infer<typeof onnxOptions>

/**
 * Reads the options of an import.
 *
 * @throws Problem wrong_arguments that names the option and its values
 * @example readOnnxOptions({ file: 'rent', columns: ['sqft', 'age'] })
 */
export const readOnnxOptions = (using: JsonObject): OnnxOptions => {
  const { file } = using
  if (file !== undefined && file !== null) return readOptions(onnxName, onnxOptions, using)
  throw wrong(
    'engine onnx imports a file, and the statement names none',
    "Upload it with PUT /api/files/rent, then CREATE MODEL rent PREDICT price USING engine = 'onnx', file = 'rent'.",
  )
}
