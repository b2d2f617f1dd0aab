import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate } from './certificate.js'
import { listen, type Listening } from './proxy.js'

const speaksTls = 0x800
/** The capabilities: protocol 4.1, secure authentication and its plugins, and a database in the login. */
const speaks = 0x0008_a208

/** A packet of MySQL: three bytes with its length, one byte with its number, and its content. */
export const packet = (number: number, ...parts: readonly (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))
  const head = Buffer.alloc(4)
  head.writeUIntLE(body.length, 0, 3)
  head.writeUInt8(number, 3)
  return Buffer.concat([head, body])
}

const short = (value: number): Buffer => Buffer.from([value & 0xff, (value >> 8) & 0xff])

/** The first packet of a server, which offers TLS or does not. */
export const greeting = (isSecured: boolean): Buffer => {
  const flags = speaks | (isSecured ? speaksTls : 0)
  const salt = ['12345678\0', '123456789012\0'] as const
  return packet(
    0,
    ...['\x0a8.0.36\0', Buffer.from([1, 0, 0, 0]), salt[0], short(flags), '\x2d', short(2), short(flags >> 16), '\x15'],
    ...[Buffer.alloc(10), salt[1], 'mysql_native_password\0'],
  )
}

const ok = (number: number): Buffer => packet(number, '\0\0\0', short(2), short(0))

/** The refusal of a login, as the answer to it or instead of a greeting. */
export const refusal = (number: number, code = 1045, says = '#28000Access denied for everybody'): Buffer =>
  packet(number, '\xff', short(code), says)

/** Reads the packets of one socket, in order. */
const hear = (socket: Socket, onPacket: (number: number, body: Buffer) => void): void => {
  let held: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    held = Buffer.concat([held, bytes])
    while (held.length >= 4 && held.length >= 4 + held.readUIntLE(0, 3)) {
      const end = 4 + held.readUIntLE(0, 3)
      const [number, body] = [held.readUInt8(3), held.subarray(4, end)]
      held = held.subarray(end)
      onPacket(number, body)
    }
  })
}

/** A server with MySQL's protocol that starts TLS with a certificate, and then refuses every login, or answers it as a test says. */
export const securedMysql = (
  { key, cert }: Certificate,
  onLogin: (secured: TLSSocket) => void = (secured) => void secured.write(refusal(3)),
): Promise<Listening> =>
  listen((socket) => {
    socket.write(greeting(true))
    socket.once('data', (request: Buffer) => {
      // The first bytes of TLS may arrive together with the request for it.
      socket.pause()
      const rest = request.subarray(4 + request.readUIntLE(0, 3))
      if (rest.length > 0) socket.unshift(rest)
      const secured = new TLSSocket(socket, { isServer: true, key: readFileSync(key), cert: readFileSync(cert) })
      secured.on('error', () => undefined)
      secured.once('data', () => onLogin(secured))
    })
  })

/** A column with the name x, of texts or of the type with a number. */
export const column = (number: number, type = 253): Buffer =>
  packet(number, '\x03def\0\0\0\x01x\x01x\x0c', short(45), Buffer.from([0xff, 0xff, 0, 0, type]), short(0), '\0', short(0))

/** The end of the columns, or of the rows. */
export const endOfAnswer = (number: number): Buffer => packet(number, '\xfe', short(0), short(2))

/** An answer without rows, before another answer. */
export const moreAnswers = (number: number): Buffer => packet(number, '\0\0\0', short(2 | 8), short(0))

/** The beginning of an answer with one text column. */
export const oneColumn = Buffer.concat([packet(1, '\x01'), column(2), endOfAnswer(3)])

const acceptStatement = (socket: Socket): void => void socket.write(ok(1))

/** Says that the session has the zone UTC. */
const inUtc = (socket: Socket): void => void socket.write(Buffer.concat([oneColumn, packet(4, '\x011'), endOfAnswer(5)]))

/**
 * A server with MySQL's protocol that accepts every login. It answers each SELECT by `answer` only, and other statements with success or as
 * a test says.
 */
export const mysqlThat = (answer: (socket: Socket) => void, otherwise: (socket: Socket) => void = acceptStatement): Promise<Listening> =>
  listen((socket) => {
    socket.write(greeting(false))
    let isIn = false
    hear(socket, (number, body) => {
      if (!isIn) {
        isIn = true
        socket.write(ok(number + 1))
        return
      }
      const statement = body.subarray(1).toString()
      if (statement.includes('unix_timestamp')) inUtc(socket)
      else if (/^\s*SELECT/.test(statement)) answer(socket)
      else if (body[0] === 3) otherwise(socket)
    })
  })
