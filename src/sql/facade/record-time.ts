import { instant } from '../../../events/stored/envelope.js'

/** A time in the form of answers: UTC, `2026-11-21 10:00:00.123000`. */
export const recordTimeOf = (ms: number): string => instant(ms).slice(0, 26).replace('T', ' ')
