import * as z from 'zod'
import type { Heads } from '../../audit/heads.js'
import { tlogProof } from '../../audit/tlog-proof.js'
import type { Log } from '../../log/contract/log.js'
import { neededPosition, whole } from '../protocol/parameters.js'
import { json, text } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'

const hash = z.string().describe('32 bytes in base64')
const size = z.int().min(0).describe('how many events the log has there: the position of the last of them')

const inclusion = z
  .object({ position: z.int(), size, leaf: hash.describe('sha256(0x00 ‖ text) of the event'), root: hash, hashes: z.array(hash) })
  .meta({ id: 'InclusionProof' })
const consistency = z
  .object({ from: size, to: size, from_root: hash, to_root: hash, hashes: z.array(hash) })
  .meta({ id: 'ConsistencyProof' })

const base64 = (bytes: Buffer): string => bytes.toString('base64')

const plain = (said: string) => text('text/plain', said)

/** The routes for proofs of the log: signed heads, the key that verifies them, and proofs by RFC 9162. */
export const proofRoutes = (log: Log, heads: Heads): Route[] => {
  /** The requested size; the newest by default. */
  const sizeOf = async (asked: number | undefined) => asked ?? (await log.head()).position

  return [
    route({
      method: 'get',
      path: '/log/checkpoint',
      summary: 'The signed head of the log, now or when it had `size` events: a checkpoint as a signed note (C2SP)',
      query: { size: whole(size.optional()) },
      gives: ['text/plain'],
      answers: { 200: null },
      async handle({ query }) {
        return plain(await heads.at(await sizeOf(query.size)))
      },
    }),
    route({
      method: 'get',
      path: '/log/key',
      summary: 'The public key that signed heads are checked with, as a verifier key (C2SP): name+id+base64',
      gives: ['text/plain'],
      answers: { 200: null },
      async handle() {
        return plain(`${heads.vkey}\n`)
      },
    }),
    route({
      method: 'get',
      path: '/log/proofs/inclusion',
      summary: 'Proves that an event is in the log of a size; with Accept: text/plain as a proof for offline use (C2SP tlog-proof)',
      query: { position: neededPosition(z.int().min(1)), size: whole(size.optional()) },
      gives: ['text/plain'],
      answers: { 200: inclusion },
      async handle({ query: { position, size }, call }) {
        const of = await sizeOf(size)
        const { leaf, hashes } = await log.inclusionProof(position, of)
        const headers = { Vary: 'Accept' }
        if (call.accepts(['application/json', 'text/plain']) === 'text/plain')
          return { ...plain(tlogProof(position - 1, hashes, await heads.at(of))), headers }
        const root = base64(await log.rootAt(of))
        return json({ position, size: of, leaf: base64(leaf), root, hashes: hashes.map(base64) }, { headers })
      },
    }),
    route({
      method: 'get',
      path: '/log/proofs/consistency',
      summary: 'Proves that the log of size `to` begins with the log of size `from`: it only grew',
      query: { from: neededPosition(size), to: whole(size.optional()) },
      answers: { 200: consistency },
      async handle({ query }) {
        const { from } = query
        const to = await sizeOf(query.to)
        const hashes = await log.consistencyProof(from, to)
        const [fromRoot, toRoot] = [await log.rootAt(from), await log.rootAt(to)]
        return json({ from, to, from_root: base64(fromRoot), to_root: base64(toRoot), hashes: hashes.map(base64) })
      },
    }),
  ]
}
