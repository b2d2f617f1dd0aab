import { joined } from '../../api/joined.js'

// Checks proofs of RFC 9162 in the page itself. It accepts an answer of the service only if it leads to a known root.

export type Hash = Uint8Array<ArrayBuffer>

const sha256 = async (...parts: Uint8Array[]): Promise<Hash> => new Uint8Array(await crypto.subtle.digest('SHA-256', joined(parts)))

const leafMark = new Uint8Array([0])
const nodeMark = new Uint8Array([1])

/** The leaf hash of an event, from the exact bytes of its text. */
export const leafOf = (text: Uint8Array): Promise<Hash> => sha256(leafMark, text)

const nodeOf = (left: Hash, right: Hash): Promise<Hash> => sha256(nodeMark, left, right)

const isSame = (a: Hash, b: Hash): boolean => a.length === b.length && a.every((byte, i) => byte === b[i])

const isOdd = (n: number): boolean => n % 2 === 1
const half = (n: number): number => Math.floor(n / 2)

/**
 * Whether the hashes lead from a leaf to the root of a tree of this size (section 2.1.3.2). `index` counts from 0.
 *
 * @example await isIncluded(leaf, position - 1, size, hashes, root)
 */
export const isIncluded = async (leaf: Hash, index: number, size: number, hashes: readonly Hash[], root: Hash): Promise<boolean> => {
  if (index >= size) return false
  let [node, place, last] = [leaf, index, size - 1]
  for (const hash of hashes) {
    if (last === 0) return false
    if (isOdd(place) || place === last) {
      node = await nodeOf(hash, node)
      while (!isOdd(place) && place !== 0) [place, last] = [half(place), half(last)]
    } else node = await nodeOf(node, hash)
    ;[place, last] = [half(place), half(last)]
  }
  return last === 0 && isSame(node, root)
}

export type Tree = { size: number; root: Hash }

/** Whether the hashes prove that a tree begins with an older one (section 2.1.4.2), so that the log only grew. */
export const isContinued = async (older: Tree, newer: Tree, hashes: readonly Hash[]): Promise<boolean> => {
  if (older.size > newer.size) return false
  if (older.size === newer.size) return hashes.length === 0 && isSame(older.root, newer.root)
  // The empty log is the beginning of every log.
  if (older.size === 0) return hashes.length === 0
  const isWhole = Number.isInteger(Math.log2(older.size))
  const [first, ...rest] = isWhole ? [older.root, ...hashes] : hashes
  if (!first) return false
  let [place, last] = [older.size - 1, newer.size - 1]
  while (isOdd(place)) [place, last] = [half(place), half(last)]
  let [old, whole] = [first, first]
  for (const hash of rest) {
    if (last === 0) return false
    if (isOdd(place) || place === last) {
      old = await nodeOf(hash, old)
      whole = await nodeOf(hash, whole)
      while (!isOdd(place) && place !== 0) [place, last] = [half(place), half(last)]
    } else whole = await nodeOf(whole, hash)
    ;[place, last] = [half(place), half(last)]
  }
  return last === 0 && isSame(old, older.root) && isSame(whole, newer.root)
}
