import type { Request, Response } from 'express'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Call } from './call.js'

type HeldBounds = { heldBodiesMaxBytes: number; heldBodiesPerClientMaxBytes: number }

/** How many bytes will be read of a body that may have so many at most. Packed, or in chunks, it may turn out to have all of them. */
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
 * Bounds the bytes of the bodies that are held in memory: those that come, for which room is kept from the beginning, and those
 * whose request is not answered yet. One client has its share, so that it cannot keep those of others out by sending slowly.
 * Small bodies are not counted, since the number of connections bounds them.
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
   * Keeps room for a body of at most so many bytes until its request is answered. Gives what is called with the bytes that it has
   * turned out to need.
   * @throws Problem 503 where there is no room
   */
  keepRoom(call: Call, res: Response, maxBytes: number): (bytes: number) => void {
    const expected = expectedBytes(call.incoming, maxBytes)
    if (expected <= limits.smallBodyMaxBytes) return () => undefined
    const { client } = call
    this.#refuseTooMuch(client, expected)
    let held = 0
    const hold = (bytes: number) => {
      this.#count(client, bytes - held)
      held = bytes
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
