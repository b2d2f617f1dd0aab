import { dayMs } from '../../numerics/dates.js'

/** The type of the ordering column: dates and timestamps are milliseconds since 1970 here, whole numbers are themselves. */
export type OrderType = 'date' | 'timestamp' | 'integer'

/** A time of a series as text for users. */
export const timeText = (type: OrderType, time: number): string => {
  if (type === 'integer') return String(time)
  const text = new Date(time).toISOString()
  return type === 'date' ? text.slice(0, 10) : text.replace('T', ' ').replace(/(\.000)?Z$/, '')
}

/** Converts a cell of the ordering column to a time: dates are days in cells. */
export const timeOfCell = (type: OrderType, cell: number): number => (type === 'date' ? cell * dayMs : cell)

/** The reverse of `timeOfCell`. */
export const cellOfTime = (type: OrderType, time: number): number => (type === 'date' ? time / dayMs : time)
