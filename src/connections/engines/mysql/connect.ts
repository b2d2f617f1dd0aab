import { isIP, type Socket } from 'node:net'
import mysql, { type Connection as Client, type ConnectionOptions } from 'mysql2'
import { errorCode } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { connectAllowed, type ConnectedSocket } from '../../../egress/tcp-connection.js'
import type { NameLookup } from '../../../egress/shared-lookup.js'
import { boundLogin } from '../contract/bounded.js'
import type { Surroundings } from '../contract/engine.js'
import { loginTooSlow, type ErrorExplainer } from '../contract/explain.js'
import { isKnownServer } from '../contract/parameters.js'
import { run } from './cursor.js'
import type { MysqlParameters } from './parameters.js'

/** A logged in client, and the socket below it. `isUtc`: its times are of UTC, not of another zone of the server. */
export type MysqlClient = { client: Client; socket: Socket; at: ConnectedSocket['to']; threadId: number; isUtc: boolean }

/** More packets out of order than this are no accident. */
const disorderMax = 100

/** Whether the certificate of the server is checked. */
const isChecked = ({ encryption: { mode } }: MysqlParameters): boolean => mode === 'verify-ca' || mode === 'verify-full'

const tlsOptions = (parameters: MysqlParameters): NonNullable<Exclude<ConnectionOptions['ssl'], string>> => {
  const { mode, ca, cert, key } = parameters.encryption
  return {
    rejectUnauthorized: isChecked(parameters),
    verifyIdentity: mode === 'verify-full',
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  }
}

/**
 * The name that a certificate must have. The driver does not accept an address as a name, and would demand a certificate for "localhost".
 * So an address gets a dot at its end: the driver then takes it for a name, and the check of the certificate removes the dot.
 */
const certifiedName = (name: string): string => (isIP(name) === 0 ? name : `${name}.`)

const login = (parameters: MysqlParameters, { socket, to }: ConnectedSocket, isSecured: boolean, deadline: AbortSignal): Promise<Client> =>
  new Promise((resolve, reject) => {
    const { user, password, database } = parameters
    const client = mysql.createConnection({
      user,
      password,
      host: certifiedName(to.name),
      port: to.port,
      stream: socket,
      charset: 'utf8mb4',
      connectTimeout: 0,
      // The database must not ask for files of this machine.
      flags: ['-LOCAL_FILES'],
      ...(database !== undefined && { database }),
      ...(isSecured && { ssl: tlsOptions(parameters) }),
      // A server that asks for the password itself (mysql_clear_password) gets it only if it is known to be the right one.
      enableCleartextPlugin: isSecured && isKnownServer(parameters.encryption),
    })
    const stop = () => {
      socket.destroy()
      reject(new Error('the login took too long'))
    }
    deadline.addEventListener('abort', stop, { once: true })
    const settle = (tell: () => void) => {
      deadline.removeEventListener('abort', stop)
      tell()
    }
    // The next statement notices a failure between two statements.
    client.on('error', () => undefined)
    let disorder = 0
    client.on('warn', () => {
      if (++disorder > disorderMax) socket.destroy()
    })
    client.once('connect', () => settle(() => resolve(client)))
    client.once('error', (error: Error) =>
      settle(() => {
        socket.destroy()
        reject(error)
      }),
    )
  })

/** A time limit in SQL: that of the session, which its server may have set for the user, unless ours is shorter. 0 means none. */
const shorter = (variable: string, most: number): string => `least(coalesce(nullif(@@${variable}, 0), ${most}), ${most})`

/** Settings that the readings of values need, and limits that only some servers know. */
const settings = [
  "SET time_zone = '+00:00'",
  `SET SESSION max_statement_time = ${shorter('max_statement_time', limits.connectionStatementTimeoutMs / 1_000)}`,
  // MySQL takes only a whole number here, and computes a decimal.
  `SET SESSION max_execution_time = CAST(${shorter('max_execution_time', limits.connectionStatementTimeoutMs)} AS UNSIGNED)`,
]

/** Whether the server reads a time in winter and a time in summer as times of UTC. */
const utcSql = "SELECT unix_timestamp('2024-01-01 00:00:00') = 1704067200 AND unix_timestamp('2024-07-01 00:00:00') = 1719792000"

const noTls = (error: unknown): boolean => errorCode(error) === 'HANDSHAKE_NO_SSL_SUPPORT'
const isRefusal = (error: unknown): boolean => error instanceof Error && typeof Reflect.get(error, 'sqlMessage') === 'string'

/** Whether the session has the zone UTC: some servers accept the setting without obeying it. */
const hasUtc = async (client: Client): Promise<boolean> => {
  try {
    const [answer] = await run(client, utcSql)
    return answer?.[0]?.toString() !== '0'
  } catch (error) {
    if (!isRefusal(error)) throw error
    return true
  }
}

/**
 * Connects, logs in and sets what the readings need, with TLS if the parameters or the server want it.
 *
 * @throws Problem connection_failed, egress_refused
 */
export const openClient = async (
  parameters: MysqlParameters,
  { policy }: Surroundings,
  explain: ErrorExplainer,
  timeoutMs: number = limits.connectionConnectTimeoutMs,
  lookup?: NameLookup,
): Promise<MysqlClient> => {
  const deadline = AbortSignal.timeout(timeoutMs)
  const { mode } = parameters.encryption
  const attempt = async (isSecured: boolean) => {
    const connected = await connectAllowed(policy, parameters.host, Number(parameters.port), {
      timeoutMs,
      signal: deadline,
      ...(lookup && { lookup }),
    })
    const unbound = boundLogin(connected.socket)
    return { client: await login(parameters, connected, isSecured, deadline), socket: connected.socket, at: connected.to, unbound }
  }
  let opened: Awaited<ReturnType<typeof attempt>> | undefined
  try {
    try {
      opened = await attempt(mode !== 'disable')
    } catch (error) {
      if (mode !== 'prefer' || !noTls(error)) throw error
      opened = await attempt(false)
    }
    const { socket, client, unbound } = opened
    const stop = () => socket.destroy()
    deadline.addEventListener('abort', stop, { once: true })
    for (const statement of settings)
      try {
        await run(client, statement)
      } catch (error) {
        if (!isRefusal(error)) throw error
      }
    const isUtc = await hasUtc(client)
    deadline.removeEventListener('abort', stop)
    unbound()
    return { ...opened, threadId: client.threadId, isUtc }
  } catch (error) {
    opened?.socket.destroy()
    throw deadline.aborted ? loginTooSlow() : explain(error)
  }
}
