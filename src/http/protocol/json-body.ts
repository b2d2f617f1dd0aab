import { isUtf8 } from 'node:buffer'
import express, { type Request, type RequestHandler, type Response } from 'express'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Call } from './call.js'
import { countJson, parseJson, RoundedNumber } from './parse-json.js'
import type { BodySize } from './route.js'

type HeldBounds = { heldBodiesMaxBytes: number; heldBodiesPerClientMaxBytes: number }

/** How many bytes a body may take, at most `maxBytes`. A compressed or chunked body does not tell its size, so it counts in full. */
const expectedBytes = (req: Request, maxBytes: number): number => {
  const length = Number(req.get('content-length') ?? Infinity)
  const isPacked = (req.get('content-encoding') ?? 'identity') !== 'identity'
  return isPacked ? maxBytes : Math.min(length, maxBytes)
}

const noRoom = (detail: string, limit: keyof HeldBounds): Problem =>
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
      throw noRoom(`bodies of this client take ${heldBodiesPerClientMaxBytes} bytes already`, 'heldBodiesPerClientMaxBytes')
    if (this.#bytes + bytes > heldBodiesMaxBytes)
      throw noRoom(`bodies of all clients take ${heldBodiesMaxBytes} bytes already`, 'heldBodiesMaxBytes')
  }

  #count(client: string, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#byClient.get(client) ?? 0) + bytes
    if (held === 0) this.#byClient.delete(client)
    else this.#byClient.set(client, held)
  }
}

/**
 * The limits of a body. `values` counts the members and items of objects and arrays at every level. `rounds` allows whole numbers that
 * JavaScript rounds.
 */
type Bounds = { bytes: number; values: number; rounds?: true }

const bounds: Readonly<Record<BodySize, Bounds>> = {
  small: { bytes: limits.smallBodyMaxBytes, values: limits.smallBodyMaxValues },
  resource: { bytes: limits.resourceBodyMaxBytes, values: limits.resourceBodyMaxValues },
  rows: { bytes: limits.bodyMaxBytes, values: limits.bodyMaxValues },
}

/** Other services sign their messages, and nobody can change the numbers in them. */
const signed: Bounds = { ...bounds.resource, rounds: true }

/** An error shows this many digits of a number. */
const shownDigits = 40

const refuse = (detail: string, hint?: string): Problem => new Problem('too_large', 'Too large', detail, hint === undefined ? {} : { hint })

const clipped = (digits: string): string => (digits.length > shownDigits ? `${digits.slice(0, shownDigits)}…` : digits)

/**
 * Parses a JSON text if it is within the bounds. @throws Problem when parsing would take too long, or would round a number; SyntaxError
 * when it is not JSON
 */
const parsedWithin = async (bytes: Uint8Array, most: Bounds): Promise<unknown> => {
  const { values, depth, keys, hasLongNumber } = countJson(bytes)
  if (depth > limits.bodyMaxDepth)
    throw new Problem('wrong_arguments', 'Wrong arguments', `the body is nested deeper than ${limits.bodyMaxDepth} levels`)
  if (keys > limits.objectMaxKeys)
    throw refuse(`an object in the body has ${keys} keys; at most ${limits.objectMaxKeys} are taken`, 'Send a list of objects instead.')
  if (values > most.values) throw refuse(`the body holds ${values} values; here at most ${most.values} are taken`)
  try {
    return await parseJson(bytes, { isExact: hasLongNumber && most.rounds !== true })
  } catch (error) {
    if (!(error instanceof RoundedNumber)) throw error
    throw wrong(`the number ${clipped(error.written)} cannot be kept exactly`, 'Send it as a text, in quotes.')
  }
}

/** Parses a text of rows inside a body, with the limits of a body. @throws Problem, or SyntaxError when it is not JSON */
export const parseRowsText = (text: string): Promise<unknown> => parsedWithin(Buffer.from(text), bounds.rows)

/** Parses the bytes of a signed body, with the limits of a resource's. @throws Problem when it is not JSON */
export const parseJsonBody = (bytes: Buffer): Promise<unknown> => parsed(inUtf8(bytes, 'utf-8'), signed)

