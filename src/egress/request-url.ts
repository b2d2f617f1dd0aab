import { Problem } from '../basics/errors.js'
import { readHost, readPort } from './policy.js'

/** The ports that `fetch` never calls: servers of other protocols could mistake a request for one of their own. */
const badPorts: ReadonlySet<number> = new Set([
  ...[1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79],
  ...[87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179],
  ...[389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989],
  ...[990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679],
  ...[6697, 10080],
])

const refused = (detail: string, hint: string): Problem => new Problem('egress_refused', 'Not allowed to call', detail, { hint })

/** Reads the address of a call. `where` is its host with the port, for errors. @throws Problem egress_refused */
export const readRequestUrl = (text: string): { url: URL; where: string } => {
  if (!URL.canParse(text)) throw refused('The address of the call is not a URL', 'Write it as https://host/path.')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refused(`The protocol ${url.protocol.slice(0, 20)} is not called`, 'Write an address that begins with https:// or http://.')
  if (url.username !== '' || url.password !== '')
    throw refused('The address of the call holds a user or a password', 'Send them in a header.')
  const { name } = readHost(url.hostname)
  const port = readPort(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port)
  const where = `${name}:${port}`
  if (badPorts.has(port)) throw refused(`${where} has a port of another protocol`, 'Name a port that speaks HTTP.')
  return { url, where }
}
