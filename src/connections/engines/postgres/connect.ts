import type { Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import pg from 'pg'
import { limits } from '../../../basics/limits.js'
import { kindOf, parseAddress } from '../../../egress/addresses.js'
import { connectAllowed, type ConnectedSocket } from '../../../egress/tcp-connection.js'
import { boundLogin } from '../contract/bounded.js'
import type { Surroundings } from '../contract/engine.js'
import { loginTooSlow, plainPasswordAsked, type ErrorExplainer } from '../contract/explain.js'
import { isKnownServer } from '../contract/parameters.js'
import type { PostgresParameters } from './parameters.js'
import { reportExceptions } from './report-exceptions.js'
import { run } from './run.js'

/** A logged in client, and the socket below it. */
export type PostgresClient = { client: pg.Client; socket: Socket; tls: ConnectionOptions | undefined; at: ConnectedSocket['to'] }

const asText = { getTypeParser: () => (value: unknown) => value } as unknown as pg.CustomTypesConfig

/** The options of TLS. `require` encrypts without checking the server's certificate, since there is no authority to check it with. */
const tlsOptions = ({ encryption }: PostgresParameters): ConnectionOptions => {
  const { mode, ca, cert, key } = encryption
  return {
    rejectUnauthorized: mode === 'verify-ca' || mode === 'verify-full',
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  }
}

/** The driver would connect its stream itself; this stream is already connected, to the checked address. */
const asStream = (socket: Socket): Socket => {
  socket.connect = () => {
    setImmediate(() => socket.emit('connect'))
    return socket
  }
  return socket
}

/** Whether a server may have the password itself: one of this machine, or one that is known to be the right one. */
const mayHavePassword = ({ encryption }: PostgresParameters, address: string): boolean => {
  const read = parseAddress(address)
  return isKnownServer(encryption) || (read !== undefined && kindOf(read) === 'loopback')
}

/** Logs in through a connected socket. @throws Error of the driver, Problem connection_failed */
export const login = async (
  parameters: PostgresParameters,
  { socket, to }: ConnectedSocket,
  tls: ConnectionOptions | undefined,
  deadline: AbortSignal,
) => {
  const { user, password, database } = parameters
  let isAskedPlainly = false
  const client = new pg.Client({
    user,
    // Without a password the driver looks into files of the operator for one, and to it an empty text is none.
    password: () => {
      if (isAskedPlainly && !mayHavePassword(parameters, to.address)) throw plainPasswordAsked('"sslmode": "verify-full"')
      return password
    },
    database,
    host: to.name,
    port: to.port,
    ssl: tls ?? false,
    stream: () => asStream(socket),
    types: asText,
    application_name: 'mindledger',
    ...({ scramMaxIterations: 1_000_000 } as object),
  })
  // The next statement notices a failure between two statements.
  client.on('error', () => undefined)
  const failed = new Promise<never>((_, reject) => client.once('error', reject))
  client.connection.prependListener('authenticationCleartextPassword', () => (isAskedPlainly = true))
  reportExceptions(client, () => socket.destroy())
  const stop = () => socket.destroy()
  deadline.addEventListener('abort', stop, { once: true })
  try {
    await Promise.race([client.connect(), failed])
    return client
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    deadline.removeEventListener('abort', stop)
  }
}

const noTls = (error: unknown): boolean => error instanceof Error && /does not support SSL/.test(error.message)

const mostMs = limits.connectionStatementTimeoutMs

/** One setting: the ways to write it. The first that the database knows counts; without one the setting is left out. */
type Setting = readonly [first: string, ...others: string[]]

/** Settings that the readings of values need, and the longest time of a statement. */
const settings = ({ schema }: PostgresParameters): readonly Setting[] => [
  ["SET datestyle = 'ISO'"],
  ["SET timezone = 'UTC'"],
  ["SET intervalstyle = 'postgres'"],
  ["SET bytea_output = 'hex'"],
  // Redshift and old servers refuse 3. A double has all its digits with 2 as well.
  ['SET extra_float_digits = 3', 'SET extra_float_digits = 2'],
  // A server with SQL_ASCII does not know the encoding of its texts. Without this, it would refuse to send bytes that are not UTF-8.
  ["SELECT set_config('client_encoding', 'SQL_ASCII', false) WHERE current_setting('server_encoding') = 'SQL_ASCII'"],
  // A shorter time of the user or the database stays.
  [
    `SELECT set_config('statement_timeout', '${mostMs}', false)
     WHERE current_setting('statement_timeout')::interval NOT BETWEEN '1 ms'::interval AND '${mostMs} ms'::interval`,
    `SET statement_timeout = ${mostMs}`,
  ],
  ...(schema === undefined ? [] : [[`SET search_path = ${pg.escapeIdentifier(schema)}`] as const]),
]

/**
 * The text that begins the transaction of a statement. A native statement also finds what is in `public`, such as the functions of
 * extensions, which the schema of the connection hides from all others.
 *
 * @example beginSql(parameters, { writes: false, isNative: true }) // BEGIN READ ONLY; SET LOCAL search_path = "shop", public
 */
export const beginSql = ({ schema }: PostgresParameters, { writes, isNative }: { writes: boolean; isNative: boolean }): string => {
  const path = isNative && schema !== undefined ? `; SET LOCAL search_path = ${pg.escapeIdentifier(schema)}, public` : ''
  return `BEGIN${writes ? '' : ' READ ONLY'}${path}`
}

const setOne = async (client: pg.Client, setting: Setting): Promise<void> => {
  for (const statement of setting)
    try {
      await run(client, statement)
      return
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error
    }
}

/** Makes settings: all in one request, or one by one for a database that does not know all of them. */
const prepare = async (client: pg.Client, all: readonly Setting[]): Promise<void> => {
  try {
    await run(client, all.map(([first]) => first).join('; '))
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    for (const setting of all) await setOne(client, setting)
  }
}

/** Connects and logs in, with TLS if the parameters or the server want it. @throws Problem connection_failed, egress_refused */
export const openClient = async (
  parameters: PostgresParameters,
  { policy }: Surroundings,
  explain: ErrorExplainer,
): Promise<PostgresClient> => {
  const timeoutMs = limits.connectionConnectTimeoutMs
  const deadline = AbortSignal.timeout(timeoutMs)
  const { mode } = parameters.encryption
  const attempt = async (tls: ConnectionOptions | undefined) => {
    const connected = await connectAllowed(policy, parameters.host, Number(parameters.port), { timeoutMs, signal: deadline })
    const unbound = boundLogin(connected.socket)
    const client = await login(parameters, connected, tls, deadline)
    return { client, socket: connected.socket, tls, at: connected.to, unbound }
  }
  let opened: Awaited<ReturnType<typeof attempt>> | undefined
  try {
    const tls = mode === 'disable' ? undefined : tlsOptions(parameters)
    try {
      opened = await attempt(tls)
    } catch (error) {
      if (mode !== 'prefer' || !noTls(error)) throw error
      opened = await attempt(undefined)
    }
    const { socket } = opened
    const stop = () => socket.destroy()
    deadline.addEventListener('abort', stop, { once: true })
    await prepare(opened.client, settings(parameters))
    deadline.removeEventListener('abort', stop)
    opened.unbound()
    return opened
  } catch (error) {
    opened?.socket.destroy()
    throw deadline.aborted ? loginTooSlow() : explain(error)
  }
}

/** TLS on a connected socket, as PostgreSQL begins it. A socket that closes before that reports no error. */
const upgraded = (socket: Socket, name: string, tls: ConnectionOptions): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const request = Buffer.alloc(8)
    request.writeInt32BE(8, 0)
    request.writeInt32BE(80_877_103, 4)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('closed before TLS')))
    socket.write(request)
    socket.once('data', (answer) => {
      if (answer.toString() !== 'S') {
        reject(new Error('no TLS'))
        return
      }
      const secured = connectTls({ ...tls, socket, host: name }, () => resolve(secured))
      secured.once('error', reject)
    })
  })

/** Tells the server to end the statement of a session, through a second connection to the same address, with the same encryption. */
export const sendCancel = async ({ client, tls, at }: PostgresClient, { policy }: Surroundings): Promise<void> => {
  const processId: unknown = Reflect.get(client, 'processID')
  const secretKey: unknown = Reflect.get(client, 'secretKey')
  if (typeof processId !== 'number' || typeof secretKey !== 'number') return
  const timeoutMs = limits.connectionCancelWaitMs
  const { socket } = await connectAllowed(policy, at.name, at.port, { timeoutMs, lookup: () => Promise.resolve([at.address]) })
  const timer = setTimeout(() => socket.destroy(), timeoutMs)
  socket.on('error', () => undefined)
  try {
    const way = tls ? await upgraded(socket, at.name, tls) : socket
    const message = Buffer.alloc(16)
    message.writeInt32BE(16, 0)
    message.writeInt32BE(80_877_102, 4)
    message.writeInt32BE(processId, 8)
    message.writeInt32BE(secretKey, 12)
    await new Promise<void>((resolve) => way.end(message, () => resolve()))
  } finally {
    clearTimeout(timer)
    // The server closes it once it has read the message.
    setTimeout(() => socket.destroy(), timeoutMs).unref()
  }
}
