import { foldName } from '../../../../events/common.js'
import type { LastValue } from '../../../../events/job.js'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { parseSelect, printSelect, readChecked } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import {
  become,
  columnRef,
  isColumnRef,
  isQuery,
  nodeOf,
  nodesOf,
  nullConstant,
  subqueryRef,
  textConstant,
  textOf,
  textsOf,
  walk,
} from '../ast/nodes.js'
import { expressionTemplate } from '../ast/templates.js'
import { fetchHighest } from '../connected-tables/plan-scan.js'
import { leavesOf } from '../models/detach.js'
import type { ConnectedTable } from '../resolve/resolve.js'
import { lastPrefix } from '../read/mark-last.js'
import { aliasOf, describe, standalone } from '../session/describe.js'
import type { Scope } from '../session/scope.js'
import type { LastSession, Session } from '../session/session.js'
import { atPlace, withText } from '../session/sources.js'

/** A column that is compared with LAST. `start` is the value of LAST before any run has seen a value. */
type LastComparison = { condition: AstNode; column: AstNode; mark: AstNode; ordinal: number; start: AstNode | undefined }

const ordinalOf = (node: AstNode | undefined): number | undefined => {
  const [name = '', more] = node && isColumnRef(node) ? textsOf(node, 'column_names') : []
  return more === undefined && name.startsWith(lastPrefix) ? Number(name.slice(lastPrefix.length)) : undefined
}

const comparedOn = (condition: AstNode, mark: AstNode | undefined, column: AstNode | undefined): LastComparison[] => {
  if (!mark || !column || !isColumnRef(column)) return []
  const [first, start] = textOf(mark, 'type') === 'OPERATOR_COALESCE' ? nodesOf(mark, 'children') : [mark]
  const ordinal = ordinalOf(first)
  return ordinal === undefined ? [] : [{ condition, column, mark, ordinal, start }]
}

/** The comparisons with LAST in the WHERE of a query, but not in its subqueries. */
const comparedIn = (select: AstNode): LastComparison[] => {
  const found: LastComparison[] = []
  const where = nodeOf(select, 'where_clause')
  if (where)
    walk(where, (node) => {
      const [left, right] = [nodeOf(node, 'left'), nodeOf(node, 'right')]
      if (/^COMPARE_GREATERTHAN/.test(textOf(node, 'type'))) found.push(...comparedOn(node, right, left))
      if (/^COMPARE_LESSTHAN/.test(textOf(node, 'type'))) found.push(...comparedOn(node, left, right))
      return !isQuery(node)
    })
  return found
}

const misused = (detail: string, hint: string): Problem => new Problem('bad_statement', 'LAST needs a column of a table', detail, { hint })

const nameOf = (column: AstNode): string => textsOf(column, 'column_names').join('.')

/** The table of the column in the comparison. */
const tableOf = (select: AstNode, models: FromReferences['models'], column: AstNode): AstNode => {
  const from = nodeOf(select, 'from_table')
  const leaves = (from ? leavesOf(from) : []).filter((ref) => !models.some((model) => model.ref === ref))
  const [alias = '', name] = textsOf(column, 'column_names')
  const found = name === undefined ? leaves : leaves.filter((ref) => foldName(aliasOf(ref)) === foldName(alias))
  const [table] = found
  if (table && found.length === 1) return table
  throw atPlace(
    misused('LAST is compared with a column whose table is not clear', 'Write the table before the column: t.id > LAST.'),
    column,
  )
}

/** Ordered types, each with a text that can be converted back to the value. */
const ordered =
  /^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d{1,2},\d{1,2}\)|FLOAT|DOUBLE|VARCHAR|DATE|TIME|TIMESTAMP(?:_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE|UUID)$/

const literalOf = async ({ connection }: Session, { type, value }: LastValue): Promise<AstNode> => {
  if (value === null || !ordered.test(type)) return nullConstant()
  // A connected database gets decimals as they are written, without casts.
  if (type.startsWith('DECIMAL') && /^\d+\.\d+$/.test(value)) {
    const [written] = nodesOf(await parseSelect(connection, `SELECT ${value}`), 'select_list')
    if (written) return written
  }
  return expressionTemplate(connection, `CAST($value AS ${type})`, { value: textConstant(value) })
}

/**
 * The highest of the earlier value and the values of a table's column. Infinities and NaN are left out, because nothing would be higher.
 */
const highestOf = async (
  session: Session,
  compared: LastComparison,
  { ref, column, low }: { ref: AstNode; column: AstNode; low?: LastValue | undefined },
  scope: Scope,
): Promise<LastValue> => {
  const { connection } = session
  const name = nameOf(compared.column)
  const [described] = await describe(connection, ref, scope, [column])
  const isFinite =
    described?.kind === 'number' || described?.kind === 'float' || described?.kind === 'time' ? ' FILTER (isfinite($column))' : ''
  const before = low && low.value !== null ? await literalOf(session, low) : nullConstant()
  const item = (sql: string) => expressionTemplate(connection, sql, { column, before })
  const highest = `greatest(max($column)${isFinite}, $before)`
  const tree = standalone([await item(`CAST(${highest} AS VARCHAR)`), await item(`typeof(max($column))`)], ref, null, scope)
  const text = await printSelect(connection, tree)
  const [[value, type] = []] = await withText(text, tree, () => readChecked(connection, text))
  if (typeof type !== 'string' || !ordered.test(type))
    throw atPlace(
      misused(`LAST cannot be compared with ${name}, which is of the type ${String(type)}`, 'Compare a number, a time or a text.'),
      compared.column,
    )
  if (typeof value === 'string' && value.length > limits.jobLastMaxChars)
    throw atPlace(
      misused(`The highest value of ${name} has more than ${limits.jobLastMaxChars} characters`, 'Compare a shorter column.'),
      compared.column,
    )
  return { column: name, type, value: typeof value === 'string' ? value : null }
}

