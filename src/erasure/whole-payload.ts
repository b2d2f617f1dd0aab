import type { Log } from '../log/contract/log.js'
import type { PlannedPayload } from './plan.js'

/** Plans to erase a whole payload; undefined when it was erased before. */
export const whole = async (log: Pick<Log, 'payloadState'>, hash: string, rows: number): Promise<PlannedPayload | undefined> => {
  const state = await log.payloadState(hash)
  if (!state || (state.isErased && state.replacedBy === null)) return undefined
  const { replacedBy } = state
  const standing = replacedBy === null ? state : await log.payloadState(replacedBy)
  if (standing?.isErased) return undefined
  return { hash, standsIn: replacedBy ?? hash, stays: null, rows, bytes: standing?.bytes ?? 0 }
}
