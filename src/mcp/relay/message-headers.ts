import { isObject } from '../../../events/common.js'

const versionKey = 'io.modelcontextprotocol/protocolVersion'

const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const encoded = /^=\?base64\?.*\?=$/

/** A value in the form of a header: unchanged if possible, otherwise in the encoding of the protocol. */
const headerValue = (text: string): string =>
  plain.test(text) && !encoded.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

const textIn = (of: unknown, name: string): string | undefined => {
  const value: unknown = isObject(of) ? of[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/**
 * The headers that repeat parts of a message of revision 2026-07-28; none for older revisions.
 *
 * @example messageHeaders({ method: 'tools/call', params: { name: 'query', _meta: { 'io.modelcontextprotocol/protocolVersion': v } } })
 */
export const messageHeaders = (message: unknown): Record<string, string> => {
  const params: unknown = isObject(message) ? message['params'] : undefined
  const version = textIn(isObject(params) ? params['_meta'] : undefined, versionKey)
  if (version === undefined) return {}
  const method = textIn(message, 'method')
  const name = textIn(params, 'name') ?? textIn(params, 'uri')
  return {
    'mcp-protocol-version': headerValue(version),
    ...(method !== undefined && { 'mcp-method': headerValue(method) }),
    ...(name !== undefined && name !== '' && { 'mcp-name': headerValue(name) }),
  }
}
