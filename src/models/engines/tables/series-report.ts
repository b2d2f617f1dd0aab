/** What is to be known of a model of series beside what is of every model; plain JSON. */
export type SeriesReport = {
  order_by: string
  group_by: readonly string[]
  window: number | null
  horizon: number
  frequency: string
  /** The number of series for each length of season, in steps; 1 means no season. */
  seasons: Readonly<Record<string, number>>
  /** How many series each method was picked for. */
  methods: Readonly<Record<string, number>>
  /** What those methods are. */
  about: Readonly<Record<string, string>>
  series: number
  shortest: number
  longest: number
  first: string
  /** The last times of the series: the earliest and the latest of them. */
  last: readonly [string, string]
  gaps: number
  /** How many steps ahead the past could tell of, at least. */
  measured_steps: number
}
