import { Problem } from '../errors.js'
import { boostMagic } from './artefact.js'
import { forecastMagic } from './forecast/artefact.js'
import { loadForecast } from './forecast/predictor.js'
import { loadPredictor, type Predictor } from './predictor.js'

/** What reads an artefact, by the text that it begins with. */
const formats: ReadonlyMap<string, (artefact: Uint8Array) => Predictor> = new Map([
  [boostMagic, loadPredictor],
  [forecastMagic, loadForecast],
])

const longestMagic = Math.max(...[...formats.keys()].map((magic) => magic.length))

/**
 * Makes a model ready to predict, whichever engine trained it. Bytes that are no artefact are an `internal` problem.
 *
 * @example loadModel(await blobs.read(version.result.artefact)).target.name // 'rental_price'
 */
export const loadModel = (artefact: Uint8Array): Predictor => {
  const beginning = Buffer.from(artefact.subarray(0, longestMagic)).toString('latin1')
  const format = [...formats].find(([magic]) => beginning.startsWith(magic))
  if (format) return format[1](artefact)
  throw new Problem(
    'internal',
    'Unreadable model artefact',
    `The model artefact cannot be read: no engine's artefact starts with "${beginning}"`,
  )
}
