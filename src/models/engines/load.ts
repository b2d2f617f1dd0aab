import { Problem } from '../../basics/errors.js'
import { boostMagic } from './tabular/artefact.js'
import { forecastMagic } from './forecast/artefact.js'
import { loadForecast } from './forecast/predictor.js'
import { onnxMagic } from './onnx/artefact.js'
import { loadOnnx } from './onnx/predictor.js'
import { loadPredictor } from './tabular/predictor.js'
import type { AnyPredictor } from './contract/remote.js'

type Format = { magic: string; load: (artefact: Uint8Array, file: string) => AnyPredictor }

const formats: readonly Format[] = [
  { magic: boostMagic, load: loadPredictor },
  { magic: forecastMagic, load: loadForecast },
  { magic: onnxMagic, load: loadOnnx },
]

/**
 * Makes a model ready to predict, whichever engine trained it. `file` is the artefact's path, for processes that read it themselves. Other
 * bytes are an `internal` problem.
 *
 * @example loadModel(await blobs.read(artefact), blobs.path(artefact)).target.name // 'rental_price'
 */
export const loadModel = (artefact: Uint8Array, file = ''): AnyPredictor => {
  const longestMagic = Math.max(...formats.map(({ magic }) => magic.length))
  const beginning = Buffer.from(artefact.subarray(0, longestMagic)).toString('latin1')
  const format = formats.find(({ magic }) => beginning.startsWith(magic))
  if (format) return format.load(artefact, file)
  throw new Problem(
    'internal',
    'Unreadable model artefact',
    `The model artefact cannot be read: no engine's artefact starts with "${beginning}"`,
  )
}
