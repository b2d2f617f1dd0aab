import { isIPv6 } from 'node:net'

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
