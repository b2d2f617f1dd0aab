import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { JsonObject, Json } from '../../../../events/common.js'
import { wrong } from '../../../basics/errors.js'
import { nearest } from '../../../basics/nearest.js'

/** The parameters that have a value, by their names in lower case. */
const givenParameters = (parameters: JsonObject): ReadonlyMap<string, Json> =>
  new Map(Object.entries(parameters).flatMap(([key, value]) => (value === null || value === '' ? [] : [[key.toLowerCase(), value]])))

/** Reads the parameters of a connection: each has one of these names. @throws Problem wrong_arguments that names the parameter */
export const knownParameters = (parameters: JsonObject, names: readonly string[]): ReadonlyMap<string, Json> => {
  for (const key of Object.keys(parameters))
    if (!names.includes(key.toLowerCase()))
      throw wrong(
        `A connection has no parameter "${key}"`,
        `Did you mean "${nearest(key.toLowerCase(), names)}"? It takes ${names.join(', ')}.`,
      )
  return givenParameters(parameters)
}

/** @throws Problem wrong_arguments unless the parameter is a text */
export const textOf = (given: ReadonlyMap<string, Json>, name: string): string | undefined => {
  const value = given.get(name)
  // In the protocols a NUL ends a text: the server would misread the rest.
  if (typeof value === 'string' && value.includes('\0')) throw wrong(`The parameter "${name}" has a character NUL`)
  if (value === undefined || typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw wrong(`The parameter "${name}" is not a text`)
}

/** @throws Problem wrong_arguments unless the parameter is true or false */
export const flagOf = (given: ReadonlyMap<string, Json>, name: string): boolean | undefined => {
  const value = given.get(name)
  if (value === undefined || typeof value === 'boolean') return value
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : ''
  if (['true', '1', 'on', 'yes'].includes(text)) return true
  if (['false', '0', 'off', 'no'].includes(text)) return false
  throw wrong(`The parameter "${name}" is neither true nor false`)
}

/** Whether a connection takes statements that write. @throws Problem wrong_arguments unless the parameter is true or false */
export const isWritable = (parameters: JsonObject): boolean => flagOf(givenParameters(parameters), 'writable') ?? false

/** @throws Problem wrong_arguments with the message unless the work succeeds */
const readable = (work: () => unknown, message: string, hint: string): void => {
  try {
    work()
  } catch {
    throw wrong(message, hint)
  }
}

const asText = 'Give the certificate itself, as text that begins with -----BEGIN. Files of the server are not read.'

/** A certificate or key as text. A path is refused: it would be read with the rights of this service. */
const pemOf = (given: ReadonlyMap<string, Json>, ...names: string[]): string | undefined => {
  const name = names.find((each) => given.has(each))
  const text = name === undefined ? undefined : textOf(given, name)?.trim()
  if (name === undefined || text === undefined) return undefined
  if (!text.startsWith('-----BEGIN ')) throw wrong(`The parameter "${name}" is not a certificate or key in PEM`, asText)
  if (text.includes('PRIVATE KEY'))
    readable(
      () => createPrivateKey(text),
      `The parameter "${name}" is not a key that can be read`,
      'Give the private key itself, as text in PEM, without a passphrase.',
    )
  else readable(() => new X509Certificate(text), `The parameter "${name}" is not a certificate that can be read`, asText)
  return text
}

/** How a connection is encrypted: never, if possible, always, with a check of the certificate, or also with a check of its name. */
export type Encryption = {
  mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  ca: string | undefined
  cert: string | undefined
  key: string | undefined
}

/** Whether the server is known to be the right one: by its name, or by a certificate of the connection's own authority. */
export const isKnownServer = ({ mode, ca }: Encryption): boolean => mode === 'verify-full' || (mode === 'verify-ca' && ca !== undefined)

/** The URLs of a kind of database: their beginning, their form, and their options. */
export type UrlForm = { protocols: readonly string[]; form: string; options: readonly string[] }

const urlIn = (text: string, form: string): URL => {
  if (URL.canParse(text)) return new URL(text)
  throw wrong('The parameter "url" is not a URL', `Write ${form}, with special characters of the password as %XX.`)
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    throw wrong('The parameter "url" has a % without a valid code after it', 'Write a % itself as %25.')
  }
}

/**
 * The parameters that a URL holds. Unknown options are refused, including those that read files or call other hosts.
 *
 * @throws Problem wrong_arguments
 */
