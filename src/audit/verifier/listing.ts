import { Findings } from './findings.js'
import type { Head } from './heads.js'
import { fieldsOf, isCount } from './lines.js'
import { fromBase64, Tree } from './tree.js'

/** The number of lines without a list that are kept for comparison. It bounds the memory for a file that has only such lines. */
const maxUnlisted = 1_000

/** A line: its hash, and the position that it states, if it is an event. */
type Line = { leaf: string; says: unknown }

/** A line: its number among the current lines, and the index of its event in their list. */
type Place = { index: number; line: number }

/** The longest choice of these places in which both lines and indexes rise. */
const rising = (places: readonly Place[]): Place[] => {
  const ends: Place[] = []
  const before = new Map<Place, Place | undefined>()
  for (const place of places) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.index ?? 0) < place.index) low = middle + 1
      else high = middle
    }
    before.set(place, ends[low - 1])
    ends[low] = place
  }
  const kept: Place[] = []
  for (let place = ends.at(-1); place; place = before.get(place)) kept.push(place)
  return kept.reverse()
}

/**
 * Compares the lines with the hashes that the export lists for them. The list proves nothing by itself: it names lines only if it
 * adds up to the signed root.
 */
export class Listing {
  readonly differences = new Findings()
  /** If the lists cannot be used any further, the reason. */
  #broken: string | undefined
  readonly #tree = new Tree()
  /** The hashes listed for the current lines, and the first position of these. */
  #listed: string[] = []
  #from = 1
  #lines: Line[] = []

  line(fields: Record<string, unknown>, leaf: Buffer): void {
    if (this.#broken !== undefined) return
    if ('leaves' in fields) this.#list(fieldsOf(fields['leaves']))
    else if ('omitted' in fields) this.#leftOut(fieldsOf(fields['omitted']))
    else if (this.#lines.length < this.#listed.length + maxUnlisted)
      this.#lines.push({ leaf: leaf.toString('hex'), says: fields['position'] })
    else this.#broken = `position ${this.#from + this.#listed.length}: many more events follow than the export lists hashes for`
  }

  /** Why the lists do not add up to a root; undefined if they do. Call it after all lines. */
  whyNot({ size, root }: Head): string | undefined {
    this.#compare()
    if (this.#broken !== undefined) return this.#broken
    if (this.#tree.size === size && root?.equals(this.#tree.root())) return undefined
    return 'the hashes that the export lists do not add up to the signed root'
  }

  #begins(from: unknown, to: unknown): to is number {
    this.#compare()
    const place = this.#tree.size + 1
    if (from === place && isCount(to) && to >= place) return true
    this.#broken = `position ${place}: the hashes listed here belong to other positions`
    return false
  }

  #list({ from, to, hashes }: Record<string, unknown>): void {
    if (!this.#begins(from, to)) return
    const place = this.#tree.size + 1
    const bytes = fromBase64(hashes, (to - place + 1) * 32)
    if (!bytes) {
      this.#broken = `position ${place}: the list of hashes cannot be read`
      return
    }
    this.#from = place
    for (let at = 0; at < bytes.length; at += 32) {
      const hash = bytes.subarray(at, at + 32)
      this.#tree.add(hash)
      this.#listed.push(hash.toString('hex'))
    }
  }

  #leftOut({ from, to, subtrees }: Record<string, unknown>): void {
    if (!this.#begins(from, to)) return
    const place = this.#tree.size + 1
    const wrong = Array.isArray(subtrees) ? this.#tree.fill(subtrees as unknown[], to) : 'hashes for the events left out are missing'
    if (wrong !== undefined) this.#broken = `position ${place}: ${wrong}`
    this.#from = this.#tree.size + 1
  }

  /** Says how the current lines differ from their list. The events that are in both, in the same order, divide the rest into gaps. */
  #compare(): void {
    const [listed, lines] = [this.#listed, this.#lines]
    ;[this.#listed, this.#lines] = [[], []]
    if (listed.length === lines.length && listed.every((hash, i) => hash === lines[i]?.leaf)) return
    const indexes = new Map(listed.map((hash, index) => [hash, index]))
    const places = lines.flatMap(({ leaf }, line) => {
      const index = indexes.get(leaf)
      return index === undefined ? [] : [{ index, line }]
    })
    const anchors = rising(places)
    const [inPlace, standing] = [new Set(anchors.map(({ index }) => index)), new Set(anchors.map(({ line }) => line))]
    const moved = new Set<number>()
    for (const { index, line } of places)
      if (!inPlace.has(index) && !moved.has(index)) {
        moved.add(index)
        standing.add(line)
      }
    let [index, line] = [0, 0]
    for (const next of [...anchors, { index: listed.length, line: lines.length }]) {
      const [first, starts] = [index, line]
      const missing = Array.from({ length: next.index - first }, (_, n) => first + n)
      for (const one of missing) if (moved.has(one)) this.differences.add(`position ${this.#from + one}: its event was moved elsewhere`)
      this.#gap(
        missing.filter((one) => !moved.has(one)).map((one) => this.#from + one),
        lines.slice(line, next.line).filter((_, n) => !standing.has(starts + n)),
        this.#from + index - 1,
      )
      ;[index, line] = [next.index + 1, next.line + 1]
    }
  }

  /** Reports positions whose events are missing, and the lines in their place, after the position `after`. */
  #gap(missing: readonly number[], lines: readonly Line[], after: number): void {
    for (const [n, { says }] of lines.slice(0, missing.length).entries()) {
      const position = missing[n] ?? 0
      const other = says === position || !isCount(says) ? '' : `; what stands here says that its position is ${says}`
      this.differences.add(`position ${position}: the event was changed${other}`)
    }
    const [first, last] = [missing[lines.length], missing.at(-1)]
    if (first !== undefined && last !== undefined)
      this.differences.add(
        first === last ? `position ${first}: the event was removed` : `position ${first} to ${last}: the events were removed`,
      )
    const added = lines.length - missing.length
    if (added > 0) this.differences.add(`after position ${last ?? after}: ${added === 1 ? 'a line was' : `${added} lines were`} added`)
  }
}
