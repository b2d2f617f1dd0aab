import type { ResolvedModel } from './resolve.js'

/** All settings for calls of a model; the key is in plain text. */
export type ModelSettings = Omit<ResolvedModel, 'key'> & { apiKey: string | null; keySource: string | null }

/** The host that is called, with its port. @example hostOf('https://api.openai.com/v1') // 'api.openai.com:443' */
export const hostOf = (address: string): string => {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
}
