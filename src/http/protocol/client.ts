import { isIPv6 } from 'node:net'
import type { Request, Response } from 'express'
import { clientAddress } from './client-address.js'

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

/**
 * Who sends a request, for bounds that are each client's own: a login, since many may share an address; without one the address.
 *
 * @example clientOf(req, res) // 'address 203.0.113.7'
 */
export const clientOf = (req: Request, res: Response): string => {
  const login: unknown = res.locals['login']
  return typeof login === 'string' ? `login ${login}` : `address ${networkOf(clientAddress(req))}`
}
