/**
 * Room: the access of commands to a running service, or to the files of a stopped one. It imports only basics, setup, egress, vault,
 * log/storage, files, audit and src.
 */

import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import * as z from 'zod'
import { ConfigError, type Config } from '../../setup/config.js'
import { fetchFrom, type Transport } from '../../basics/fetch-from.js'
import { limits } from '../../basics/limits.js'
import { checkDataDirectory, dataPaths, isDataDirectoryHeld, type DataPaths } from '../../setup/data-directory.js'
import { patientFetch } from './patient-fetch.js'
import { readServerAddress, type ServerAddress } from '../../setup/server-address.js'

export type Answer = { status: number; body: unknown }

/** A connection to a running service, logged in if it requires a login. */
export type Server = {
  address: string
  /** Reads what the server knows without work; `isLong` if it may have to work for it. @throws ConfigError when it does not answer in time */
  get: (path: string, isLong?: boolean) => Promise<Answer>
  post: (path: string, body: object) => Promise<Answer>
  /** Sends a POST and returns the unread response. @throws ConfigError when the server does not answer, even while its body is read */
  send: (path: string, body: object, signal?: AbortSignal) => Promise<Response>
  /** Sends any request; it throws the errors of fetch. */
  fetch: Transport
  /** Writes the response body into a file. @throws ConfigError when it is refused or cut off */
  download: (path: string, into: string) => Promise<void>
}

/** The settings, and the server's URL if the caller gave one. */
export type CommandConfig = Config & { serverUrl?: string | undefined }

type RequestTarget = { address: string; headers: Record<string, string> }

/** The bytes of an answer. @throws ConfigError when it ends too early */
async function* toItsEnd(body: AsyncIterable<Uint8Array>, address: string): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* body
  } catch {
    throw new ConfigError(`the answer of ${address} was cut off: it had an error in the middle, or the server stopped. Try again.`)
  }
}

const request = async ({ address, headers }: RequestTarget, path: string, body?: object, signal?: AbortSignal): Promise<Response> => {
  const response = await patientFetch(address + path, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch(() => {
    if (signal?.reason instanceof DOMException && signal.reason.name === 'TimeoutError')
      throw new ConfigError(`the server at ${address} does not answer within ${limits.serverAnswerWaitMs / 1_000} s`)
    throw new ConfigError(`no server answers at ${address}. Is it running? --url names another address.`)
  })
  return new Response(response.body && ReadableStream.from(toItsEnd(response.body, address)), response)
}

const answerOf = async (response: Response, { address }: RequestTarget): Promise<Answer> => {
  const text = await response.text()
  try {
    return { status: response.status, body: JSON.parse(text) as unknown }
  } catch {
    throw new ConfigError(`the server at ${address} is not this service. --url names another address.`)
  }
}

const send = async (sent: RequestTarget, path: string, body?: object, signal?: AbortSignal): Promise<Answer> =>
  answerOf(await request(sent, path, body, signal), sent)

/** The limit of a request that a server answers at once. A server that hangs still accepts connections. */
const soon = (): AbortSignal => AbortSignal.timeout(limits.serverAnswerWaitMs)

const download = async (sent: RequestTarget, path: string, into: string): Promise<void> => {
  const response = await request(sent, path)
  if (!response.ok || !response.body) throw new ConfigError(refusalText((await answerOf(response, sent)).body))
  await pipeline(response.body, createWriteStream(into, { mode: 0o600 }))
}

const login = async (sent: RequestTarget, auth: Config['auth']): Promise<Record<string, string>> => {
  if (!auth) return {}
  const { body } = await send(sent, '/api/login', auth, soon())
  const answer = z.looseObject({ token: z.string() }).safeParse(body)
  if (!answer.success) throw new ConfigError(`${sent.address} refused the login: check AUTH_USERNAME and AUTH_PASSWORD`)
  return { authorization: `Bearer ${answer.data.token}` }
}

const healthSchema = z.looseObject({ service: z.literal('mindledger'), instance: z.string() })

/** Logs in at a URL. With `instance`, only that run of the service is accepted: another process may now use the port. */
const connect = async (address: string, { dataDirectory, auth }: CommandConfig, instance?: string): Promise<Server> => {
  const anonymous = { address, headers: {} }
  const health = healthSchema.safeParse((await send(anonymous, '/api/health', undefined, soon())).body).data
  if (!health) throw new ConfigError(`the server at ${address} is not this service. --url names another address.`)
  if (instance !== undefined && health.instance !== instance)
    throw new ConfigError(
      `the server that answers at ${address} is not the one that holds ${dataDirectory}. --url names that one's address.`,
    )
  const sent = { address, headers: await login(anonymous, auth) }
  return {
    address,
    get: (path, isLong = false) => send(sent, path, undefined, isLong ? undefined : soon()),
    post: (path, body) => send(sent, path, body),
    send: (path, body, signal) => request(sent, path, body, signal),
    fetch: fetchFrom(address, sent.headers, patientFetch),
    download: (path, into) => download(sent, path, into),
  }
}

const pollMs = 50

/**
 * The address that a server wrote into its data directory; undefined if no process holds the directory. Waits for a server that is
 * starting.
 */
const addressIn = async (paths: DataPaths): Promise<ServerAddress | undefined> => {
  const until = Date.now() + limits.serverAddressWaitMs
  while (isDataDirectoryHeld(paths)) {
    const address = readServerAddress(paths)
    if (address) return address
    if (Date.now() > until)
      throw new ConfigError(
        `a process holds ${paths.root}, but has not written its address. If it is a command that changes the log, it ends soon; if it is a server, give its address with --url.`,
      )
    await sleep(pollMs)
  }
  return undefined
}

/**
 * The running server: the one at `--url`, or the one that holds the data directory; undefined if there is none.
 *
 * @example const server = await runningServer(config); if (server) await server.post('/api/log/rotations', {})
 * @throws ConfigError when it does not answer, or refuses the login
 */
export const runningServer = async (config: CommandConfig): Promise<Server | undefined> => {
  if (config.serverUrl !== undefined) return connect(config.serverUrl, config)
  const address = await addressIn(dataPaths(config.dataDirectory))
  return address && connect(address.url, config, address.instance)
}

/**
 * Uses the running server. If no server holds the data directory, starts a temporary one on a free port of the loopback, without work in
 * the background, which the end of the command would cut off. A missing directory is created only with `create`, because the path may be
 * wrong.
 */
export const withServer = async <T>(config: CommandConfig, use: (server: Server) => Promise<T>, { create = false } = {}): Promise<T> => {
  const running = await runningServer(config)
  if (running) return use(running)
  if (!create) checkDataDirectory(config.dataDirectory)
  const { startService } = await import('../../main.js')
  const own = { ...config, host: '127.0.0.1', port: 0 }
  const service = await startService(own, pino({ level: 'silent' }), { background: false })
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
