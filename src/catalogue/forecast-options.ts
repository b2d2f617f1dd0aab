import * as z from 'zod'
import { limits } from '../basics/limits.js'
import { option } from './engine-options.js'

export const forecastName = 'forecast'

const whole = (least: number, most: number) => z.int().min(least).max(most)

/** The options of the forecasting engine. The first four are the clauses ORDER BY, GROUP BY, WINDOW and HORIZON of a statement. */
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

/** The options that define a series model: its next version keeps them unless it gives its own. */
export const seriesOptions = ['order_by', 'group_by', 'window', 'horizon', 'season'] as const

/** The parsed options of a training on series. */
export type SeriesRequest = {
  target: string
  orderBy: string
  groupBy: readonly string[]
  window: number | null
  horizon: number
  season: number | null
  confidence: number
}
