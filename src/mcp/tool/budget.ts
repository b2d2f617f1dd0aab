import { limits } from '../../basics/limits.js'

/** How many bytes a value takes as JSON. */
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/**
 * The size budget of one answer. It is asked before each part is added, so that an answer has whole parts only.
 *
 * @example const budget = new Budget(); const shown = items.filter((item) => budget.takes(item))
 */
export class Budget {
  #left: number

  constructor(bytes: number = limits.mcpAnswerMaxBytes) {
    this.#left = bytes
  }

  get left(): number {
    return this.#left
  }

  /** Whether a part fits; if it does, it counts. */
  takes(part: unknown): boolean {
    const bytes = bytesOf(part)
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  /** The first parts, up to one that does not fit. */
  first<T>(parts: readonly T[]): T[] {
    const end = parts.findIndex((part) => !this.takes(part))
    return end < 0 ? [...parts] : parts.slice(0, end)
  }

  /** An object with the members that fit, and the names of those that do not. */
  members(record: object): { record: Record<string, unknown>; leftOut: string[] } {
    const leftOut: string[] = []
    const fitting = Object.entries(record).filter(([name, value]) => {
      if (value === undefined) return false
      const fits = this.takes({ [name]: value as unknown })
      if (!fits) leftOut.push(name)
      return fits
    })
    return { record: Object.fromEntries(fitting), leftOut }
  }
}
