import type { Log } from '../contract/log.js'
import { eventAt, readEvent } from './slices.js'

/**
 * The first number from `low` to `high` for which a condition holds, provided that it then holds for all later numbers; `high + 1`
 * when it holds for none.
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

type ReadableLog = Pick<Log, 'readAll'>

/** The time at which the event at a position was recorded; undefined if there is none. */
export const recordedAt = async (log: ReadableLog, position: number): Promise<string | undefined> => {
  const event = await eventAt(log, position)
  return event && readEvent(event).recorded_at
}

/**
 * The position of the first event recorded at or after a time; `head + 1` when there is none. Times increase with positions.
 *
 * @param time in the format of events: UTC with microseconds
 */
export const firstRecordedFrom = (log: ReadableLog, time: string, head: number): Promise<number> =>
  firstWhere(1, head, async (position) => ((await recordedAt(log, position)) ?? '') >= time)

/** The position of the last event recorded at or before a time; 0 when there is none. */
export const lastRecordedBy = async (log: ReadableLog, time: string, head: number): Promise<number> =>
  (await firstWhere(1, head, async (position) => ((await recordedAt(log, position)) ?? '') > time)) - 1
