import type { Metrics } from '../../numerics/metrics.js'
import type { SeriesModel } from './series-model.js'

/**
 * The errors of the forecasts from the past, over all series: rmse, mae; mase (the mean absolute error relative to that of repeating the
 * previous season, averaged over the series); mape (as a share; absent if a value is 0); r2 about each series' own mean. A figure that
 * cannot be computed is absent.
 */
export const seriesMetrics = (models: readonly SeriesModel[]): Metrics => {
  let [squares, sum, shares, spread, count, zeros] = [0, 0, 0, 0, 0, 0]
  let [scaled, scalable] = [0, 0]
  for (const { misses, naive } of models) {
    const { actual, forecast } = misses
    const mean = actual.reduce((total, value) => total + value, 0) / actual.length
    let own = 0
    actual.forEach((truth, i) => {
      const miss = Math.abs(truth - forecast[i]!)
      own += miss
      squares += miss * miss
      spread += (truth - mean) * (truth - mean)
      if (truth === 0) zeros++
      else shares += miss / Math.abs(truth)
    })
    sum += own
    count += actual.length
    if (naive > 0 && actual.length > 0) {
      scaled += own / actual.length / naive
      scalable++
    }
  }
  if (count === 0) return {}
  return {
    ...(spread > 0 && { r2: 1 - squares / spread }),
    rmse: Math.sqrt(squares / count),
    mae: sum / count,
    ...(scalable > 0 && { mase: scaled / scalable }),
    ...(zeros === 0 && { mape: shares / count }),
  }
}
