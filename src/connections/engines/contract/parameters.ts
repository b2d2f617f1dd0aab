import { X509Certificate } from 'node:crypto'
import type { JsonObject, Json } from '../../../../events/common.js'
import { wrong } from '../../../basics/errors.js'
import { nearest } from '../../../basics/nearest.js'

/** Reads the parameters of a connection: each has one of these names. @throws Problem wrong_arguments that names the parameter */
export const knownParameters = (parameters: JsonObject, names: readonly string[]): ReadonlyMap<string, Json> => {
  const given = new Map<string, Json>()
  for (const [key, value] of Object.entries(parameters)) {
    const name = key.toLowerCase()
    if (!names.includes(name))
      throw wrong(`A connection has no parameter "${key}"`, `Did you mean "${nearest(name, names)}"? It takes ${names.join(', ')}.`)
    if (value !== null && value !== '') given.set(name, value)
  }
  return given
}

/** @throws Problem wrong_arguments unless the parameter is a text */
export const textOf = (given: ReadonlyMap<string, Json>, name: string): string | undefined => {
  const value = given.get(name)
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

const asText = 'Give the certificate itself, as text that begins with -----BEGIN. Files of the server are not read.'

/** A certificate or key as text. A path is refused: it would be read with the rights of this service. */
export const pemOf = (given: ReadonlyMap<string, Json>, ...names: string[]): string | undefined => {
  const name = names.find((each) => given.has(each))
  const text = name === undefined ? undefined : textOf(given, name)?.trim()
  if (name === undefined || text === undefined) return undefined
  if (!text.startsWith('-----BEGIN ')) throw wrong(`The parameter "${name}" is not a certificate or key in PEM`, asText)
  if (!text.includes('PRIVATE KEY'))
    try {
      new X509Certificate(text)
    } catch {
      throw wrong(`The parameter "${name}" is not a certificate that can be read`, asText)
    }
  return text
}

/** How a connection is encrypted, and what is checked: nothing, whether possible at all, or the certificate, or its name too. */
export type Encryption = {
  mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  ca: string | undefined
  cert: string | undefined
  key: string | undefined
}
