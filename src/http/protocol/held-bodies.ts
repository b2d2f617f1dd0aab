import type { Request, Response } from 'express'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Call } from './call.js'

type HeldBounds = { heldBodiesMaxBytes: number; heldBodiesPerClientMaxBytes: number }

/** How many bytes a body may take, at most `maxBytes`. A compressed or chunked body does not tell its size, so it counts in full. */
const expectedBytes = (req: Request, maxBytes: number): number => {
  const length = Number(req.get('content-length') ?? Infinity)
  const isPacked = (req.get('content-encoding') ?? 'identity') !== 'identity'
  return isPacked ? maxBytes : Math.min(length, maxBytes)
}

const refuse = (detail: string, limit: keyof HeldBounds): Problem =>
  new Problem('busy', 'Too many bodies', `${detail} (${limit})`, {
    hint: 'Send fewer large bodies at once, or smaller ones; those of a few kilobytes are taken.',
    retryAfterSeconds: 1,
  })

/**
 * Limits the bytes of the bodies that are held in memory, from their first byte until their request is answered. Each client has a
 * limit of its own, so that it cannot block others by sending slowly. Small bodies are not counted: the limit on connections bounds them.
 *
 * @example
 * const room = new HeldBodies().keepRoom(call, response, maxBytes)
 * room(body.length)
 */
export class HeldBodies {
  #bytes = 0
  readonly #byClient = new Map<string, number>()

  constructor(private readonly bounds: HeldBounds = limits) {}

  /**
   * Reserves memory for a body of at most `maxBytes` until its request is answered. Returns a function that takes the actual size.
   * @throws Problem 503 when there is no room
   */
  keepRoom(call: Call, res: Response, maxBytes: number): (bytes: number) => void {
    const expected = expectedBytes(call.incoming, maxBytes)
    if (expected <= limits.smallBodyMaxBytes) return () => undefined
    const { client } = call
    this.#refuseTooMuch(client, expected)
    let held = 0
    const hold = (bytes: number) => {
      // The body of a client that has left may still be unpacked, and nothing would release it any more.
      const now = res.closed ? 0 : bytes
      this.#count(client, now - held)
      held = now
    }
    hold(expected)
    res.once('close', () => hold(0))
    return hold
  }

  #refuseTooMuch(client: string, bytes: number): void {
    const { heldBodiesMaxBytes, heldBodiesPerClientMaxBytes } = this.bounds
    if ((this.#byClient.get(client) ?? 0) + bytes > heldBodiesPerClientMaxBytes)
      throw refuse(`bodies of this client take ${heldBodiesPerClientMaxBytes} bytes already`, 'heldBodiesPerClientMaxBytes')
    if (this.#bytes + bytes > heldBodiesMaxBytes)
      throw refuse(`bodies of all clients take ${heldBodiesMaxBytes} bytes already`, 'heldBodiesMaxBytes')
  }

  #count(client: string, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#byClient.get(client) ?? 0) + bytes
    if (held === 0) this.#byClient.delete(client)
    else this.#byClient.set(client, held)
  }
}
