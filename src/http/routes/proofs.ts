import type { Request, Response } from 'express'
import { z } from 'zod'
import type { Heads } from '../../audit/heads.js'
import { tlogProof } from '../../audit/tlog-proof.js'
import { wrong } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import type { Route } from '../protocol/route.js'
import { wholeNumber } from '../protocol/whole-number.js'

const hash = z.string().describe('32 bytes in base64')
const size = z.int().min(0).describe('how many events the log has there: the position of the last of them')

const inclusion = z
  .object({ position: z.int(), size, leaf: hash.describe('sha256(0x00 ‖ text) of the event'), root: hash, hashes: z.array(hash) })
  .meta({ id: 'InclusionProof' })
const consistency = z
  .object({ from: size, to: size, from_root: hash, to_root: hash, hashes: z.array(hash) })
  .meta({ id: 'ConsistencyProof' })

const needed = (req: Request, name: string): number => {
  const value = wholeNumber(req, name)
  if (value === undefined) throw wrong(`the query parameter ${name} is missing`, `Add ?${name}=<position>.`)
  return value
}

const base64 = (bytes: Buffer): string => bytes.toString('base64')

const sendText = (res: Response, text: string): void => void res.type('text/plain; charset=utf-8').send(text)

/** What proves the log to somebody else: signed heads, the key that they are checked with, and proofs after RFC 9162. */
export const proofRoutes = (log: Log, heads: Heads): Route[] => {
  /** The newest size, unless one was asked for. */
  const sizeOf = async (req: Request, name: string) => wholeNumber(req, name) ?? (await log.head()).position

  return [
    {
      method: 'get',
      path: '/log/checkpoint',
      summary: 'The signed head of the log, now or when it had `size` events: a checkpoint as a signed note (C2SP)',
      query: z.object({ size: size.optional() }),
      gives: ['text/plain'],
      answers: { 200: null },
      async handle(req, res) {
        sendText(res, await heads.at(await sizeOf(req, 'size')))
      },
    },
    {
      method: 'get',
      path: '/log/key',
      summary: 'The public key that signed heads are checked with, as a verifier key (C2SP): name+id+base64',
      gives: ['text/plain'],
      answers: { 200: null },
      async handle(_req, res) {
        sendText(res, `${heads.vkey}\n`)
      },
    },
    {
      method: 'get',
      path: '/log/proofs/inclusion',
      summary: 'Proves that an event is in the log of a size; with Accept: text/plain as a proof for offline use (C2SP tlog-proof)',
      query: z.object({ position: z.int().min(1), size: size.optional() }),
      gives: ['text/plain'],
      answers: { 200: inclusion },
      async handle(req, res) {
        const position = needed(req, 'position')
        const of = await sizeOf(req, 'size')
        const { leaf, hashes } = await log.inclusionProof(position, of)
        res.vary('Accept')
        if (req.accepts(['application/json', 'text/plain']) === 'text/plain')
          sendText(res, tlogProof(position - 1, hashes, await heads.at(of)))
        else res.json({ position, size: of, leaf: base64(leaf), root: base64(await log.rootAt(of)), hashes: hashes.map(base64) })
      },
    },
    {
      method: 'get',
      path: '/log/proofs/consistency',
      summary: 'Proves that the log of size `to` begins with the log of size `from`: it only grew',
      query: z.object({ from: size, to: size.optional() }),
      answers: { 200: consistency },
      async handle(req, res) {
        const from = needed(req, 'from')
        const to = await sizeOf(req, 'to')
        const hashes = await log.consistencyProof(from, to)
        const [fromRoot, toRoot] = [await log.rootAt(from), await log.rootAt(to)]
        res.json({ from, to, from_root: base64(fromRoot), to_root: base64(toRoot), hashes: hashes.map(base64) })
      },
    },
  ]
}
