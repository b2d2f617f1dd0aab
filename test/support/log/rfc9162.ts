import { createHash } from 'node:crypto'

// Written only from the text of RFC 9162, section 2.1: slow, but easy to compare with the text.

const sha256 = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export const hashLeaf = (entry: Uint8Array): Buffer => sha256(Buffer.of(0), entry)
export const hashChildren = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right)

/** "Let k be the largest power of two smaller than n (i.e., k < n <= 2k)." */
const split = (n: number): number => {
  let k = 1
  while (2 * k < n) k *= 2
  return k
}

/** 2.1.1, MTH: here of leaf hashes. */
export const mth = (leaves: readonly Buffer[]): Buffer => {
  const [first] = leaves
  if (!first) return sha256()
  if (leaves.length === 1) return first
  const k = split(leaves.length)
  return hashChildren(mth(leaves.slice(0, k)), mth(leaves.slice(k)))
}

/** 2.1.3.1, PATH. */
export const path = (m: number, leaves: readonly Buffer[]): Buffer[] => {
  if (leaves.length === 1) return []
  const k = split(leaves.length)
  return m < k ? [...path(m, leaves.slice(0, k)), mth(leaves.slice(k))] : [...path(m - k, leaves.slice(k)), mth(leaves.slice(0, k))]
}

/** 2.1.4.1, SUBPROOF. */
const subproof = (m: number, leaves: readonly Buffer[], known: boolean): Buffer[] => {
  const n = leaves.length
  if (m === n) return known ? [] : [mth(leaves)]
  const k = split(n)
  return m <= k
    ? [...subproof(m, leaves.slice(0, k), known), mth(leaves.slice(k))]
    : [...subproof(m - k, leaves.slice(k), false), mth(leaves.slice(0, k))]
}

/** 2.1.4.1, PROOF. */
export const proof = (m: number, leaves: readonly Buffer[]): Buffer[] => subproof(m, leaves, true)

/** 2.1.3.2: whether the path leads from the leaf to the root. */
export const includes = (index: number, size: number, leaf: Buffer, hashes: readonly Buffer[], root: Buffer): boolean => {
  if (index >= size) return false
  let fn = index
  let sn = size - 1
  let r = leaf
  for (const p of hashes) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      r = hashChildren(p, r)
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2)
        sn = Math.floor(sn / 2)
      }
    } else r = hashChildren(r, p)
    fn = Math.floor(fn / 2)
    sn = Math.floor(sn / 2)
  }
  return sn === 0 && r.equals(root)
}

/** 2.1.4.2: whether the second tree begins with the first. */
export const extendsTree = (first: number, second: number, hashes: readonly Buffer[], firstRoot: Buffer, secondRoot: Buffer): boolean => {
  if (first === second) return hashes.length === 0 && firstRoot.equals(secondRoot)
  if (hashes.length === 0) return false
  const list = Number.isInteger(Math.log2(first)) ? [firstRoot, ...hashes] : [...hashes]
  let fn = first - 1
  let sn = second - 1
  while (fn % 2 === 1) {
    fn = Math.floor(fn / 2)
    sn = Math.floor(sn / 2)
  }
  let fr = list[0]!
  let sr = list[0]!
  for (const c of list.slice(1)) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      fr = hashChildren(c, fr)
      sr = hashChildren(c, sr)
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2)
        sn = Math.floor(sn / 2)
      }
    } else sr = hashChildren(sr, c)
    fn = Math.floor(fn / 2)
    sn = Math.floor(sn / 2)
  }
  return sn === 0 && fr.equals(firstRoot) && sr.equals(secondRoot)
}
