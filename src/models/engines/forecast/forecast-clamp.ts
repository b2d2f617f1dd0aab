import { filled, usualSize, type Values } from './season.js'

/**
 * Limits how far forecasts may leave the range of a series' past: to `slack` times the distance that nine in ten stretches of it moved.
 * Without a limit, a trend fitted to a level shift would grow without end.
 */
export class ForecastClamp {
  readonly #lag: number
  readonly #usual: number
  #high: number
  #low: number

  constructor(
    values: Values,
    private readonly slack: number,
  ) {
    const whole = filled(values)
    this.#lag = Math.max(1, whole.length >> 2)
    this.#usual = usualSize(Float64Array.from({ length: whole.length - this.#lag }, (_, t) => Math.abs(whole[t + this.#lag]! - whole[t]!)))
    this.#high = whole.reduce((most, value) => Math.max(most, value), -Infinity)
    this.#low = whole.reduce((least, value) => Math.min(least, value), Infinity)
  }

  /** Takes the next value, NaN for a gap. */
  update(value: number): void {
    if (value > this.#high) this.#high = value
    if (value < this.#low) this.#low = value
  }

  /** A forecast of the step `h`, from 0, clipped to its limit. */
  bounded(value: number, h: number): number {
    const far = this.slack * this.#usual * Math.max(1, (h + 1) / this.#lag)
    return Math.min(Math.max(value, this.#low - far), this.#high + far)
  }
}
