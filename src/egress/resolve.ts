import { lookup as systemLookup } from 'node:dns/promises'
import { isProblem, Problem } from '../basics/errors.js'
import { parseAddress, writtenAddress, type Address } from './addresses.js'
import { checkAddress, readHost, readPort, type EgressPolicy } from './policy.js'
import { sharedLookup, type NameLookup } from './shared-lookup.js'

/** The destination of a connection: the checked address, and the name that its certificate must be valid for. */
export type AllowedAddress = { name: string; address: string; port: number }

const fromSystem = sharedLookup(async (name) => (await systemLookup(name, { all: true, verbatim: true })).map(({ address }) => address))

const unknownHost = (name: string): Problem =>
  new Problem('connection_failed', 'Unknown host', `The host ${name} is not known`, {
    hint: 'Check its spelling, and that this machine can resolve it.',
  })

const readAddress = (text: string): Address => {
  const address = parseAddress(text.replace(/%.*$/, ''))
  if (!address) throw new TypeError('a resolver answered something else than an address')
  return address
}

/**
 * Resolves a host once, and checks each of its addresses. If one of them is not allowed, the host is not called at all. Connect to the
 * address that this returns: a second lookup could return another one.
 *
 * @example await resolveAllowed(policy, 'db.example.com', 5432) // [{ name: 'db.example.com', address: '192.0.0.9', port: 5432 }]
 * @throws Problem egress_refused, connection_failed for an unknown name, busy if too many names are being looked up
 */
export const resolveAllowed = async (
  policy: EgressPolicy,
  host: string,
  port: unknown,
  lookup: NameLookup = fromSystem,
): Promise<[AllowedAddress, ...AllowedAddress[]]> => {
  const read = readHost(host)
  const checkedPort = readPort(port)
  const addresses = read.address ? [read.address] : (await answers(read.name, lookup)).map(readAddress)
  for (const address of addresses) checkAddress(policy, read, address, checkedPort)
  const [first, ...rest] = addresses.map((address) => ({ name: read.name, address: writtenAddress(address), port: checkedPort }))
  if (!first) throw unknownHost(read.name)
  return [first, ...rest]
}

const answers = async (name: string, lookup: NameLookup): Promise<readonly string[]> => {
  // Names below localhost always mean this machine, whatever a resolver says.
  if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
  try {
    return await lookup(name)
  } catch (error) {
    throw isProblem(error) ? error : unknownHost(name)
  }
}
