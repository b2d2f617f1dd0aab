import { foldName } from '../../../../events/common.js'
import { isProblem, Problem } from '../../../basics/errors.js'
import type { TablePath } from '../../contract/select.js'
import type { TableMeaning } from './resolve.js'
import { nameKey } from '../../../dialect/names.js'

/**
 * The full name of the table that a name means. Tables of this service itself have no full name and are never allowed. The same is true of
 * agents and knowledge bases.
 */
const pathOf = (found: TableMeaning): TablePath | undefined => {
  switch (found.kind) {
    case 'view':
      return [found.project.name, found.view.name]
    case 'model':
      return [found.project.name, found.model.name]
    case 'file':
      return ['files', found.file.name]
    case 'connected':
      return [found.connection.name, ...(found.schema === undefined ? [] : [found.schema]), found.table]
    case 'relation':
    case 'agent':
    case 'knowledge':
      return undefined
  }
}

const shownMax = 50

/**
 * The tables that a statement may name, if it may not name all. A view may read other tables. Every other name is refused with the same
 * words whether it exists or not, so that a refusal does not reveal which tables exist.
 *
 * @example new AllowedTables([['files', 'cars']]).refusal(['shop', 'prices']) // The table shop.prices is not one of those …
 */
export class AllowedTables {
  readonly #keys: ReadonlySet<string>

  constructor(private readonly only: readonly TablePath[]) {
    this.#keys = new Set(only.map(nameKey))
  }

  /**
   * The meaning of a name, if the statement may read it. `parts` is the name as the statement writes it, `db` the database for the lookup.
   * If a name without a database means nothing there, it means the only allowed table of that name.
   */
  async meaning(parts: readonly string[], db: string, resolve: (parts: string[]) => Promise<TableMeaning>): Promise<TableMeaning> {
    const own = this.#only(parts)
    const found = (await this.#allowed(parts, db, resolve)) ?? (own && (await this.#allowed(own, db, resolve)))
    if (found) return found
    throw this.refusal(parts)
  }

  async #allowed(
    parts: readonly string[],
    db: string,
    resolve: (parts: string[]) => Promise<TableMeaning>,
  ): Promise<TableMeaning | undefined> {
    const found = await resolve([...parts]).catch((error: unknown) => {
      const isNamed = this.#keys.has(nameKey(parts)) || this.#keys.has(nameKey([db, ...parts]))
      if (isNamed || !isProblem(error)) throw error
    })
    const path = found && pathOf(found)
    return path && this.#keys.has(nameKey(path)) ? found : undefined
  }

  /** The full name of the only table with this name; undefined if there are several, or if the name has a database. */
  #only(parts: readonly string[]): TablePath | undefined {
    const [name] = parts
    if (name === undefined || parts.length > 1) return undefined
    const called = this.only.filter((path) => foldName(path.at(-1) ?? '') === foldName(name))
    return called.length === 1 ? called[0] : undefined
  }

  /** The problem of a table that is not allowed. It names some allowed tables. */
  refusal(parts: readonly string[]): Problem {
    const known = this.only.slice(0, shownMax).map((path) => path.join('.'))
    const more = this.only.length > shownMax ? ', …' : ''
    return this.#refused(
      `The table ${parts.join('.')} is not one of those that may be read here`,
      known.length === 0 ? 'No table may be read here.' : `These may be read: ${known.join(', ')}${more}.`,
    )
  }

  /** Refuses a form that reads tables without naming them. */
  refuseForm(what: string, hint: string): never {
    throw this.#refused(`${what} is not allowed here`, hint)
  }

  #refused(detail: string, hint: string): Problem {
    return new Problem('refused_statement', 'It may not be read here', detail, { hint })
  }
}