const urlParameters = (text: string, { protocols, form, options }: UrlForm): Map<string, string> => {
  const url = urlIn(text, form)
  if (!protocols.includes(url.protocol)) throw wrong(`The parameter "url" begins with ${url.protocol}//`, `Write ${form}.`)
  if (url.hash !== '') throw wrong('The parameter "url" has a # in it', 'Write a # that belongs to a name or password as %23.')
  for (const name of url.searchParams.keys())
    if (!options.includes(name)) throw wrong(`The URL has the option "${name}", which is not allowed`, `It takes ${options.join(', ')}.`)
  const parts = {
    host: decoded(url.hostname),
    port: url.port,
    user: decoded(url.username),
    password: decoded(url.password),
    database: decoded(url.pathname.slice(1)),
    ...Object.fromEntries(url.searchParams),
  }
  return new Map(Object.entries(parts).filter(([, value]) => value !== ''))
}

/** The secret parts of a connection, which no message may show: drivers and databases may repeat them. */
export const secretsIn = (given: JsonObject, { password, encryption }: { password: string; encryption: Encryption }): string[] => {
  const url = Object.entries(given).find(([name]) => ['url', 'connection_string'].includes(name.toLowerCase()))?.[1]
  return [password, encryption.key ?? '', typeof url === 'string' ? url : '']
}

/**
 * The texts that are cut out of errors of statements. Statements never carry the secrets of the connection. So a text that equals a secret
 * comes from the statement or from rows; if it were cut out, a user could test guesses of the password.
 */
export const noSecrets: readonly string[] = []

/** @throws Problem wrong_arguments unless the parameter `db_engine` of Aurora is missing or names the protocol that is spoken */
const checkDbEngine = (given: ReadonlyMap<string, Json>, spoken: 'mysql' | 'postgres'): void => {
  const said = textOf(given, 'db_engine')
  if (said !== undefined && said.toLowerCase() !== spoken)
    throw wrong('The parameter "db_engine" is neither "mysql" nor "postgres"', 'PARAMETERS = {"db_engine": "mysql", "host": …}')
}

/**
 * The parameters of a connection to a server: its own, and those that only its URL holds. `names` are the names that it takes, and `spoken`
 * is its protocol.
 *
 * @throws Problem wrong_arguments
 */
export const serverParameters = (
  parameters: JsonObject,
  { names, spoken, urls }: { names: readonly string[]; spoken: 'mysql' | 'postgres'; urls: UrlForm },
): ReadonlyMap<string, Json> => {
  const own = knownParameters(parameters, names)
  checkDbEngine(own, spoken)
  const url = textOf(own, 'url') ?? textOf(own, 'connection_string')
  return new Map([...(url === undefined ? [] : urlParameters(url, urls)), ...own])
}

/** @throws Problem wrong_arguments when the connection names no host */
export const hostOf = (given: ReadonlyMap<string, Json>): string => {
  const host = textOf(given, 'host')
  if (host !== undefined) return host
  throw wrong('The connection has no parameter "host"', 'PARAMETERS = {"host": "db.example.com", "user": …}')
}

/** The mode with the certificate of an authority: it is checked, unless the connection is not encrypted at all. */
const withAuthority = (mode: Encryption['mode']): Encryption['mode'] => (mode === 'prefer' || mode === 'require' ? 'verify-ca' : mode)

/**
 * How a connection wants to be encrypted. The first of a list of names is the one that messages use. Without a mode, the other parameters
 * decide: with the certificate of an authority, the server's certificate is checked.
 */
export const encryptionOf = (
  given: ReadonlyMap<string, Json>,
  modes: Readonly<Record<string, Encryption['mode']>>,
  names: Readonly<Record<'mode' | 'ca' | 'cert' | 'key', readonly string[]>>,
): Encryption => {
  const name = names.mode.find((each) => given.has(each))
  const said = name === undefined ? undefined : textOf(given, name)
  const mode = said === undefined ? undefined : modes[said.toLowerCase().replace('_', '-')]
  if (said !== undefined && !mode)
    throw wrong(`The parameter "${name ?? ''}" is not known`, `It is one of ${Object.keys(modes).join(', ')}.`)
  const ca = pemOf(given, ...names.ca)
  const ssl = flagOf(given, 'ssl')
  const implied = ssl === false ? 'disable' : ca !== undefined ? 'verify-full' : ssl ? 'require' : 'prefer'
  const [cert, key] = [pemOf(given, ...names.cert), pemOf(given, ...names.key)]
  if (cert !== undefined && key !== undefined)
    readable(
      () => createSecureContext({ cert, key }),
      `The parameters "${names.cert[0] ?? ''}" and "${names.key[0] ?? ''}" do not belong together`,
      'Give the key that the certificate was made for.',
    )
  const wanted = mode ?? implied
  return { mode: ca === undefined ? wanted : withAuthority(wanted), ca, cert, key }
}
