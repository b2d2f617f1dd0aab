import { isObject, type JsonObject, type StreamId } from '../../../events/common.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import type { Lease } from '../../log/contract/leases.js'
import type { Log } from '../../log/contract/log.js'
import { eventsOf } from '../../log/read/slices.js'
import { isProblem, Problem } from '../../basics/errors.js'
import { openSecrets } from '../../vault/seal-secrets.js'
import type { TrainResult } from './trainer.js'

/**
 * The event that requested a version of a model; undefined when the log has no such version.
 *
 * @example (await trainingRequest(log, model.stream, 2))?.actor // 'ada'
 */
export const trainingRequest = async (log: Pick<Log, 'readStream'>, model: StreamId, version: number): Promise<Envelope | undefined> => {
  for await (const envelope of eventsOf(log, model))
    if (envelope.type === 'ModelTrainingRequested' && envelope.data['version'] === version) return envelope
  return undefined
}

/**
 * The options of an import with the plain values of its example. A value was sealed if its column has the name of a secret.
 *
 * @throws Problem erased when such a value is gone
 * @example (await withOpenExample({ file: 'rent', example: { pin_code: { $secret: '…' } } }, log)).example // { pin_code: 560001 }
 */
export const withOpenExample = async (using: JsonObject, log: Pick<Log, 'payload'>): Promise<JsonObject> => {
  const { example } = using
  return isObject(example) ? { ...using, example: await openSecrets(example, (hash) => log.payload(hash)) } : using
}

/** Why a training is given up when erasures took its data again and again. */
export const erasedTooOften = (erasures: number): Problem =>
  new Problem('not_ready', 'Training given up', `data that it had read was erased ${erasures} times meanwhile (trainingErasuresMax)`, {
    hint: 'RETRAIN starts it again. A query of rows that are not being erased lets it come to its end.',
  })

/** Why a training is given up when nodes were lost with it. */
export const lostTooOften = ({ losses }: Pick<Lease, 'losses'>): Problem =>
  new Problem('not_ready', 'Training given up', `${losses} nodes were lost while they trained it`, {
    hint: 'Look into their logs, for example for too little memory; RETRAIN starts it again.',
  })

const reasonMaxChars = 10_000

/** Why a training failed, as a text that the log accepts: a shortened message may end in half a character. */
export const reasonOf = (error: unknown): string => {
  if (!isProblem(error)) return 'a fault of this service; its log says more'
  const { hint } = error.extras
  const detail = /[.!?]$/.test(error.detail) ? error.detail : `${error.detail}.`
  const reason = hint === undefined ? error.detail : `${detail} ${hint}`
  return reason.slice(0, reasonMaxChars).replaceAll('\0', '').toWellFormed()
}

/** Clients read a number of more than 15 characters, including sign and point, as text. */
const short = (number: number): number => Number(Number(number.toPrecision(12)).toFixed(10))

/** The one number that lists show: R² of a regression, accuracy of a classifier, both out of fold. The report has all digits. */
export const accuracyOf = ({ metrics }: Pick<TrainResult['report'], 'metrics'>): number | null => {
  const accuracy = metrics['r2'] ?? metrics['accuracy']
  return accuracy === undefined ? null : short(accuracy)
}

/** The other conditions of an engine's results, besides its own code. Stored with each training. */
export type Runtime = { node: string; v8: string; platform: string; arch: string }

/** The runtime of this process. */
export const runtimeHere = (): Runtime => ({
  node: process.versions.node,
  v8: process.versions.v8,
  platform: process.platform,
  arch: process.arch,
})
