import { createWriteStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { pino } from 'pino'
import { z } from 'zod'
import { ConfigError, type Config } from '../config.js'
import { dataPaths, lockDataDirectory } from '../log/data-directory.js'

export type Answer = { status: number; body: unknown }

/** A service that holds the data directory, as a command of the CLI speaks with it: logged in where it asks for a login. */
export type Server = {
  get: (path: string) => Promise<Answer>
  post: (path: string, body: object) => Promise<Answer>
  /** Writes what is answered into a file. @throws ConfigError when it is refused or cut off */
  download: (path: string, into: string) => Promise<void>
}

const isFree = (config: Config): boolean => {
  const paths = dataPaths(config.dataDirectory)
  if (!existsSync(paths.lock)) return true
  try {
    lockDataDirectory(paths)()
    return true
  } catch {
    return false
  }
}

/** Where the server of these settings answers: one that listens everywhere is reached on the loopback. */
const addressOf = ({ host, port }: Config): string => {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

type Sent = { address: string; dataDirectory: string; headers: Record<string, string> }

const request = ({ address, dataDirectory, headers }: Sent, path: string, body?: object): Promise<Response> =>
  fetch(address + path, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ConfigError(`a server holds ${dataDirectory}, but none answers at ${address}. Set HOST and PORT to what it was started with.`)
  })

const answerOf = async (response: Response, { address }: Sent): Promise<Answer> => {
  const body: unknown = await response.json().catch(() => {
    throw new ConfigError(`what answers at ${address} is not this service. Set HOST and PORT to what it was started with.`)
  })
  return { status: response.status, body }
}

const send = async (sent: Sent, path: string, body?: object): Promise<Answer> => answerOf(await request(sent, path, body), sent)

const download = async (sent: Sent, path: string, into: string): Promise<void> => {
  const response = await request(sent, path)
  if (!response.ok || !response.body) throw new ConfigError(refusalText((await answerOf(response, sent)).body))
  await pipeline(response.body, createWriteStream(into, { mode: 0o600 })).catch(() => {
    throw new ConfigError(`the answer of ${sent.address} was cut off; try again.`)
  })
}

const login = async (sent: Sent, auth: Config['auth']): Promise<Record<string, string>> => {
  if (!auth) return {}
  const { body } = await send(sent, '/api/login', auth)
  const answer = z.looseObject({ token: z.string() }).safeParse(body)
  if (!answer.success) throw new ConfigError(`${sent.address} refused the login: check AUTH_USERNAME and AUTH_PASSWORD`)
  return { authorization: `Bearer ${answer.data.token}` }
}

const connect = async (address: string, { dataDirectory, auth }: Config): Promise<Server> => {
  const anonymous = { address, dataDirectory, headers: {} }
  const sent = { ...anonymous, headers: await login(anonymous, auth) }
  return {
    get: (path) => send(sent, path),
    post: (path, body) => send(sent, path, body),
    download: (path, into) => download(sent, path, into),
  }
}

/**
 * The running server of these settings; undefined when none holds the data directory.
 *
 * @example const server = await runningServer(config); if (server) await server.post('/api/log/rotations', {})
 * @throws ConfigError when one holds it that does not answer, or that refuses the login
 */
export const runningServer = async (config: Config): Promise<Server | undefined> =>
  isFree(config) ? undefined : connect(addressOf(config), config)

/** Speaks with the running server; where none holds the data directory, with one of its own on a free port of the loopback, which then ends. */
export const withServer = async <T>(config: Config, use: (server: Server) => Promise<T>): Promise<T> => {
  const running = await runningServer(config)
  if (running) return use(running)
  const { startService } = await import('../main.js')
  const own = { ...config, host: '127.0.0.1', port: 0 }
  const service = await startService(own, pino({ level: 'silent' }))
  try {
    return await use(await connect(service.url, own))
  } finally {
    await service.close()
  }
}

const problemSchema = z.looseObject({ detail: z.string(), hint: z.string().optional() })

/** A refusal as text: what is wrong, and what to do. */
export const refusalText = (body: unknown): string => {
  const problem = problemSchema.safeParse(body).data
  return problem ? [problem.detail, problem.hint].filter((text) => text !== undefined).join('\n') : JSON.stringify(body)
}