/** The media type as nearly all clients write it, which needs no parsing. */
const plainJson = 'application/json'

const isJson = (req: Request): boolean => {
  const { 'content-type': type, 'content-length': length } = req.headers
  return (type === plainJson && length !== undefined) || Boolean(req.is(plainJson))
}

const charsetOf = (req: Request): string =>
  req.headers['content-type'] === plainJson ? 'utf-8' : charsetIn(req.headers['content-type'] ?? '')

const charsetIn = (type: string): string => /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]?.toLowerCase() ?? 'utf-8'

/** The bytes of a body in UTF-8, without a byte order mark. */
const inUtf8 = (bytes: Buffer, charset: string): Uint8Array => {
  if (charset === 'utf-8') {
    if (!isUtf8(bytes)) throw new Problem('bad_json', 'Bad Request', 'the body is not UTF-8')
    return bytes.subarray(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)
  }
  try {
    if (charset.startsWith('utf-')) return Buffer.from(new TextDecoder(charset, { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof TypeError) throw new Problem('bad_json', 'Bad Request', `the body is not ${charset.toUpperCase()}`)
  }
  throw new Problem('wrong_media_type', 'Unsupported media type', `unsupported charset "${charset.toUpperCase()}"`, {
    hint: 'Send UTF-8 JSON.',
  })
}

const parsed = async (bytes: Uint8Array, most: Bounds): Promise<unknown> => {
  try {
    return await parsedWithin(bytes, most)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // The text may hold a secret, so the error names only the place.
    throw new Problem('bad_json', 'Bad Request', `the body is ${error.message}`)
  }
}

/** A reader that gives the decompressed bytes of a body. Its type is known before. */
const readerOf = ({ bytes }: Bounds): RequestHandler => express.raw({ limit: bytes, type: () => true })

/** One reader for each size. */
const readers: Readonly<Record<BodySize, RequestHandler>> = {
  small: readerOf(bounds.small),
  resource: readerOf(bounds.resource),
  rows: readerOf(bounds.rows),
}

/** Whether a body is short, tells its length and is not compressed. Most are. */
const isShort = ({ headers }: Request): boolean =>
  Number(headers['content-length'] ?? Infinity) <= limits.smallBodyMaxBytes && headers['content-encoding'] === undefined

/** Reads a short body without the reader's checks, which Node has made: it ends a request whose body is not as long as was told. */
const shortBytes = (req: Request): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    req.on('data', (piece: Buffer) => pieces.push(piece))
    req.once('end', () => resolve(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)))
    req.once('error', () => reject(wrong('the body was cut off')))
  })

const bytesIn = async (req: Request, res: Response, size: BodySize): Promise<Buffer | undefined> => {
  if (isShort(req)) return shortBytes(req)
  const error = await new Promise<Error | undefined>((resolve) => {
    void readers[size](req, res, (failure?: unknown) => resolve(failure as Error | undefined))
  })
  if (error !== undefined) throw error
  const body: unknown = req.body
  return body instanceof Buffer ? body : undefined
}

/**
 * Reads the JSON body of a call; undefined without a body. Its values are counted before it is parsed, and a body over the limits
 * of its size is refused. A large one is parsed in several turns of the event loop. `bodies` limits the memory of all bodies.
 *
 * @example call.json = await readJsonBody(call, response, 'resource', bodies)
 */
export const readJsonBody = async (call: Call, res: Response, size: BodySize, bodies: HeldBodies): Promise<unknown> => {
  const req = call.incoming
  if (!isJson(req)) return undefined
  const most = bounds[size]
  const room = bodies.keepRoom(call, res, most.bytes)
  const body = await bytesIn(req, res, size)
  if (body === undefined) return undefined
  room(body.length)
  const bytes = inUtf8(body, charsetOf(req))
  // Some clients send an empty body where they mean an empty object.
  return bytes.length === 0 ? {} : parsed(bytes, most)
}
