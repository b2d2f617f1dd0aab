import type { Socket } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { duck, problemOf, readAll } from '../../support/connections/answers.js'
import { startBesideMysql, toMysql } from '../../support/connections/beside-mysql.js'
import { column, endOfAnswer, greeting, mysqlThat, oneColumn, packet, refusal } from '../../support/connections/mysql-server.js'
import { password } from '../../support/connections/postgres.js'
import { listen } from '../../support/connections/proxy.js'
import { until } from '../../support/until.js'

const { connections, expectOthersRead } = startBesideMysql()

/** What a client says first, and each later thing, gets the next of these answers; the last one again and again. */
const answering =
  (...answers: readonly ((socket: Socket) => void)[]) =>
  (socket: Socket) => {
    let heard = 0
    socket.on('data', () => answers[Math.min(heard++, answers.length - 1)]?.(socket))
  }

/** Takes everything and says nothing. A socket that is not read would not notice its end. */
const silent = (socket: Socket): void => void socket.resume()
const writing = (bytes: Buffer) => (socket: Socket) => void socket.write(bytes)
const closing = (socket: Socket): void => void socket.destroy()
const greets = (isSecured: boolean, then: (socket: Socket) => void) => (socket: Socket) => {
  socket.write(greeting(isSecured))
  then(socket)
}

/** Asks for another way to log in, with a number that goes on. */
const asksAgain = (socket: Socket): void => {
  let number = 2
  answering(() => {
    socket.write(packet(number & 0xff, '\xfemysql_native_password\0', '12345678123456789012\0'))
    number += 2
  })(socket)
}

const inTime = /within 10000 ms \(connectionConnectTimeoutMs\)/
const brokenOff = /broke off/

const expectRefused = async (welcome: (socket: Socket) => void, parameters: Connection['parameters'], says: RegExp): Promise<void> => {
  const server = await listen(welcome)
  try {
    const [checked] = await Promise.all([connections.check(toMysql(server, parameters)), expectOthersRead()])
    expect(checked).toMatchObject({ status: 'connection_error', detail: expect.stringMatching(says) as unknown })
    // The hint is a sentence of its own.
    expect('detail' in checked && checked.detail).toMatch(/\. [A-Z]/)
    expect(JSON.stringify(checked)).not.toContain(password)
    await until(() => server.open() === 0)
    await expectOthersRead()
  } finally {
    await server.stop()
  }
}

describe('a server that does not let anybody in', () => {
  test.each<[string, (socket: Socket) => void, Connection['parameters'], RegExp]>([
    ['never ends the login', greets(false, asksAgain), {}, /within 10000 ms|broke off|not its protocol/],
    ['answers TLS with nonsense', greets(true, answering(writing(Buffer.alloc(64, 'x')))), { ssl: true }, /start of TLS/],
    ['closes when TLS begins', greets(true, answering(closing)), { ssl: true }, /start of TLS|broke off/],
    ['has no TLS', greets(false, silent), { ssl: true }, /does not speak TLS\. Set the parameter "ssl": false/],
    ['closes at once', closing, {}, brokenOff],
    ['closes in the login', greets(false, answering(closing)), {}, brokenOff],
    ['greets with nonsense', writing(packet(0, Buffer.alloc(40, 0x99))), {}, /not its protocol|broke off/],
    [
      'answers the login with nonsense',
      greets(false, answering(writing(packet(2, Buffer.alloc(40, 0x99))))),
      {},
      /not its protocol|broke off/,
    ],
    [
      'does not know the password',
      greets(false, answering(writing(refusal(2, 1045, `#28000the password ${password} is wrong`)))),
      {},
      /refuses the login: the password … is wrong/,
    ],
    [
      'asks for the password itself',
      greets(false, answering(writing(packet(2, '\xfemysql_clear_password\0')))),
      {},
      /asks for the password itself.*"ssl_mode": "VERIFY_IDENTITY"/,
    ],
    [
      'asks for a login that the driver does not have',
      greets(false, answering(writing(packet(2, '\xfeclient_ed25519\0', Buffer.alloc(32, 7))))),
      {},
      /by the plugin client_ed25519, which this service does not know\. Give the user another plugin/,
    ],
    ['does not take this host', writing(refusal(0, 1130, "Host '127.0.0.1' is not allowed to connect")), {}, /refuses the login: Host/],
    ['has no place left', writing(refusal(0, 1040, 'Too many connections')), {}, /takes no more connections/],
    [
      'has no such database',
      greets(false, answering(writing(refusal(2, 1049, "#42000Unknown database 'shop'")))),
      {},
      /no such database.*"database"/,
    ],
  ])('%s: the answer says so, with a hint and without the password', async (_, welcome, parameters, says) => {
    await expectRefused(welcome, parameters, says)
  })

  test('and keeps quiet about it: the answer comes in time', async () => {
    const quiet: readonly [welcome: (socket: Socket) => void, parameters?: Connection['parameters']][] = [
      [silent],
      [greets(false, silent)],
      [greets(true, silent), { ssl: true }],
      // Its first letters would be the length of a packet that does not come.
      [writing(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))],
    ]
    await Promise.all(quiet.map(([welcome, parameters = {}]) => expectRefused(welcome, parameters, inTime)))
  })
})

