import { createHash } from 'node:crypto'

/** The SHA-256 of some bytes and texts (as UTF-8), one after the other: 32 bytes. */
export const sha256 = (...parts: (Uint8Array | string)[]): Buffer => {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}
/** The hash of an event's text in the tree: `sha256(0x00 ‖ text)`, as in RFC 9162. */
export const leafHash = (text: Uint8Array): Buffer => sha256(Buffer.of(0), text)
/** The hash of a node over its two children: `sha256(0x01 ‖ left ‖ right)`, as in RFC 9162. */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right)

/** Bit `level` of a number that may exceed 2^32, the limit of JavaScript's bit operators. */
const bit = (n: number, level: number): boolean => Math.floor(n / 2 ** level) % 2 === 1

/**
 * A Merkle tree that knows only its right edge: the roots of the complete subtrees that make up its size, the largest first. Two
 * neighbours of the same size merge at once, like a carry in a binary addition.
 */
export class Tree {
  size = 0
  readonly #edge: Buffer[] = []

  /** Adds a complete subtree of 2^level leaves; level 0 is one leaf. */
  add(hash: Buffer, level = 0): void {
    let sum = hash
    for (let at = level; bit(this.size, at); at++) sum = nodeHash(this.#edge.pop() ?? Buffer.alloc(0), sum)
    this.#edge.push(sum)
    this.size += 2 ** level
  }

  /**
   * Adds the roots of the fewest complete subtrees up to a size. The positions determine the sizes of these subtrees, so that the author of
   * the export has no choice. Returns the fault of the hashes, if there is one.
   */
  fill(hashes: readonly unknown[], to: number, grown: () => void = () => undefined): string | undefined {
    for (const encoded of hashes) {
      const hash = fromBase64(encoded, 32)
      let level = 0
      while (!bit(this.size, level) && this.size + 2 ** (level + 1) <= to) level++
      if (!hash || this.size + 2 ** level > to) return 'wrong hashes for the events left out'
      this.add(hash, level)
      grown()
    }
    return this.size === to ? undefined : 'hashes for the events left out are missing'
  }

  /** The tree's root now: the edge, folded from its right end. */
  root(): Buffer {
    return this.#edge.length === 0 ? sha256('') : this.#edge.reduceRight((right, left) => nodeHash(left, right))
  }
}

/** Base64 in its one regular form: another text that decodes to the same bytes is refused. */
export const fromBase64 = (text: unknown, length: number): Buffer | undefined => {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}
