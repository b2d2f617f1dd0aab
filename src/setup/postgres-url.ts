import { limits } from '../basics/limits.js'

/**
 * The addresses in the URL of a PostgreSQL: one for each of its hosts, in their order.
 *
 * @example addressesIn('postgres://me@a:5432,b/ledger') // ['postgres://me@a:5432/ledger', 'postgres://me@b/ledger']
 */
export const addressesIn = (url: string): string[] => {
  const [, before, hosts = '', after = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/su.exec(url) ?? []
  return before === undefined ? [url] : hosts.split(',').map((host) => before + host + after)
}

/** The place that an address names, without the user and the password. @example placeIn('postgres://me:secret@db/ledger') // 'db/ledger' */
export const placeIn = (address: string): string => {
  const { host, pathname, searchParams } = new URL(address)
  return `${host || (searchParams.get('host') ?? 'localhost')}${pathname}`
}

/** Whether it is clear which part of an address is its password. A path with an @ may be the rest of one that has a slash. */
export const isClear = (address: string): boolean => URL.canParse(address) && !new URL(address).pathname.includes('@')

const isAddress = (text: string): boolean => {
  if (!/^postgres(?:ql)?:\/\//.test(text) || !isClear(text)) return false
  const { hostname, searchParams, pathname } = new URL(text)
  const [host] = searchParams.getAll('host')
  return pathname.length > 1 && (host === undefined ? hostname !== '' : hostname === '' && host !== '' && !host.includes(','))
}

/** The form of the URL of a PostgreSQL, for a refusal. */
export const postgresUrlRule = `must be postgres://user:password@host:port/database, with up to ${limits.sharedMaxHosts} hosts (host:port,host:port); special characters in the password are written %40, %3A, %2F`

/** Whether a text is the URL of a PostgreSQL with one or several hosts. @example isPostgresUrl('postgres://a,b/ledger') // true */
export const isPostgresUrl = (text: string): boolean => {
  const addresses = addressesIn(text)
  return addresses.length <= limits.sharedMaxHosts && addresses.every(isAddress)
}
