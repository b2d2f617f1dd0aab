import { missingColumn } from './explain-error.js'
import { readDuckDBError } from '../ast/duckdb-error.js'
import type { AstNode } from '../ast/json.js'
import { isColumnRef, locationOf, textsOf, walk } from '../ast/nodes.js'
import type { Token } from '../../../dialect/lexer.js'
import { locationAt } from './find-node.js'
import type { Session } from '../session/session.js'
import { RunError, type Source, type Sources } from '../session/sources.js'
import { undecidedName } from './session-user.js'

/** The most attempts that read a statement, or one view, in another way. Each finds one place. */
const attemptsMax = 1_000

/** The places where a name in double quotes stands alone, as a column of no named table. */
const quotedPlaces = (tree: AstNode, sources: Sources, name: string): number[] => {
  const quoted = ({ kind, value }: Token): boolean => kind === 'quoted' && value === name
  const startsOf = (source: Source) => new Set(source.translation.tokens.filter(quoted).map(({ start }) => start))
  const starts = new Map(Array.from(sources, (source) => [source, startsOf(source)]))
  const found: number[] = []
  walk(tree, (node) => {
    const [column, more] = isColumnRef(node) ? textsOf(node, 'column_names') : []
    const location = column === name && more === undefined ? locationOf(node) : undefined
    const place = location === undefined ? undefined : sources.placeOf(location)
    if (location !== undefined && place && starts.get(place.source)?.has(place.offset)) found.push(location)
    return true
  })
  return found
}

/**
 * What is no column according to an error, if another attempt may read it in another way: the place of a name in double quotes, which is a
 * text as in MySQL, and `user`, which is the account. The same name may be a column in another part of the statement. Nothing after too
 * many attempts.
 */
export const noColumn = async (error: unknown, session: Session): Promise<string | number | undefined> => {
  const { connection, macros, quoted, sources, strings } = session
  if (strings.size >= attemptsMax) return undefined
  const missing = missingColumn(error)
  if (error instanceof RunError && error.tree && missing !== undefined && quoted.has(missing)) {
    const { bytes } = readDuckDBError(error.cause)
    const places = quotedPlaces(error.tree, sources, missing).filter((place) => !strings.has(place))
    const exact = bytes === undefined ? undefined : await locationAt(connection, error.text, error.tree, bytes - error.before)
    const place = exact === undefined ? places[0] : places.find((each) => each === exact)
    if (place !== undefined) return place
  }
  const name = undecidedName(error)
  return name !== undefined && macros.has(name) && !strings.has(name) ? name : undefined
}
