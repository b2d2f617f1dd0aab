import * as z from 'zod'
import { ConfigError } from '../setup/config.js'
import { fetchFrom } from '../basics/fetch-from.js'
import { limits } from '../basics/limits.js'
import { Client, readText, ServiceError } from './client.js'

/** The credentials for the old service: a token, or a name and a password. */
export type Credentials = { token: string | undefined; username: string | undefined; password: string | undefined }

const status = z.looseObject({
  mindsdb_version: z.string(),
  auth: z.looseObject({ http_auth_enabled: z.boolean().nullish() }).nullish(),
})
const loggedIn = z.looseObject({ token: z.string().nullish() })

const tokenIn = (text: string): string | null | undefined => {
  try {
    return loggedIn.safeParse(JSON.parse(text)).data?.token
  } catch {
    return undefined
  }
}

const refuseLogin = (address: string): never => {
  throw new ConfigError(`${address} refused the login: check IMPORT_USERNAME and IMPORT_PASSWORD, or IMPORT_TOKEN`)
}

/** Logs in. Releases of the old service that return no token use a cookie. */
const login = async (address: string, username: string, password: string): Promise<Record<string, string>> => {
  const response = await fetch(`${address}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
    redirect: 'manual',
    signal: AbortSignal.timeout(limits.importAnswerTimeoutMs),
  }).catch(() => refuseLogin(address))
  if (response.status !== 200) refuseLogin(address)
  const token = tokenIn(await readText(response).catch(() => refuseLogin(address)))
  if (token !== undefined && token !== null) return { authorization: `Bearer ${token}` }
  const cookie = response.headers.getSetCookie().find((one) => one.startsWith('session='))
  return cookie === undefined ? refuseLogin(address) : { cookie: cookie.split(';', 1).join('') }
}

const headersFor = async (address: string, { token, username, password }: Credentials): Promise<Record<string, string>> => {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (username === undefined || password === undefined)
    throw new ConfigError(`${address} asks for a login: set IMPORT_USERNAME and IMPORT_PASSWORD, or IMPORT_TOKEN`)
  return login(address, username, password)
}

/**
 * Connects to a running instance of MindsDB, with a login if it requires one.
 *
 * @example const old = await openOldService('http://old:47334', credentials)
 * @throws ConfigError when it does not answer, is another service, or refuses the login
 */
export const openOldService = async (address: string, credentials: Credentials): Promise<Client> => {
  const anonymous = new Client(address, fetchFrom(address, {}))
  const answer = await anonymous.read('/api/status').catch((error: unknown) => {
    if (error instanceof ServiceError) throw new ConfigError(`${address} cannot be read: ${error.message}`)
    throw error
  })
  const said = status.safeParse(answer).data
  if (!said) throw new ConfigError(`what answers at ${address} is not MindsDB: /api/status has no mindsdb_version`)
  if (said.auth?.http_auth_enabled !== true) return anonymous
  return new Client(address, fetchFrom(address, await headersFor(address, credentials)))
}
