import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { uptime } from 'node:os'
import * as z from 'zod'
import { limits } from './limits.js'

/** The state of the clock: the time was `trusted` when the machine had been up for `uptime`, both in milliseconds. */
const kept = z.object({
  trusted: z.number(),
  uptime: z.number().nonnegative(),
  /** The difference between the clock and the trusted time, and since when it exists. */
  jump: z.number(),
  waited: z.number().nonnegative(),
})
type ClockRecord = z.infer<typeof kept>

type Options = {
  /** The file that keeps the state for the next start. */
  file: string
  /** The time of the newest event, in milliseconds since 1970; undefined in an empty log. */
  recordedAt: () => number | undefined
  /** The clock of the machine, in milliseconds since 1970, and its uptime. Tests bring their own. */
  now?: () => number
  uptimeMs?: () => number
}

const readKept = (file: string): ClockRecord | undefined => {
  try {
    return kept.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}

const units: [name: string, ms: number][] = [['days', 86_400_000], ['hours', 3_600_000], ['minutes', 60_000]] // prettier-ignore

/** A length of time in words. `said(7_200_000)` → `2 hours` */
const said = (ms: number): string => {
  const [name, unit] = units.find(([, each]) => ms >= 2 * each) ?? ['seconds', 1_000]
  return `${Math.round(ms / unit)} ${name}`
}

/**
 * How far the newest event's time is ahead of the clock, in words; undefined if it is not ahead, or only slightly.
 *
 * @example recordedAhead(Date.now() + 86_400_000 * 3, Date.now()) // 'the newest recorded time is 3 days ahead of the clock'
 */
export const recordedAhead = (recordedAt: number, now: number): string | undefined =>
  recordedAt - now <= limits.clockJumpMinMs ? undefined : `the newest recorded time is ${said(recordedAt - now)} ahead of the clock`

/**
 * The time for actions that cannot be undone, such as erasing by age. The clock of a machine may be set wrong; the machine's uptime then
 * shows a jump. A jump is trusted once it has lasted as long as it is wide, and after a week at the latest. Until then this time continues
 * from the time before the jump. It is never later than the clock.
 *
 * @example const clock = new TrustedClock({ file: paths.clock, recordedAt }); erase(clock.now() - month); clock.stop()
 */
export class TrustedClock {
  readonly #options: Required<Options>
  #kept: ClockRecord
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = { now: Date.now, uptimeMs: () => uptime() * 1_000, ...options }
    const { file, recordedAt, now, uptimeMs } = this.#options
    this.#kept = readKept(file) ?? { trusted: recordedAt() ?? now(), uptime: uptimeMs(), jump: 0, waited: 0 }
    this.#lookAndKeep()
  }

  /** Checks the clock at intervals, so that a jump is noticed when it happens and its duration is counted. */
  start(): void {
    this.#timer = setInterval(() => this.#lookAndKeep(), limits.clockLookMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#lookAndKeep()
  }

  /** Milliseconds since 1970. */
  now(): number {
    this.#look()
    return Math.min(this.#kept.trusted, this.#options.now())
  }

  /** The fault of the clock at the moment, in words; undefined if there is none. */
  warning(): string | undefined {
    this.#look()
    const { recordedAt, now } = this.#options
    const { jump, waited } = this.#kept
    const ahead = recordedAhead(recordedAt() ?? 0, now())
    const jumped = `the clock went ${said(jump)} ahead; nothing is erased because of that for another ${said(trustAfter(jump) - waited)}`
    const warnings = [ahead, jump > 0 ? jumped : undefined].filter((text) => text !== undefined)
    return warnings.length === 0 ? undefined : warnings.join('; ')
  }

  #look(): void {
    const { now, uptimeMs } = this.#options
    const up = uptimeMs()
    // After a reboot the uptime is smaller; it is unknown how long the machine was off.
    const elapsed = Math.max(0, up - this.#kept.uptime)
    this.#kept = believe({ ...this.#kept, uptime: up }, elapsed, now())
  }

  /** The file is only a help: without it the next start uses the time of the newest event. */
  #lookAndKeep(): void {
    this.#look()
    const { file } = this.#options
    try {
      writeFileSync(`${file}.part`, `${JSON.stringify(this.#kept)}\n`)
      renameSync(`${file}.part`, file)
    } catch {
      // The disk is full or the directory is gone: others report that.
    }
  }
}

/** How long a jump has to last until it is trusted. */
const trustAfter = (jump: number): number => Math.min(Math.abs(jump), limits.clockTrustMaxMs)

const believe = (before: ClockRecord, elapsed: number, now: number): ClockRecord => {
  const expected = before.trusted + elapsed
  const jump = now - expected
  if (Math.abs(jump) <= limits.clockJumpMinMs) return { ...before, trusted: now, jump: 0, waited: 0 }
  const isSame = Math.abs(jump - before.jump) <= limits.clockJumpMinMs
  const waited = isSame ? before.waited + elapsed : 0
  if (waited >= trustAfter(jump)) return { ...before, trusted: now, jump: 0, waited: 0 }
  return { ...before, trusted: expected, jump, waited }
}
