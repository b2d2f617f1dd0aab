import type { Request } from 'express'
import { isIP } from 'node:net'
import { Problem, wrong } from '../../basics/errors.js'

/**
 * The names of this service. With `guarded`, requests to any other name are refused. `own` is the setting HOST; `allowed` are host
 * names, with or without a port.
 */
export type Hosts = { guarded: boolean; own: string; allowed: readonly string[] }

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD'])

const urlOf = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

/** A `Host` header as a URL, which normalises names and ports. Undefined if it is not exactly a host. */
const hostUrl = (header: string | undefined, protocol = 'http:'): URL | undefined =>
  header !== undefined && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(header) ? urlOf(`${protocol}//${header}`) : undefined

const isLocalName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost')
const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0

/** With two Host headers, this check would read the first one while a proxy may have checked the other. */
const hasOneHost = (rawHeaders: readonly string[]): boolean => {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1
  return hosts <= 1
}

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
 * Prevents two attacks in which a web page makes its visitor's browser act on this service.
 *
 * DNS rebinding: an attacker makes the page's own name point to this machine, so that the browser takes the service for the
 * page's server. The `Host` header still has that name. A numeric address cannot be rebound.
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
  // Nearly all requests name the same host, which need not be read each time.
  let lastKnown: string | undefined
  const isKnownHost = (host: string) => {
    if (host === lastKnown) return true
    const url = hostUrl(host)
    if (!url || !isKnown(url)) return false
    lastKnown = host
    return true
  }
  const mayWrite = (page: URL | undefined, hosts: readonly string[]) =>
    page !== undefined && (hosts.some((host) => page.host === hostUrl(host, page.protocol)?.host) || isAllowed(page))
  return (req) => {
    const { method, headers } = req
    if (!hasOneHost(req.rawHeaders)) throw wrong('there is more than one Host header', 'Send one.')
    // Behind a trusted proxy there are two hosts. Both are checked, because a rebound page can send any X-Forwarded-Host.
    // HTTP/1.0 may have neither, but browsers do not use it.
    const forwarded = headers['x-forwarded-host'] === undefined ? [] : [req.host]
    const hosts = [headers.host, ...forwarded].filter((host) => host !== undefined)
    if (guarded && !hosts.every(isKnownHost)) refuseHost()
    const { origin } = headers
    if (origin !== undefined && !safeMethods.has(method) && !mayWrite(urlOf(origin), hosts)) refuseOrigin()
  }
}
