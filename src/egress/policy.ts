/** Room: outgoing calls: one policy, and connections to addresses that it has checked. It imports only basics and setup. */

import { domainToASCII } from 'node:url'
import { Problem } from '../basics/errors.js'
import { isInside, kindOf, parseAddress, parseNetwork, writtenAddress, type Address, type AddressKind, type Network } from './addresses.js'

type Ports = { from: number; to: number }
type Entry = Ports & ({ name: string; under: boolean } | { network: Network })

/** The allowed outgoing calls. */
export type EgressPolicy = {
  /** Whether programs on this machine may be called without an entry: only if no other machine can reach this service. */
  loopback: boolean
  entries: readonly Entry[]
}

/** The form of EGRESS_ALLOW. */
export const egressRule =
  'must be hosts, addresses and networks, each with ports if not all are meant: db.example.com:5432, *.corp.example, 10.0.0.0/8, [fd00::/8]:5432-5440'

const anyPort: Ports = { from: 1, to: 65_535 }
const nameShape = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

const portsOf = (text: string | undefined): Ports | undefined => {
  if (text === undefined || text === '*') return anyPort
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const ports = { from: Number(from ?? NaN), to: Number(to ?? NaN) }
  return ports.from >= 1 && ports.to <= 65_535 && ports.from <= ports.to ? ports : undefined
}

const split = (text: string): { place: string; port: string | undefined } => {
  const [, bracketed, afterBracket] = /^\[([^\]]*)\](?::(.*))?$/.exec(text) ?? []
  if (bracketed !== undefined) return { place: bracketed, port: afterBracket }
  // IPv6 without brackets has no port.
  if (text.split(':').length > 2) return { place: text, port: undefined }
  const [place = '', port] = text.split(':')
  return { place, port }
}

const isNumeric = (name: string): boolean => /^(?:\d+|0x[\da-f]*)$/i.test(name.split('.').at(-1) ?? '')

const entryOf = (text: string): Entry | undefined => {
  const { place, port } = split(text)
  const ports = portsOf(port)
  if (!ports) return undefined
  const network = parseNetwork(place)
  if (network) return { ...ports, network }
  const name = place.toLowerCase().replace(/\.$/, '')
  if (!nameShape.test(name) || isNumeric(name)) return undefined
  return name.startsWith('*.') ? { ...ports, name: name.slice(1), under: true } : { ...ports, name, under: false }
}

/**
 * Reads EGRESS_ALLOW: entries that are separated by commas or blanks. An entry is a name (`db.corp`), all names below one (`*.corp`), an
 * address, or a network (`10.0.0.0/8`), with an optional port or range of ports after a colon. IPv6 with a port is in brackets.
 *
 * @example parseEgress('*.corp:5432, 10.0.0.0/8', { loopback: false }).entries.length // 2
 * @throws RangeError that names the entry
 */
export const parseEgress = (text: string, { loopback }: { loopback: boolean }): EgressPolicy => {
  const entries = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const parsed = entryOf(entry)
      if (!parsed) throw new RangeError(`'${entry}' is not such an entry`)
      return parsed
    })
  return { loopback, entries }
}

/** A host of a call: its name in ASCII without the last dot, or its address. */
export type Host = { name: string; address: Address | undefined }

const refusal = (detail: string, hint: string): Problem => new Problem('egress_refused', 'Not allowed to call', detail, { hint })

/**
 * Reads a host as written in a connection. Only the standard form of an address is accepted. Anything else that looks like an address is
 * refused, because the check and the connection could read it differently.
 *
 * @example readHost('LOCALHOST.') // { name: 'localhost', address: undefined }
 * @throws Problem egress_refused
 */
export const readHost = (given: string): Host => {
  if (/^[/@\\]|%2f/i.test(given))
    throw refusal('A host is a name or an address; sockets in the file system are not called', 'Name a host and a port.')
  if (given.includes(',')) throw refusal('One host is expected, and a list was given', 'Make one connection for each host.')
  if (given.includes('%'))
    throw refusal('An address with a zone names an interface of this machine, and is not called', 'Write the address without "%…".')
  const bare = given.startsWith('[') && given.endsWith(']') ? given.slice(1, -1) : given
  const address = parseAddress(bare)
  if (address) return { name: writtenAddress(address), address }

  const name = (/^[\x00-\x7f]*$/.test(bare) ? bare.toLowerCase() : domainToASCII(bare)).replace(/\.$/, '')
  if (isNumeric(name) || parseAddress(name) || name.includes(':'))
    throw refusal(
      'The host is a number in a form that programs read differently',
      'Write an address as four decimal numbers without leading zeros (127.0.0.1), or as IPv6.',
    )
  if (name.length > 253 || !nameShape.test(name) || name.startsWith('*'))
    throw refusal('The host is neither a name nor an address', 'Name a host such as db.example.com, without a protocol, a path or a user.')
  return { name, address: undefined }
}

/** @throws Problem egress_refused unless it is a whole number from 1 to 65535 */
export const readPort = (port: unknown): number => {
  const value = typeof port === 'string' && /^\d{1,5}$/.test(port.trim()) ? Number(port) : port
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535) return value
  throw refusal('The port is not a whole number from 1 to 65535', 'Name the port that the server listens at, such as 5432.')
}

const covers = (entry: Entry, port: number): boolean => port >= entry.from && port <= entry.to

const named = (entry: Entry, name: string): boolean =>
  'name' in entry && (entry.under ? name.endsWith(entry.name) && name.length > entry.name.length : name === entry.name)

/**
 * Addresses of these kinds need an entry with the address. A name could lead to them unnoticed, for example to the metadata service of a
 * cloud.
 */
const byAddressOnly: ReadonlySet<AddressKind> = new Set(['link-local', 'metadata', 'reserved'])
/** No entry allows addresses of these kinds: such an address does not identify the machine that would be called. */
const never: ReadonlySet<AddressKind> = new Set(['multicast', 'unspecified'])

const asEntry = (address: string, port: number): string => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`)

/**
 * Checks one address of a host. Public addresses are allowed, and those of this machine if the policy says so. All others need an entry.
 *
 * @example checkAddress(parseEgress('', { loopback: true }), readHost('127.0.0.1'), address, 5432)
 * @throws Problem egress_refused with the setting that would allow it
 */
export const checkAddress = (policy: EgressPolicy, { name, address: given }: Host, address: Address, port: number): void => {
  const kind = kindOf(address)
  const written = writtenAddress(address)
  const entries = policy.entries.filter((entry) => covers(entry, port))
  const where = given ? written : `${name} (${written})`
  if (never.has(kind)) throw refusal(`${where} is an address of the kind "${kind}", which is never called`, 'Name another host.')
  if (kind === 'public' || (kind === 'loopback' && policy.loopback)) return
  if (entries.some((entry) => 'network' in entry && isInside(address, entry.network))) return
  if (!byAddressOnly.has(kind) && !given && entries.some((entry) => named(entry, name))) return
  const opener = asEntry(byAddressOnly.has(kind) || given ? written : name, port)
  throw refusal(
    `${where} is an address of the kind "${kind}", and this service may not call it`,
    `The setting EGRESS_ALLOW=${opener} allows it; the operator of this service can set it.`,
  )
}
