/** The number of bytes of a value as JSON, with the comma behind it. */
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1

/**
 * The size budget of one answer, in bytes of JSON. It is checked before each part is added, so that an answer has only whole parts.
 *
 * @example const budget = new ByteBudget(65_536); const shown = items.filter((item) => budget.takes(item))
 */
export class ByteBudget {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  get left(): number {
    return this.#left
  }

  /** Whether a part fits. A part that fits is counted. */
  takes(part: unknown): boolean {
    const bytes = bytesOf(part)
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  /** The first parts, up to the first part that does not fit. */
  first<T>(parts: readonly T[]): T[] {
    const end = parts.findIndex((part) => !this.takes(part))
    return end < 0 ? [...parts] : parts.slice(0, end)
  }

  /** An object with the members that fit, and the names of the members that do not fit. */
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
