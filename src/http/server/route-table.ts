/** Anything that is found by method and path. */
type Addressed = { method: string; path: string }

/** An entry, and the names in its path. */
type Entry<T> = { route: T; names: readonly string[] }

/** A match of a path: its entry for each method, and the values of the named segments as they were sent. */
type Place<T> = { byMethod: ReadonlyMap<string, Entry<T>>; sent: readonly string[] }

/** One segment in the tree of known paths: the segments that follow, and the entries that end here. */
type Node<T> = { fixed: Map<string, Node<T>>; named: Node<T> | undefined; byMethod: Map<string, Entry<T>> }

/** The result of a lookup. `found` is undefined if the path exists without this method; `allowed` lists its methods. */
export type Match<T> = {
  found: T | undefined
  /** The named segments, decoded. */
  segments: Readonly<Record<string, string>>
  /** The template of the path. */
  template: string
  allowed: readonly string[]
}

const empty = <T>(): Node<T> => ({ fixed: new Map(), named: undefined, byMethod: new Map() })

/** The segments of a path; one trailing slash is ignored. */
const segmentsOf = (path: string): string[] => {
  const parts = path.split('/').slice(1)
  if (parts.at(-1) === '') parts.pop()
  return parts
}

const isNamed = (segment: string): boolean => segment.startsWith(':')

/**
 * Finds the entry for a path segment by segment. Fixed segments take precedence over named ones and ignore case; a named segment
 * matches any text. HEAD is allowed where GET is.
 *
 * @example new RouteTable(routes).find('GET', '/projects/shop/skills') // { found: route, segments: { project: 'shop' }, … }
 */
export class RouteTable<T extends Addressed> {
  readonly #root = empty<T>()

  constructor(routes: readonly T[]) {
    for (const route of routes) this.#add(route)
  }

  #add(route: T): void {
    let node = this.#root
    const path = segmentsOf(route.path)
    for (const segment of path) {
      const known = isNamed(segment) ? node.named : node.fixed.get(segment.toLowerCase())
      const next = known ?? empty<T>()
      if (isNamed(segment)) node.named = next
      else node.fixed.set(segment.toLowerCase(), next)
      node = next
    }
    const method = route.method.toUpperCase()
    if (node.byMethod.has(method)) throw new TypeError(`two routes are ${method} ${route.path}`)
    node.byMethod.set(method, { route, names: path.filter(isNamed).map((name) => name.slice(1)) })
  }

  /**
   * The match of a path; undefined if there is none.
   * @throws URIError when a named segment is not well-formed
   */
  find(method: string, path: string): Match<T> | undefined {
    const places = this.#places(segmentsOf(path))
    const [first] = places
    if (!first) return undefined
    const wanted = method === 'HEAD' ? 'GET' : method
    const place = places.find(({ byMethod }) => byMethod.has(wanted)) ?? first
    const found = place.byMethod.get(wanted)
    // All entries of one path have the same template, except for the names in it.
    const [other] = place.byMethod.values()
    const entry = found ?? other
    const segments: Record<string, string> = {}
    for (const [i, name] of entry?.names.entries() ?? []) segments[name] = decodeURIComponent(place.sent[i] ?? '')
    return { found: found?.route, segments, template: entry?.route.path ?? '', allowed: found ? [] : allowedAt(places) }
  }

  /** All matches of the segments, those with fixed segments first. */
  #places(segments: readonly string[]): Place<T>[] {
    const places: Place<T>[] = []
    const walk = (node: Node<T>, at: number, sent: readonly string[]): void => {
      const segment = segments[at]
      if (segment === undefined) {
        if (node.byMethod.size > 0) places.push({ byMethod: node.byMethod, sent })
        return
      }
      const fixed = node.fixed.get(segment.toLowerCase())
      if (fixed) walk(fixed, at + 1, sent)
      if (node.named && segment !== '') walk(node.named, at + 1, [...sent, segment])
    }
    walk(this.#root, 0, [])
    return places
  }
}

const allowedAt = <T>(places: readonly Place<T>[]): string[] => {
  const methods = new Set(places.flatMap(({ byMethod }) => [...byMethod.keys()]))
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods].sort()
}
