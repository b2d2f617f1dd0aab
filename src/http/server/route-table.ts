/** Anything that is found by method and path. */
type RouteAddress = { method: string; path: string }

/** An entry, and the names in its path with their places. */
type Entry<T> = { route: T; names: readonly { name: string; at: number }[] }

/** One segment in the tree of known paths: the segments that follow, and the entries that end here, by method. */
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

/** The entry for a method below a node, from the segment `at` on. */
const entryBelow = <T>(node: Node<T>, segments: readonly string[], at: number, method: string): Entry<T> | undefined => {
  const segment = segments[at]
  if (segment === undefined) return node.byMethod.get(method)
  const fixed = node.fixed.get(segment.toLowerCase())
  const found = fixed && entryBelow(fixed, segments, at + 1, method)
  return found ?? (node.named && segment !== '' ? entryBelow(node.named, segments, at + 1, method) : undefined)
}

const matchOf = <T extends RouteAddress>({ route, names }: Entry<T>, sent: readonly string[]): Omit<Match<T>, 'found' | 'allowed'> => {
  const segments: Record<string, string> = {}
  for (const { name, at } of names) segments[name] = decodeURIComponent(sent[at] ?? '')
  return { segments, template: route.path }
}

/**
 * Finds the entry for a path segment by segment. Fixed segments take precedence over named ones and ignore case; a named segment
 * matches any text. HEAD is allowed where GET is.
 *
 * @example new RouteTable(routes).find('GET', '/projects/shop/skills') // { found: route, segments: { project: 'shop' }, … }
 */
export class RouteTable<T extends RouteAddress> {
  readonly #root = empty<T>()
  readonly #methods = new Set<string>()

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
    const names = path.flatMap((segment, at) => (isNamed(segment) ? [{ name: segment.slice(1), at }] : []))
    node.byMethod.set(method, { route, names })
    this.#methods.add(method)
  }

  /**
   * The match of a path; undefined if there is none.
   * @throws URIError when a named segment is not well-formed
   */
  find(method: string, path: string): Match<T> | undefined {
    const sent = segmentsOf(path)
    const entryFor = (asked: string) => entryBelow(this.#root, sent, 0, asked)
    const found = entryFor(method === 'HEAD' ? 'GET' : method)
    if (found) return { found: found.route, ...matchOf(found, sent), allowed: [] }
    const allowed = [...this.#methods].filter(entryFor)
    const [other] = allowed.flatMap((one) => entryFor(one) ?? [])
    if (!other) return undefined
    return { found: undefined, ...matchOf(other, sent), allowed: (allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed).sort() }
  }
}
