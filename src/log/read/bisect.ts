import type { Log } from '../contract/log.js'
import { readEvent } from './slices.js'

/**
 * The first number from `low` to `high` for which something holds that, once it holds, holds for all that follow;
 * `high + 1` when it holds for none.
 *
 * @example await firstWhere(1, 100, async (n) => n * n >= 50) // 8
 */
const firstWhere = async (low: number, high: number, holds: (n: number) => Promise<boolean>): Promise<number> => {
  let [from, to] = [low, high + 1]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (await holds(middle)) to = middle
    else from = middle + 1
  }
  return from
}

type Reading = Pick<Log, 'readAll'>

const recordedAt = async (log: Reading, position: number): Promise<string | undefined> => {
  const [event] = await log.readAll(position - 1, 1)
  return event && readEvent(event).recorded_at
}

/**
 * The position of the first event that was recorded at a time or later, `head + 1` when none was. Times increase with
 * positions.
 *
 * @param time as events have it: UTC with microseconds
 */
export const firstRecordedFrom = (log: Reading, time: string, head: number): Promise<number> =>
  firstWhere(1, head, async (position) => ((await recordedAt(log, position)) ?? '') >= time)

/** The position of the last event that was recorded by a time; 0 when none was. */
export const lastRecordedBy = async (log: Reading, time: string, head: number): Promise<number> =>
  (await firstWhere(1, head, async (position) => ((await recordedAt(log, position)) ?? '') > time)) - 1
