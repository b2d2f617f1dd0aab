/** How much two clocks may drift apart: a tenth of a millisecond in a second. */
const drift = 1e-4

type Sample = { offset: number; error: number; at: number }

/**
 * PostgreSQL's clock, as known from answers with its time. Between answers it goes on by the time since this process began, so that a
 * change of this machine's clock does not move it.
 *
 * @example const clock = new ServerClock(); const sent = clock.tick(); clock.note(sent, await askTime()); clock.now()
 */
export class ServerClock {
  #sample: Sample | undefined

  constructor(private readonly elapsed: () => number = () => performance.now()) {}

  /** The moment at which a question is sent. */
  tick(): number {
    return this.elapsed()
  }

  /** Notes the time of the server, in milliseconds since 1970, that answered a question. */
  note(sent: number, serverMs: number): void {
    const at = this.elapsed()
    const sample = { offset: serverMs - (sent + at) / 2, error: (at - sent) / 2, at }
    const known = this.#sample
    const knownError = known ? known.error + (at - known.at) * drift : Infinity
    const isContradicted = known !== undefined && Math.abs(sample.offset - known.offset) > sample.error + knownError
    if (sample.error <= knownError || isContradicted) this.#sample = sample
  }

  /** Milliseconds since 1970; this machine's clock until the server was asked. */
  now(): number {
    return this.#sample ? Math.floor(this.elapsed() + this.#sample.offset) : Date.now()
  }
}
