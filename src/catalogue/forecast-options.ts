import { z } from 'zod'
import { limits } from '../basics/limits.js'
import { option } from './engine-options.js'

export const forecastName = 'forecast'

const whole = (least: number, most: number) => z.int().min(least).max(most)

/** The options of the engine for series. The clauses ORDER BY, GROUP BY, WINDOW and HORIZON of a statement are the first four. */
export const forecastOptions = z.strictObject({
  order_by: z.string().min(1).describe('the column that orders the rows, a date, a timestamp or a whole number: ORDER BY date'),
  group_by: option(
    z.union([
      z
        .string()
        .min(1)
        .transform((name) => [name]),
      z.array(z.string().min(1)).max(limits.forecastMaxKeys),
    ]),
    `a column, or a list of at most ${limits.forecastMaxKeys}, that tells series apart`,
  ),
  window: option(whole(1, limits.trainingMaxRows), 'a whole number of rows, at least 1'),
  horizon: whole(1, limits.forecastMaxHorizon).describe(`a whole number of rows ahead, 1 to ${limits.forecastMaxHorizon}: HORIZON 12`),
  season: option(whole(1, limits.forecastMaxPoints), `a whole number of rows, 1 (none) to ${limits.forecastMaxPoints}`),
  confidence: option(z.number().min(0.001).max(0.999), 'a number between 0.001 and 0.999'),
})

/** What a model of series is: carried over to its next version unless that says otherwise. */
export const seriesOptions = ['order_by', 'group_by', 'window', 'horizon', 'season'] as const

/** What a training of series is asked for, its options read. */
export type SeriesRequest = {
  target: string
  orderBy: string
  groupBy: readonly string[]
  window: number | null
  horizon: number
  season: number | null
  confidence: number
}