/** Thrown when each LAST of a statement has its value, and nothing else is wanted. */
export class BasesFound extends Error {
  constructor(readonly last: LastValue[]) {
    super('the values with which each LAST begins are found')
  }
}

/** The value of LAST for a column whose values no run has seen. */
const unseen = (column: AstNode): LastValue => ({ column: nameOf(column), type: 'VARCHAR', value: null })

/** The parts of a query's FROM: its connected tables, which are not fetched yet, and its models. */
export type FromReferences = { connected: readonly { ref: AstNode; found: ConnectedTable }[]; models: readonly { ref: AstNode }[] }

/** The comparisons with LAST in one query, before and after the tables of its FROM are available. */
export class LastInQuery {
  readonly #compared: LastComparison[]
  /** The comparisons without an earlier value. */
  readonly #first: LastComparison[] = []
  readonly #empty = new Set<LastComparison>()

  constructor(
    private readonly session: Session,
    private readonly last: LastSession,
    private readonly select: AstNode,
  ) {
    this.#compared = comparedIn(select)
  }

  /** Whether the query compares anything with LAST. */
  get isUsed(): boolean {
    return this.#compared.length > 0
  }

  /** Writes the values of earlier runs into the conditions before anything is read, so that fewer rows are read. */
  async fillKnown(): Promise<void> {
    const { session, last } = this
    for (const compared of this.#compared) {
      const { condition, column, mark, ordinal, start } = compared
      session.keep = false
      const known = last.known[ordinal]
      if (known ?? start) last.seen.set(ordinal, known ?? unseen(column))
      if (known && known.value !== null) become(mark, await literalOf(session, known))
      else if (start) become(mark, start)
      // All rows that came into an empty table are new.
      else if (known) become(condition, await expressionTemplate(session.connection, '$column IS NOT NULL', { column }))
      else this.#first.push(compared)
    }
  }

  /**
   * Writes the current values where there is no earlier value: the first run gives no rows.
   * @throws BasesFound when each LAST of the statement has its value, and nothing else is wanted
   */
  async fillFirst(from: FromReferences, scope: Scope): Promise<void> {
    const { session, last } = this
    for (const compared of this.#first) {
      const highest = session.isPlanned ? undefined : await this.#highestNow(compared, from, scope)
      last.seen.set(compared.ordinal, highest ?? unseen(compared.column))
      if (highest?.value === null) this.#empty.add(compared)
      become(compared.mark, highest ? await literalOf(session, highest) : nullConstant())
    }
    if (last.wantsBase && !session.isPlanned && last.seen.size === last.marks) throw new BasesFound(lastSeen(last))
  }

  /** Notes the highest values after the rows are available. */
  async note({ models }: FromReferences, scope: Scope): Promise<void> {
    const { session, last } = this
    if (session.isPlanned || last.wantsBase) return
    for (const compared of this.#compared) {
      if (this.#empty.has(compared)) continue
      const ref = tableOf(this.select, models, compared.column)
      const low = last.seen.get(compared.ordinal)
      last.seen.set(compared.ordinal, await highestOf(session, compared, { ref, column: compared.column, low }, scope))
    }
  }

  async #highestNow(compared: LastComparison, { connected, models }: FromReferences, scope: Scope): Promise<LastValue> {
    const { session } = this
    const ref = tableOf(this.select, models, compared.column)
    const there = connected.find((each) => each.ref === ref)
    if (!there) return highestOf(session, compared, { ref, column: compared.column }, scope)
    const { query, column } = await fetchHighest(session, there.found, textsOf(compared.column, 'column_names').at(-1) ?? '')
    return highestOf(session, compared, { ref: subqueryRef(query, 't'), column: columnRef('t', column) }, scope)
  }
}

/** Refuses a LIMIT anywhere in a statement with LAST: the rows beyond the limit would count as seen. */
export const refuseLimit = (last: LastSession, tree: AstNode): void => {
  if (last.marks === 0) return
  walk(tree, (node) => {
    if (!textOf(node, 'type').startsWith('LIMIT_')) return true
    throw new Problem(
      'bad_statement',
      'LAST needs all rows',
      'LAST and LIMIT cannot be used together: rows beyond the LIMIT would count as seen',
      {
        hint: 'Leave LIMIT out; COALESCE(LAST, x) says where the first run begins.',
      },
    )
  })
}

/** Refuses a statement with a LAST that is not compared with a column of a table. */
export const checkLastUsed = (last: LastSession): void => {
  if (last.seen.size < last.marks)
    throw misused('LAST is not compared with a column of a table', 'It belongs in a WHERE: SELECT * FROM db.t WHERE t.id > LAST.')
}

/** The value of LAST in the next run. */
export const lastSeen = (last: LastSession): LastValue[] => [...last.seen].sort(([one], [other]) => one - other).map(([, value]) => value)
