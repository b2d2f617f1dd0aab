import type { Request } from 'express'
import { isIP } from 'node:net'
import { Problem, wrong } from '../../basics/errors.js'

/** The names of this service: `guarded` when requests to any other are refused, `own` is the setting HOST, `allowed` are host names, with or without a port. */
export type Hosts = { guarded: boolean; own: string; allowed: readonly string[] }

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD'])

const urlOf = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

/** A `Host` header as a URL, which brings names and ports to one form. Undefined when it is more or less than a host. */
const hostUrl = (header: string | undefined, protocol = 'http:'): URL | undefined =>
  header !== undefined && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(header) ? urlOf(`${protocol}//${header}`) : undefined

const isLocalName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost')
const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0

/** The first of two Host headers would be checked here, and a proxy may have looked at the other. */
const hasOneHost = (rawHeaders: readonly string[]): boolean =>
  rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length <= 1

const refuseHost = (): never => {
  throw new Problem('wrong_host', 'Misdirected request', 'the Host header names a host that this service is not known by', {
    hint: 'Use localhost or the address in digits, or add the name to the setting ALLOWED_HOSTS.',
  })
}

const refuseOrigin = (): never => {
  throw new Problem('foreign_origin', 'Forbidden', 'a web page of another host may not write here', {
    hint: "Serve the page from this service's host, or add the page's host to the setting ALLOWED_HOSTS.",
  })
}

/**
 * Two ways in which a web page could make its visitor's browser act on this service are closed.
 *
 * DNS rebinding: the page's own name is made to point to this machine, so that the browser takes the service for the
 * page's server. The `Host` header still has that name. An address in digits cannot be rebound.
 * Cross-origin writes: a browser says in `Origin` which page wants to write. Other clients send none.
 *
 * @throws Problem 421 or 403 that names the setting
 */
export const refuseForeignHosts = ({ guarded, own, allowed }: Hosts): ((req: Request) => void) => {
  const isAllowed = ({ hostname, host }: URL) => allowed.includes(hostname) || allowed.includes(host)
  const isKnown = (url: URL) => {
    const name = url.hostname.replace(/\.$/, '')
    return isLocalName(name) || isAddress(name) || name === own.toLowerCase() || isAllowed(url)
  }
  const mayWrite = (page: URL | undefined, hosts: readonly string[]) =>
    page !== undefined && (hosts.some((host) => page.host === hostUrl(host, page.protocol)?.host) || isAllowed(page))
  return (req) => {
    const { method, headers } = req
    if (!hasOneHost(req.rawHeaders)) throw wrong('there is more than one Host header', 'Send one.')
    // Behind a trusted proxy there are two: a page that rebinds its name can say any X-Forwarded-Host, so both are checked.
    // HTTP/1.0 has neither, and browsers do not speak it.
    const hosts = [...new Set([headers.host, req.host])].filter((host) => host !== undefined)
    if (guarded && !hosts.map((host) => hostUrl(host)).every((url) => url && isKnown(url))) refuseHost()
    const { origin } = headers
    if (origin !== undefined && !safeMethods.has(method) && !mayWrite(urlOf(origin), hosts)) refuseOrigin()
  }
}
