import { validate as isUuid, parse as uuidBytes, stringify as uuidText } from 'uuid'
import { streamId, type StreamId } from '../../events/common.js'
import type { Resource } from '../log/contract/log.js'
import type { Vault } from '../vault/vault.js'
import { sameText } from './channels/signature-parts.js'

type Bearer = Pick<Resource<'chatbot'>, 'stream' | 'state'>

const streamBytes = 16
const tokenChars = 43

/** The secret part of a token, which only this service can compute; it differs after each renewal. */
const proofOf = (vault: Vault, { stream, state }: Bearer): Buffer =>
  Buffer.from(vault.fingerprint(`webhook ${stream} ${state.renewals ?? 0}`), 'hex').subarray(0, streamBytes)

/**
 * The token in the path of a chatbot's webhook: 32 bytes as base64url, of which the first 16 name the chatbot. It is computed from the
 * master key, and never stored.
 *
 * @example webhookToken(vault, chatbot) // 'AZq7…', 43 characters
 */
export const webhookToken = (vault: Vault, bearer: Bearer): string =>
  Buffer.concat([uuidBytes(bearer.stream), proofOf(vault, bearer)]).toString('base64url')

/** The stream of the chatbot in a token, even if the token is wrong; undefined if the text is not a token. */
export const bearerOf = (token: string): StreamId | undefined => {
  if (token.length !== tokenChars || !/^[\w-]+$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url').subarray(0, streamBytes)
  if (!isUuid(hexForm(bytes))) return undefined
  return streamId.parse(uuidText(bytes))
}

const hexForm = (bytes: Buffer): string => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Whether a token belongs to this chatbot, in a time that does not reveal how much of it is right. */
export const isTokenOf = (vault: Vault, token: string, bearer: Bearer): boolean => sameText(token, webhookToken(vault, bearer))
