import type { TrustedProxies } from '../../setup/config.js'
import type { Express, Request } from 'express'
import { isIP, isIPv6 } from 'node:net'

/** Takes the client's address, scheme and host from the `X-Forwarded-…` headers of these proxies, and of nobody else. */
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

/** One form of an address, so that the same ones are equal: without the prefix of IPv4 in IPv6, and without the port that some proxies add. */
export const plainAddress = (text: string): string => {
  const [, inBrackets, ofVersion4] = /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? []
  return (inBrackets ?? ofVersion4 ?? text).replace(/^::ffff:(?=[\d.]+$)/i, '')
}

/**
 * The address that a request comes from: the other end of the connection, or what a trusted proxy says. Limits per client use
 * this and nothing else.
 *
 * @example clientAddress(req) // '203.0.113.7'
 */
export const clientAddress = (req: Request): string => {
  const told = plainAddress(req.ip ?? '')
  // A proxy that says no address must not let its clients choose what they are counted as.
  return isIP(told) ? told : plainAddress(req.socket.remoteAddress ?? '')
}

/**
 * What bounds per address count: the address, of IPv6 the network of 64 bits, all of which one client may have.
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

/** Who sends a request, as far as a login says it. */
export type Caller = {
  actor: string | undefined
  /** Tells the login from others, and is not its token. */
  login: string | undefined
  /** Whether the login still stands: an answer that goes on for hours has to ask again. */
  mayGoOn: () => boolean
  /** Aborts when the login ends, however it does. */
  sessionEnd: AbortSignal | undefined
}

/** The sender of a request without a login. */
export const nobody: Caller = { actor: undefined, login: undefined, mayGoOn: () => true, sessionEnd: undefined }
