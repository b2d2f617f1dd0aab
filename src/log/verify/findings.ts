import { errorText } from '../../basics/errors.js'

/** A fault in the log. `position` is the position of the event, if there is one. */
export type Finding = { position: number | null; what: string }

export const maxFindings = 100

/** The first hundred findings. */
export class Findings {
  readonly all: Finding[] = []

  /** Notes a finding, at a position or about the whole log. Findings beyond the limit are not kept. */
  add(position: number | null, what: string): void {
    if (this.all.length < maxFindings) this.all.push({ position, what })
  }
}

/** The findings of walks that ran side by side, in the order of the log. */
export const inOrder = (...findings: readonly Finding[][]): Finding[] =>
  findings.flat().sort((a, b) => (a.position ?? 0) - (b.position ?? 0))

/** The first line of an error's message, for a finding. */
export const firstLine = (error: unknown): string => errorText(error).replace(/\s+/g, ' ').slice(0, 200)
