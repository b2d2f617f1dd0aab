/** Sends a request to a service; the path begins with a slash. */
export type Transport = (path: string, init: RequestInit) => Promise<Response>

/**
 * Sends requests to a service and adds the same headers to each, such as a login. `call` sends them, by default Node's `fetch`.
 *
 * @example await fetchFrom('http://127.0.0.1:47334', { authorization: 'Bearer t' })('/api/status', {})
 */
export const fetchFrom =
  (address: string, headers: Record<string, string>, call: Transport = fetch): Transport =>
  (path, init) =>
    call(address + path, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } })
