import type { Socket } from 'node:net'
import { listen, type Listening } from './proxy.js'

const message = (type: string, ...parts: readonly (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const numbers = (size: 2 | 4, ...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(size * values.length)
  values.forEach((value, i) => bytes.writeIntBE(value, i * size, size))
  return bytes
}

const ready = message('Z', 'T')
const loggedIn = Buffer.concat([message('R', numbers(4, 0)), message('K', numbers(4, 1, 2)), ready])
/** One column, of text. */
const described = Buffer.concat([
  ...[message('1'), message('2')],
  message('T', numbers(2, 1), 'x\0', numbers(4, 0), numbers(2, 0), numbers(4, 25), numbers(2, -1), numbers(4, -1), numbers(2, 0)),
])

/** A row of one text. */
export const row = (text: string): Buffer => message('D', numbers(2, 1), numbers(4, text.length), text)

/** The declared length of a message, and the bytes after it. The first message of a client has no type letter. */
const lengthOf = (bytes: Buffer, isFirst: boolean): number | undefined => {
  const head = isFirst ? 0 : 1
  return bytes.length < head + 4 ? undefined : head + bytes.readInt32BE(head)
}

const refused = message('E', 'SERROR\0VERROR\0C22023\0Minvalid value\0\0')

/**
 * A server with PostgreSQL's protocol that accepts every login, and answers each statement with parameters by `answer` only. Others succeed,
 * except for those that `refuses` names.
 */
export const floodsWith = (answer: (socket: Socket) => void, refuses: (statement: string) => boolean = () => false): Promise<Listening> =>
  listen((socket) => {
    let [held, isFirst] = [Buffer.alloc(0), true]
    socket.on('data', (bytes) => {
      held = Buffer.concat([held, bytes])
      for (;;) {
        const length = lengthOf(held, isFirst)
        if (length === undefined || held.length < length) return
        const type = isFirst ? '' : String.fromCharCode(held[0] ?? 0)
        const statement = held.subarray(5, length - 1).toString()
        held = held.subarray(length)
        if (isFirst) socket.write(loggedIn)
        isFirst = false
        if (type === 'Q') socket.write(Buffer.concat([refuses(statement) ? refused : message('C', 'SET\0'), ready]))
        if (type === 'P') {
          socket.write(described)
          answer(socket)
        }
      }
    })
  })

/** Writes the same bytes repeatedly, at the speed of the reader. */
export const repeatedly =
  (bytes: Buffer, times = Infinity) =>
  (socket: Socket) => {
    let left = times
    const more = () => {
      while (left-- > 0 && !socket.destroyed) if (!socket.write(bytes)) return
    }
    socket.on('drain', more)
    more()
  }

/** A row that claims to have five values, and has none. */
export const brokenRow = message('D', numbers(2, 5))

/** A server with PostgreSQL's protocol that asks for a login by the method with this number. `hear` gets each answer. */
export const asksForLogin = (method: number, hear: (answer: Buffer) => void = () => undefined): Promise<Listening> =>
  listen((socket) => {
    socket.once('data', () => {
      socket.write(message('R', numbers(4, method)))
      socket.on('data', hear)
    })
  })

/** A server with PostgreSQL's protocol that asks for the password in clear, and repeats it in its refusal. `hear` gets each password. */
export const repeatsPassword = (hear: (password: string) => void): Promise<Listening> =>
  listen((socket) => {
    socket.once('data', () => {
      socket.write(message('R', numbers(4, 3)))
      socket.once('data', (bytes: Buffer) => {
        const password = bytes.subarray(5, -1).toString()
        hear(password)
        socket.end(message('E', `SFATAL\0VFATAL\0C28P01\0Mthe password ${password} is wrong\0\0`))
      })
    })
  })

/** A server with PostgreSQL's protocol that refuses each login with this code and message. */
export const refusesLogin = (code: string, says: string): Promise<Listening> =>
  listen((socket) => {
    socket.once('data', () => socket.end(message('E', `SFATAL\0VFATAL\0C${code}\0M${says}\0\0`)))
  })

/** A server with PostgreSQL's protocol that accepts a login, and tells one parameter after the other without ever being ready. */
export const keepsTalking = (): Promise<Listening> =>
  listen((socket) => {
    socket.once('data', () => {
      socket.write(message('R', numbers(4, 0)))
      const talk = setInterval(() => socket.write(message('S', 'application_name\0again\0')), 100)
      socket.once('close', () => clearInterval(talk))
    })
  })
