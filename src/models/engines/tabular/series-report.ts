/** The part of a report that only series models have; plain JSON. */
export type SeriesReport = {
  order_by: string
  group_by: readonly string[]
  window: number | null
  horizon: number
  frequency: string
  /** The number of series for each length of season, in steps; 1 means no season. */
  seasons: Readonly<Record<string, number>>
  /** How many series use each method. */
  methods: Readonly<Record<string, number>>
  /** Descriptions of these methods. */
  about: Readonly<Record<string, string>>
  series: number
  shortest: number
  longest: number
  first: string
  /** The earliest and the latest of the series' last times. */
  last: readonly [string, string]
  gaps: number
  /** The least number of steps ahead that were measured on the past. */
  measured_steps: number
}
