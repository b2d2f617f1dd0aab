/**
 * Room: helpers for writing a statement: its parameters, and the names to propose. It imports only console/api, console/basics and
 * console/lists.
 */

import type { Value } from '../../../api/sql.js'
import { jsonIn } from '../../../basics/place.js'
import { isSecretName, withoutSecrets } from '../../../basics/secrets.js'

/** The types of a parameter's value. */
export const parameterTypes = ['text', 'number', 'true/false', 'NULL'] as const
export type ParameterType = (typeof parameterTypes)[number]

/** The text in a parameter's field, and the chosen type; without a choice the type is guessed. */
export type Given = { text: string; type?: ParameterType | undefined }

const number = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** A text that looks exactly like a number. The article number `0123`, the code `1e5` and the version `1.10` are texts. */
const plainNumber = /^(?:0|-?[1-9]\d*|-?(?:0|[1-9]\d*)\.\d*[1-9])$/

/**
 * The most likely type of a text: an empty text is NULL, and only a text that loses nothing as a number is a number.
 *
 * @example guessed('01234') // 'text'
 */
export const guessed = (text: string): ParameterType => {
  if (text === '') return 'NULL'
  if (text === 'true' || text === 'false') return 'true/false'
  return plainNumber.test(text) ? 'number' : 'text'
}

/** The value of a parameter; `note` explains something unexpected, `problem` says why the value cannot be sent. */
export type Sent = { value: Value; note?: string; problem?: string }

/** Every number keeps this many digits. */
const digitsKept = 15

/**
 * The value of a parameter. A number with too many digits for a JSON number is sent as a text, so that no digit is lost.
 *
 * @example sentAs({ text: '01234' }) // { value: '01234' }
 */
export const sentAs = ({ text, type = guessed(text) }: Given): Sent => {
  if (type === 'text') return text === '' ? { value: '', note: 'an empty text' } : { value: text }
  if (type === 'NULL') return { value: null }
  const word = text.trim()
  if (type === 'true/false')
    return word === 'true' || word === 'false' ? { value: word === 'true' } : { value: null, problem: 'write true or false' }
  if (!number.test(word) || !Number.isFinite(Number(word))) return { value: null, problem: 'this is not a number' }
  if (word.replace(/[eE].*/, '').replace(/^-?0*|\./g, '').length <= digitsKept) return { value: Number(word) }
  return { value: word, note: 'sent as text, so that no digit is lost; CAST(… AS …) calculates with it' }
}

/** The parameter values in an address: a text is the typed text, an object also has its type. */
export const readGiven = (kept: string | undefined): Record<string, Given> => {
  const given = Object.entries(jsonIn(kept ?? null) ?? {})
  // A parameter may have the name of something that every object has, such as `constructor`.
  const all = Object.create(null) as Record<string, Given>
  for (const [name, one] of given as [string, unknown][]) {
    const { text = '', type } = typeof one === 'object' && one !== null ? (one as { text?: unknown; type?: unknown }) : { text: one }
    all[name] = { text: String(text), type: parameterTypes.find((known) => known === type) }
  }
  return all
}

/** @example givenText({ a: { text: '1' }, b: { text: '2', type: 'text' } }) // '{"a":"1","b":{"text":"2","type":"text"}}' */
export const givenText = (given: Record<string, Given>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(given).map(([name, one]) => [name, one.type === undefined ? one.text : one])))

/** Whether a browser must not keep the value of a parameter: because of its name, or because of the value. */
const isSecret = ([name, { text }]: [string, Given]): boolean => isSecretName(name) || withoutSecrets(text) !== text

/** The values of parameters that are secrets. Only the page itself has them. */
export const secretsIn = (given: Record<string, Given>): Record<string, Given> =>
  Object.fromEntries(Object.entries(given).filter((one) => isSecret(one)))

/**
 * The values of parameters as a browser may keep them.
 *
 * @example keptGiven('{"size":"12","password":"x"}') // '{"size":"12"}'
 */
export const keptGiven = (given: string | undefined): string | undefined =>
  given === undefined ? undefined : givenText(Object.fromEntries(Object.entries(readGiven(given)).filter((one) => !isSecret(one))))
