import { Problem } from '../../basics/errors.js'
import { boostMagic } from './tables/artefact.js'
import { forecastMagic } from './forecast/artefact.js'
import { loadForecast } from './forecast/predictor.js'
import { onnxMagic } from './onnx/artefact.js'
import { loadOnnx } from './onnx/predictor.js'
import { loadPredictor } from './tables/predictor.js'
import type { AnyPredictor } from './contract/remote.js'

/** The decoders of artefacts, by their magic. */
const formats = new Map<string, (artefact: Uint8Array, file: string) => AnyPredictor>([
  [boostMagic, loadPredictor],
  [forecastMagic, loadForecast],
  [onnxMagic, loadOnnx],
])

const longestMagic = Math.max(...[...formats.keys()].map((magic) => magic.length))

/**
 * Makes a model ready to predict, whichever engine trained it. `file` is the artefact's path, for processes that read it themselves. Other
 * bytes are an `internal` problem.
 *
 * @example loadModel(await blobs.read(artefact), blobs.path(artefact)).target.name // 'rental_price'
 */
export const loadModel = (artefact: Uint8Array, file = ''): AnyPredictor => {
  const beginning = Buffer.from(artefact.subarray(0, longestMagic)).toString('latin1')
  const format = [...formats].find(([magic]) => beginning.startsWith(magic))
  if (format) return format[1](artefact, file)
  throw new Problem(
    'internal',
    'Unreadable model artefact',
    `The model artefact cannot be read: no engine's artefact starts with "${beginning}"`,
  )
}
