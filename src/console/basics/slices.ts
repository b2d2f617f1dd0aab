const sliceMs = 12

/**
 * Divides long work into slices, between which the page responds.
 *
 * @example const slices = new Slices(); for (const piece of pieces) { await slices.pause(signal); read(piece) }
 */
export class Slices {
  #since = performance.now()

  /** Pauses if the current slice took long enough. @throws the reason of the signal */
  async pause(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (performance.now() - this.#since < sliceMs) return
    await new Promise((resolve) => setTimeout(resolve))
    signal.throwIfAborted()
    this.#since = performance.now()
  }
}