const begun = Buffer.concat([oneColumn, packet(4, '\x01x'), packet(5, '\x01y')])
const ofNumbers = Buffer.concat([packet(1, '\x01'), column(2, 3), endOfAnswer(3)])

describe('an answer that goes wrong', () => {
  test.each<[string, (socket: Socket) => void, string, RegExp]>([
    ['is cut off', (socket) => socket.end(begun), 'connection_failed', brokenOff],
    [
      'is cut off in a packet',
      (socket) => socket.end(Buffer.concat([begun, packet(6, '\x05xxxxx').subarray(0, 7)])),
      'connection_failed',
      brokenOff,
    ],
    ['goes silent', writing(begun), 'query_limit', /longer than 2000 ms/],
    [
      'has a packet of nonsense',
      writing(Buffer.concat([begun, packet(6, Buffer.alloc(40, 0x99)), endOfAnswer(7)])),
      'connection_failed',
      /not its protocol|broke off/,
    ],
    [
      'has a row without values',
      writing(Buffer.concat([begun, packet(6, ''), endOfAnswer(7)])),
      'connection_failed',
      /not its protocol|broke off/,
    ],
    [
      'has nonsense instead of columns',
      writing(Buffer.concat([packet(1, '\x02'), packet(2, Buffer.alloc(5, 0x99))])),
      'connection_failed',
      /not its protocol|broke off/,
    ],
    [
      'has a refusal after its first rows',
      writing(Buffer.concat([begun, refusal(6, 1317, '#70100Query execution was interrupted')])),
      'query_limit',
      /cancelled in the database/,
    ],
    [
      'has a text where a number is declared',
      writing(Buffer.concat([ofNumbers, packet(4, '\x03abc'), endOfAnswer(5)])),
      'query_failed',
      /column "x" a value is not a whole number/,
    ],
    [
      'has a number beyond its type',
      writing(Buffer.concat([ofNumbers, packet(4, '\x0a9999999999'), endOfAnswer(5)])),
      'query_failed',
      /column "x"/,
    ],
  ])('%s: the statement fails with a hint, and others do not notice', async (_, answer, code, says) => {
    const server = await mysqlThat(answer)
    try {
      const most = { ...(says.test('longer than 2000 ms') && { timeMs: 2_000 }) }
      const reading = problemOf(readAll(await duck(), connections, toMysql(server), 'SELECT x FROM t', most))
      const [problem] = await Promise.all([reading, expectOthersRead()])
      expect(problem).toMatchObject({
        code,
        detail: expect.stringMatching(says) as unknown,
        extras: { hint: expect.any(String) as unknown },
      })
      await until(() => server.open() === 0)
      await expectOthersRead()
    } finally {
      await server.stop()
    }
  })
})

test('a question about tables that is never answered ends in time, and its session with it', async () => {
  const server = await mysqlThat(() => undefined)
  const [problem] = await Promise.all([problemOf(connections.tables(toMysql(server))), expectOthersRead()])
  expect(problem).toMatchObject({
    code: 'query_limit',
    detail: expect.stringContaining('(connectionMetadataTimeoutMs)') as unknown,
    extras: { hint: expect.any(String) as unknown },
  })
  await until(() => server.open() === 0)
  await server.stop()
})
