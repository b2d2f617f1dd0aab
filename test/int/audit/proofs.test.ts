import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import * as z from 'zod'
import { leafHash } from '../../../events/stored/chain.js'
import { originOf, readTlogCheckpoint } from '../../../src/audit/tlog-checkpoint.js'
import { readVerifierKey } from '../../../src/audit/note-key.js'
import { judge, readNote } from '../../../src/audit/note.js'
import { extendsTree, includes, mth } from '../../support/log/rfc9162.js'
import { send, startTestService } from '../../support/service.js'

let started: Awaited<ReturnType<typeof startTestService>>
const get = (path: string, headers: Record<string, string> = {}) => send(started.url, 'GET', path, undefined, headers)
const hash = z.string().transform((text) => Buffer.from(text, 'base64'))
const inclusion = z.object({ position: z.int(), size: z.int(), leaf: hash, root: hash, hashes: z.array(hash) })
const consistency = z.object({ from: z.int(), to: z.int(), from_root: hash, to_root: hash, hashes: z.array(hash) })

let leaves: Buffer[] = []
beforeAll(async () => {
  started = await startTestService()
  for (let n = 0; n < 70; n++) await send(started.url, 'POST', '/api/projects', { project: { name: `p${n}` } })
  leaves = (await started.service.log.readAll(0, 1_000)).map(({ text }) => leafHash(text))
})
afterAll(() => started.stop())

const checkpoint = async (note: unknown) => {
  const { body: vkey } = await get('/api/log/key')
  const read = readNote(String(note))!
  expect(judge(read, readVerifierKey(String(vkey).trim())!)).toBe('signed')
  return readTlogCheckpoint(read.text)!
}

describe('over HTTP', () => {
  test.each([undefined, 0, 1, 64, 71])('a checkpoint is a signed note over the log of size %s', async (size) => {
    const { status, type, body } = await get(`/api/log/checkpoint${size === undefined ? '' : `?size=${size}`}`)
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8'])
    const of = size ?? leaves.length
    const origin = originOf(started.service.log.id)
    expect(await checkpoint(body)).toEqual({ origin, size: of, root: mth(leaves.slice(0, of)) })
  })

  test('every event is proven to be in the log of now, and in one of its time', async () => {
    for (const position of [1, 2, 64, 65, leaves.length])
      for (const size of [undefined, position]) {
        const { body } = await get(`/log/proofs/inclusion?position=${position}${size === undefined ? '' : `&size=${size}`}`)
        const proof = inclusion.parse(body)
        expect(proof).toMatchObject({ position, size: size ?? leaves.length, leaf: leaves[position - 1] })
        expect(proof.root).toEqual(mth(leaves.slice(0, proof.size)))
        expect(includes(position - 1, proof.size, proof.leaf, proof.hashes, proof.root)).toBe(true)
      }
  })

  test('as text a proof stands for itself: index, hashes and the signed checkpoint', async () => {
    const { type, headers, body } = await get('/api/log/proofs/inclusion?position=3&size=66', { accept: 'text/plain' })
    expect([type, headers.get('vary')]).toEqual(['text/plain; charset=utf-8', 'Accept'])
    const [head = '', index = '', ...rest] = String(body).split('\n')
    const hashes = rest.slice(0, rest.indexOf('')).map((line) => Buffer.from(line, 'base64'))
    const { size, root } = await checkpoint(rest.slice(rest.indexOf('') + 1).join('\n'))
    expect([head, index, size]).toEqual(['c2sp.org/tlog-proof@v1', 'index 2', 66])
    expect(includes(2, size, leaves[2]!, hashes, root)).toBe(true)
  })

  test('the log is proven to have grown only', async () => {
    for (const [from, to] of [
      [1, 71],
      [64, 65],
      [70, undefined],
      [71, 71],
      [0, 5],
    ] as const) {
      const { body } = await get(`/api/log/proofs/consistency?from=${from}${to === undefined ? '' : `&to=${to}`}`)
      const proof = consistency.parse(body)
      expect(proof).toMatchObject({ from, to: to ?? leaves.length, from_root: mth(leaves.slice(0, from)) })
      expect(proof.to_root).toEqual(mth(leaves.slice(0, proof.to)))
      if (from > 0) expect(extendsTree(from, proof.to, proof.hashes, proof.from_root, proof.to_root)).toBe(true)
    }
  })

  test.each([
    ['checkpoint?size=100000', 'size must be a whole number from 0 to'],
    ['checkpoint?size=-1', 'the query parameter size must be a whole number'],
    ['checkpoint?size=1&size=2', 'must be given once'],
    ['proofs/inclusion', 'the query parameter position is missing'],
    ['proofs/inclusion?position=0', 'position must be a whole number from 1 to'],
    ['proofs/inclusion?position=5&size=4', 'position must be a whole number from 1 to 4'],
    ['proofs/inclusion?position=1&size=0', 'size must be a whole number from 1'],
    ['proofs/inclusion?position=1.5', 'the query parameter position must be'],
    ['proofs/inclusion?position=9999999999999999', 'position must be a whole number'],
    ['proofs/consistency?to=3', 'the query parameter from is missing'],
    ['proofs/consistency?from=4&to=3', 'from must be a whole number from 0 to 3'],
  ])('GET /log/%s is refused', async (path, detail) => {
    const { status, body } = await get(`/api/log/${path}`)
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ code: 'wrong_arguments', detail: expect.stringContaining(detail) as unknown }),
    ])
  })
})
