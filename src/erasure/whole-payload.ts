import type { Log } from '../log/contract/log.js'
import type { PlannedPayload } from './plan.js'

/** Plans to erase a whole payload; undefined when it was erased before. */
export const whole = async (log: Pick<Log, 'payloadState'>, hash: string, rows: number): Promise<PlannedPayload | undefined> => {
  const state = await log.payloadState(hash)
  if (!state || (state.isErased && state.replacedBy === null)) return undefined
  const standsIn = state.replacedBy ?? hash
  if ((await log.payloadState(standsIn))?.isErased) return undefined
  return { hash, standsIn, stays: null, rows }
}
