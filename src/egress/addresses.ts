import { isIPv4, isIPv6 } from 'node:net'

/** The kind of an address. Only `public` addresses may be called without an entry that names them. */
export type AddressKind = 'public' | 'loopback' | 'private' | 'link-local' | 'metadata' | 'multicast' | 'unspecified' | 'reserved'

/** An address as a number. An IPv6 address that stands for an IPv4 address becomes that IPv4 address. */
export type Address = { version: 4 | 6; value: bigint }

/** A network: an address, and the number of its first bits that count. */
export type Network = Address & { bits: number }

const v4 = (text: string): bigint => text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)

const groupsOf = (text: string): bigint[] => (text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`)))

const v6 = (text: string): bigint => {
  // A dotted end, as in `::ffff:127.0.0.1`, is two groups.
  const dotted = /(?:\d+\.){3}\d+$/.exec(text)?.[0]
  const end = dotted === undefined ? 0n : v4(dotted)
  const plain = dotted === undefined ? text : `${text.slice(0, -dotted.length)}${(end >> 16n).toString(16)}:${(end & 0xffffn).toString(16)}`
  const [head = '', tail] = plain.split('::')
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')]
  const gap = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => 0n)
  return [...first, ...gap, ...last].reduce((sum, group) => (sum << 16n) | group, 0n)
}

const inside = (value: bigint, network: bigint, bits: number, width: number): boolean =>
  value >> BigInt(width - bits) === network >> BigInt(width - bits)

/** IPv6 prefixes whose addresses contain an IPv4 address, and the position of that address from the right. */
const holders: readonly (readonly [network: bigint, bits: number, shift: bigint])[] = [
  [v6('::ffff:0:0'), 96, 0n],
  [v6('::ffff:0:0:0'), 96, 0n],
  [v6('64:ff9b::'), 96, 0n],
  [v6('2002::'), 16, 80n],
]

/** `::` and `::1` are addresses of their own. Every other address that begins with 96 zeros contains an IPv4 address. */
const compatible = (value: bigint): boolean => value >> 32n === 0n && value > 1n

/**
 * Reads an address as the operating system writes it: four decimal numbers, or IPv6 without a zone. Any other form of an address
 * (`2130706433`, `0x7f.1`, `127.1`, `fe80::1%eth0`) gives undefined.
 *
 * @example parseAddress('::ffff:10.0.0.1') // { version: 4, value: 167772161n }
 */
export const parseAddress = (text: string): Address | undefined => {
  if (isIPv4(text)) return { version: 4, value: v4(text) }
  if (!isIPv6(text) || text.includes('%')) return undefined
  const value = v6(text)
  const holder = holders.find(([network, bits]) => inside(value, network, bits, 128))
  if (holder) return { version: 4, value: (value >> holder[2]) & 0xffff_ffffn }
  return compatible(value) ? { version: 4, value } : { version: 6, value }
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address. @example parseNetwork('10.0.0.0/8') // { version: 4, value: 167772160n, bits: 8 } */
export const parseNetwork = (text: string): Network | undefined => {
  const [address = '', bits, ...more] = text.split('/')
  const isPlainV6 = isIPv6(address) && !address.includes('%')
  // An IPv6 network is used as written: ::ffff:0:0/96 would otherwise become a single IPv4 address.
  const parsed = bits !== undefined && isPlainV6 ? ({ version: 6, value: v6(address) } as const) : parseAddress(address)
  if (!parsed || more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined
  const width = parsed.version === 4 ? 32 : 128
  const count = bits === undefined ? width : Number(bits)
  return count <= width ? { ...parsed, bits: count } : undefined
}

/** Whether an address lies in a network. */
export const isInside = ({ version, value }: Address, network: Network): boolean =>
  version === network.version && inside(value, network.value, network.bits, version === 4 ? 32 : 128)

// The services of clouds that give a machine its credentials are of the kind "metadata" where they are not link-local: those of Alibaba and
// Azure here, and those of Amazon, Google, Oracle and Scaleway for IPv6.
const kinds4: readonly (readonly [string, AddressKind])[] = [
  ['100.100.100.200/32', 'metadata'],
  ['168.63.129.16/32', 'metadata'],
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'private'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
]

// In IPv6 only 2000::/3 is public, apart from some parts of it.
const kinds6: readonly (readonly [string, AddressKind])[] = [
  ['fd00:ec2::/32', 'metadata'],
  ['fd20:ce::254/128', 'metadata'],
  ['fd00:c1::a9fe:a9fe/128', 'metadata'],
  ['fd00:42::42/128', 'metadata'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['64:ff9b:1::/48', 'private'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'reserved'],
  ['3fff::/20', 'reserved'],
  ['2000::/3', 'public'],
]

const networks = (kinds: readonly (readonly [string, AddressKind])[]) =>
  kinds.flatMap(([text, kind]) => {
    const network = parseNetwork(text)
    return network ? [{ network, kind }] : []
  })

const [known4, known6] = [networks(kinds4), networks(kinds6)]

/**
 * The kind of an address.
 *
 * @example kindOf({ version: 4, value: 2130706433n }) // 'loopback'
 */
export const kindOf = (address: Address): AddressKind =>
  (address.version === 4 ? known4 : known6).find(({ network }) => isInside(address, network))?.kind ??
  (address.version === 4 ? 'public' : 'reserved')

/** The text of an address for a connection. An IPv4 address in IPv6 form is written as IPv4. */
export const writtenAddress = ({ version, value }: Address): string =>
  version === 4
    ? [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.')
    : Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16)).join(':')
