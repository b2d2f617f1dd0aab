import { foldName } from '../../../../events/common.js'
import type { AstNode } from '../ast/json.js'
import { nodeOf, nodesOf, partsOf, textOf, walk } from '../ast/nodes.js'
import { readQuery } from '../read/read-query.js'
import { nativeDatabase } from '../resolve/native-queries.js'
import { databaseOfView, resolveTable, type LookupPlace } from '../resolve/resolve.js'
import type { Session } from '../session/session.js'
import { Sources } from '../session/sources.js'

/** The names of tables in a tree that are no CTEs, each with the database for a name without one. */
const tablesIn = (tree: AstNode, db: string): { parts: string[]; db: string }[] => {
  const tables: { parts: string[]; db: string }[] = []
  const ctes = new Set<string>()
  walk(tree, (node) => {
    for (const entry of nodesOf(nodeOf(node, 'cte_map') ?? {}, 'map')) ctes.add(foldName(textOf(entry, 'key')))
    const database = nativeDatabase(node)
    const inside = database === undefined ? undefined : nodeOf(node, 'subquery')
    if (database !== undefined && inside) tables.push(...tablesIn(inside, database))
    if (textOf(node, 'type') === 'BASE_TABLE') tables.push({ parts: partsOf(node), db })
    return !inside
  })
  return tables.filter(({ parts: [name = '', second] }) => second !== undefined || !ctes.has(foldName(name)))
}

/** A session that only reads texts: nothing of them belongs to the statement. */
const reading = (session: Session): Session => ({
  ...session,
  sources: new Sources(),
  quoted: new Set(),
  natives: new Map(),
  pivotQueries: new Map(),
})

/**
 * Whether a query, or a view that it reads, names an agent or a knowledge base. The server may ask them only while no part of the query
 * runs. So it sends such a query several times, with the answers so far.
 *
 * @example await needsAnswers(session, tree, { directory, db: 'shop', position: 40, head: 40 })
 */
export const needsAnswers = async (session: Session, tree: AstNode, place: LookupPlace, views = new Set<string>()): Promise<boolean> => {
  for (const { parts, db } of tablesIn(tree, place.db)) {
    // The query itself says what is wrong with a name.
    const found = await resolveTable({ ...place, db }, parts).catch(() => undefined)
    if (found?.kind === 'agent' || found?.kind === 'knowledge') return true
    if (found?.kind !== 'view' || views.has(found.view.stream)) continue
    views.add(found.view.stream)
    const { view, project } = found
    const inside = { ...place, db: await databaseOfView(place, view, project) }
    const body = await readQuery(reading(session), { sql: view.query, view: view.name }, inside.db).catch(() => undefined)
    if (body && (await needsAnswers(session, body.tree, inside, views))) return true
  }
  return false
}
