import type { Request } from 'express'
import { Problem, wrong } from '../../basics/errors.js'

type Bounds = { maxBytes: number; timeoutMs: number }

const tooLarge = (maxBytes: number): Problem =>
  new Problem('too_large', 'Too large', `the body has more than ${maxBytes} bytes`, { hint: 'Send a shorter message.' })

/**
 * Reads the bytes of a body as they were sent, for a request that is signed over them. A body that is larger, slower or packed is
 * refused, and no more of it is read.
 *
 * @example const body = await readRawBody(call.incoming, { maxBytes: 262_144, timeoutMs: 10_000 })
 * @throws Problem too_large, wrong_media_type, wrong_arguments
 */
export const readRawBody = (request: Request, { maxBytes, timeoutMs }: Bounds): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = request.headers
    if (encoding !== 'identity') {
      reject(
        new Problem('wrong_media_type', 'Unsupported media type', `the body is packed (${encoding.slice(0, 20)})`, {
          hint: 'Send it as it is.',
        }),
      )
      return
    }
    if (Number(length) > maxBytes) {
      reject(tooLarge(maxBytes))
      return
    }
    const pieces: Buffer[] = []
    let bytes = 0
    const settle = (tell: () => void) => {
      clearTimeout(late)
      request.off('data', take).off('end', whole).off('error', cut).off('close', cut)
      request.pause()
      tell()
    }
    const take = (piece: Buffer) => {
      bytes += piece.length
      if (bytes > maxBytes) settle(() => reject(tooLarge(maxBytes)))
      else pieces.push(piece)
    }
    const whole = () => settle(() => resolve(Buffer.concat(pieces)))
    const cut = () => settle(() => reject(wrong('the body was cut off')))
    const late = setTimeout(() => settle(() => reject(wrong(`the body did not arrive within ${timeoutMs} ms`))), timeoutMs)
    request.on('data', take).once('end', whole).once('error', cut).once('close', cut)
  })
