import { describe, expect, test } from '@jest/globals'
import { leafHash } from '../../../events/stored/chain.js'
import { MerkleTree } from '../../../src/log/proof/merkle-tree.js'
import { TileOverlay } from '../../../src/log/proof/stored-tree.js'
import { extendsTree, hashChildren, hashLeaf, includes, mth, path, proof } from '../../support/log/rfc9162.js'
import { fc } from '../../support/random/properties.js'

const treeOf = (leaves: readonly Buffer[]): MerkleTree => {
  const tree = MerkleTree.open(new TileOverlay(undefined), () => [], 0)
  for (const leaf of leaves) tree.append(leaf)
  return tree
}
// Texts are compared: the runner walks through buffers byte by byte.
const one = (hash: Buffer): string => hash.toString('hex')
const hex = (hashes: readonly Buffer[]): string[] => hashes.map(one)

/** The vectors that Certificate Transparency's implementations share: eight leaves, their roots, and paths and proofs among them. */
describe('the published vectors', () => {
  const entries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const roots = [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ]
  const paths: [index: number, size: number, hashes: string[]][] = [
    [0, 1, []],
    [0, 2, ['96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7']],
    [1, 2, ['6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d']],
    [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
    [
      1,
      5,
      [
        '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
    [
      0,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      5,
      8,
      [
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
  ]
  const proofs: [from: number, to: number, hashes: string[]][] = [
    [1, 1, []],
    [
      1,
      8,
      [
        '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
      ],
    ],
    [
      2,
      5,
      [
        '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
        'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      ],
    ],
    [
      6,
      8,
      [
        '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
        'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
        'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      ],
    ],
  ]
  const leaves = entries.map((entry) => leafHash(Buffer.from(entry, 'hex')))
  const tree = treeOf(leaves)

  test('the root of each size', () => expect(hex(roots.map((_, size) => tree.rootAt(size)))).toEqual(roots))

  test.each(paths)('the path of leaf %d in %d leaves', (index, size, hashes) =>
    expect(hex(tree.inclusionProof(index, size))).toEqual(hashes),
  )

  test.each(proofs)('the proof that %d leaves begin %d', (from, to, hashes) => expect(hex(tree.consistencyProof(from, to))).toEqual(hashes))

  test('the algorithms that the RFC itself writes out agree with them', () => {
    const all = entries.map((entry) => hashLeaf(Buffer.from(entry, 'hex')))
    expect(hex(roots.map((_, size) => mth(all.slice(0, size))))).toEqual(roots)
    for (const [index, size, hashes] of paths) expect(hex(path(index, all.slice(0, size)))).toEqual(hashes)
    for (const [from, to, hashes] of proofs) expect(hex(proof(from, all.slice(0, to)))).toEqual(hashes)
  })
})

test('the example of RFC 9162, section 2.1.5, node by node', () => {
  const d = Array.from({ length: 7 }, (_, i) => leafHash(`d${i}`))
  const [a, b, c, dd, e, f, j] = d as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer]
  const [g, h, i] = [hashChildren(a, b), hashChildren(c, dd), hashChildren(e, f)]
  const [k, l] = [hashChildren(g, h), hashChildren(i, j)]
  const tree = treeOf(d)
  expect(tree.rootAt(7)).toEqual(hashChildren(k, l))
  expect(tree.inclusionProof(0, 7)).toEqual([b, h, l])
  expect(tree.inclusionProof(3, 7)).toEqual([c, g, l])
  expect(tree.inclusionProof(4, 7)).toEqual([f, j, k])
  expect(tree.inclusionProof(6, 7)).toEqual([i, k])
  expect(tree.consistencyProof(3, 7)).toEqual([c, dd, g, l])
  expect(tree.consistencyProof(4, 7)).toEqual([l])
  expect(tree.consistencyProof(6, 7)).toEqual([i, j, k])
})

describe('against the text of the RFC', () => {
  const leaves = Array.from({ length: 5_000 }, (_, i) => leafHash(`event ${i}`))
  const tree = treeOf(leaves)
  const sizes = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: leaves.length }), fc.constantFrom(64, 4_096, 4_097))

  test('roots of all small sizes, and around each end of a tile', () => {
    for (const size of [...Array(200).keys(), 4_095, 4_096, 4_097, 5_000])
      expect(one(tree.rootAt(size))).toBe(one(mth(leaves.slice(0, size))))
  })

  test('every path and proof of the sizes up to 70', () => {
    for (let size = 1; size <= 70; size++)
      for (let n = 0; n < size; n++) {
        expect(hex(tree.inclusionProof(n, size))).toEqual(hex(path(n, leaves.slice(0, size))))
        expect(hex(tree.consistencyProof(n + 1, size))).toEqual(hex(proof(n + 1, leaves.slice(0, size))))
      }
  })

  test('random paths and proofs, which verify, and not for anything else', () => {
    fc.assert(
      fc.property(sizes, sizes, fc.nat(), (a, b, flip) => {
        const [small, size] = a < b ? [a, b] : [b, a]
        const [index, first, now] = [small - 1, leaves.slice(0, small), leaves.slice(0, size)]
        const hashes = tree.inclusionProof(index, size)
        expect(hex(hashes)).toEqual(hex(path(index, now)))
        const [root, old, leaf] = [tree.rootAt(size), tree.rootAt(small), tree.leaf(index)]
        expect(includes(index, size, leaf, hashes, root)).toBe(true)
        const consistency = tree.consistencyProof(small, size)
        expect(hex(consistency)).toEqual(hex(proof(small, now)))
        expect(extendsTree(small, size, consistency, mth(first), root)).toBe(true)
        const other = Buffer.from(leaf)
        other[flip % 32]! ^= 1 << (flip % 8)
        expect(includes(index, size, other, hashes, root)).toBe(false)
        if (small < size) expect(extendsTree(small, size, consistency, other, root)).toBe(false)
        expect(one(old)).toBe(one(mth(first)))
      }),
      { numRuns: 25 },
    )
  })

  test('the subtrees of a range fold into what the RFC says of it', () => {
    fc.assert(
      fc.property(sizes, sizes, (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a]
        const hashes = tree.subtrees(from, to)
        let at = from
        for (const hash of hashes) {
          let width = 1
          while (at % (width * 2) === 0 && at + width * 2 <= to) width *= 2
          expect(one(hash)).toBe(one(mth(leaves.slice(at, at + width))))
          at += width
        }
        expect(at).toBe(to)
        expect(hashes.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(to - from + 1)))
      }),
      { numRuns: 25 },
    )
  })

  test('a tree opened at any size goes on as the one that was never closed', () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const store = new TileOverlay(undefined)
        const grown = MerkleTree.open(store, () => [], 0)
        for (const leaf of leaves.slice(0, size)) grown.append(leaf)
        const opened = MerkleTree.open(store, (after, limit) => leaves.slice(after, after + limit), size)
        expect(one(opened.rootAt(size))).toBe(one(tree.rootAt(size)))
        for (const leaf of leaves.slice(size, size + 200)) opened.append(leaf)
        expect(one(opened.rootAt(opened.size))).toBe(one(tree.rootAt(opened.size)))
      }),
      { numRuns: 20 },
    )
  })
})
