import type { TrustedProxies } from '../../setup/config.js'
import type { Express, Request } from 'express'
import { isIP, isIPv6 } from 'node:net'

/** Takes the client's address, scheme and host from the `X-Forwarded-…` headers of these proxies only. */
export const trustProxies = (app: Express, proxies: TrustedProxies): void => {
  app.set('trust proxy', typeof proxies === 'object' ? [...proxies] : proxies)
}

/**
 * Whether the other end of a connection is a proxy that the setting TRUST_PROXY names. All the proxy's clients come from its
 * address, so a limit per address must not count its connections as those of one client.
 *
 * @example isTrustedProxy(app, socket.remoteAddress)
 */
export const isTrustedProxy = (app: Express, address: string | undefined): boolean => {
  const trusts = app.get('trust proxy fn') as (address: string | undefined, hop: number) => boolean
  return trusts(address, 0)
}

/** Normalises an address: removes the prefix of IPv4 in IPv6, and the port that some proxies add. */
export const plainAddress = (text: string): string => {
  const [, inBrackets, ofVersion4] = /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? []
  return (inBrackets ?? ofVersion4 ?? text).replace(/^::ffff:(?=[\d.]+$)/i, '')
}

/**
 * The address of a request's client: the other end of the connection, or the address from a trusted proxy. Limits per client use only this.
 *
 * @example clientAddress(req) // '203.0.113.7'
 */
export const clientAddress = (req: Request): string => {
  const told = plainAddress(req.ip ?? '')
  // If a proxy names no valid address, its clients must not choose the address under which they are counted.
  return isIP(told) ? told : plainAddress(req.socket.remoteAddress ?? '')
}

/**
 * The key for limits per address: an IPv4 address, or the /64 network of an IPv6 address, since one client may own all of it.
 *
 * @example networkOf('2001:db8::7') // '2001:db8:0:0'
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address)) return address
  const [before = '', after] = address.split('%')[0]?.split('::') ?? []
  const [head, tail] = [before, after ?? ''].map((part) => part.split(':').filter((group) => group !== '')) as [string[], string[]]
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length
  return [...head, ...Array.from({ length: zeros }, () => '0'), ...tail].slice(0, 4).join(':')
}

/** The sender of a request, as known from its login. */
export type Caller = {
  actor: string | undefined
  /** Identifies the login without revealing its token. */
  login: string | undefined
  /** Whether the login is still valid: an answer that lasts for hours has to check again. */
  mayGoOn: () => boolean
  /** Aborts when the login ends for any reason. */
  sessionEnd: AbortSignal | undefined
}

/** The sender of a request without a login. */
export const nobody: Caller = { actor: undefined, login: undefined, mayGoOn: () => true, sessionEnd: undefined }
