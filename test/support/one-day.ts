import { setTimeout as sleep } from 'node:timers/promises'

const dayMs = 86_400_000
const neededMs = 10 * 60_000

/** Waits for the next day (UTC) if this one is almost over, for a test whose tokens must be those of one day. */
export const inOneDay = async (): Promise<void> => {
  const leftMs = dayMs - (Date.now() % dayMs)
  if (leftMs < neededMs) await sleep(leftMs)
}
