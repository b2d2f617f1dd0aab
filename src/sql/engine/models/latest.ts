import { foldName } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { named } from '../../../dialect/names.js'
import { quoteName } from '../../../dialect/strings.js'
import { parseSelect } from '../ast/checked-text.js'
import { conjuncts, isConstant, readsOf } from '../ast/conditions.js'
import { cloneAst, type AstNode } from '../ast/json.js'
import { allOf, become, columnRef, emptyRef, isColumnRef, nodeOf, subqueryRef, textOf, textsOf, walk } from '../ast/nodes.js'
import { fillParameters } from '../ast/templates.js'
import type { ArgumentKind, FutureRows, ScoringInput } from '../scoring/scoring-model.js'
import { describe } from '../session/describe.js'
import type { Leaf } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { atPlace } from '../session/sources.js'
import { futureTable, keyColumn, keySql, timeColumn } from './future.js'
import { argumentOf, timeSql, type Mapping } from './mapping.js'
import { modelColumn } from './outputs.js'
import { modelColumnOf, isColumnOf, type ModelUse } from './references.js'

/** A model of series, the source of its inputs, and the column that is compared with LATEST. */
type LatestComparison = { use: ModelUse; future: FutureRows; column: AstNode }

const isLatest = (node: AstNode | undefined): boolean => {
  const [name = '', more] = node && isColumnRef(node) ? textsOf(node, 'column_names') : []
  return more === undefined && foldName(name) === 'latest'
}

/** The column of `column > LATEST`, with the sides in either order. */
const comparedIn = (condition: AstNode): AstNode | undefined => {
  const [left, right] = [nodeOf(condition, 'left'), nodeOf(condition, 'right')]
  const type = textOf(condition, 'type')
  if (type === 'COMPARE_GREATERTHAN' && isLatest(right) && left && isColumnRef(left)) return left
  return type === 'COMPARE_LESSTHAN' && isLatest(left) && right && isColumnRef(right) ? right : undefined
}

/** Whether a query asks for rows after the last ones of a table. */
export const asksLatest = (select: AstNode): boolean =>
  conjuncts(nodeOf(select, 'where_clause')).some((each) => comparedIn(each) !== undefined)

const seriesOf = (uses: readonly ModelUse[]): { use: ModelUse; future: FutureRows }[] =>
  uses.flatMap((use) => (use.bound.model.future ? [{ use, future: use.bound.model.future }] : []))

/** Removes `column > LATEST` from a WHERE, if there is a model of series and no column with the name LATEST. */
export const takeLatest = (select: AstNode, uses: readonly ModelUse[], leaves: readonly Leaf[]): AstNode | undefined => {
  if (seriesOf(uses).length === 0 || leaves.some((leaf) => named(leaf.columns, 'latest'))) return undefined
  const where = conjuncts(nodeOf(select, 'where_clause'))
  const condition = where.find((each) => comparedIn(each) !== undefined)
  if (!condition) return undefined
  select['where_clause'] = allOf(where.filter((each) => each !== condition))
  return comparedIn(condition)
}

/** @param time the column to write; undefined if no column gives the model the time of its series */
const notOrdering = (column: AstNode, uses: readonly ModelUse[], time: string | undefined): Problem => {
  const [series] = seriesOf(uses)
  const written = textsOf(column, 'column_names').join('.')
  const [model, order] = [series?.use.bound.label ?? '', series?.future.order.name ?? '']
  const [detail, hint] =
    time === undefined
      ? [
          `No column gives ${order}, which orders the series of model ${model}`,
          `Map one with ON t.your_column = ${series?.use.alias ?? 'm'}.${order}, and write t.your_column > LATEST.`,
        ]
      : [`${written} is not what orders the series of model ${model}: that is ${order}`, `Write ${time} > LATEST.`]
  return atPlace(new Problem('bad_statement', 'LATEST needs the date', detail, { hint }), column) as Problem
}

/** The rows of `FROM model WHERE date > LATEST`: a table with the model's inputs. */
export const futureAlone = async (session: Session, column: AstNode, use: ModelUse, alias: string): Promise<AstNode> => {
  const { future } = use.bound.model
  const names = textsOf(column, 'column_names')
  const order = future?.order.name
  if (!future || modelColumn(use.bound, names.at(-1) ?? '') !== order) throw notOrdering(column, [use], order)
  const table = await futureTable(session, use.bound, future)
  const keys = future.keys.map(({ name, type }, i) => `${keySql(i, type)} AS ${quoteName(name)}`)
  const sql = `SELECT ${[`${timeColumn} AS ${quoteName(future.order.name)}`, ...keys].join(', ')} FROM temp.${table}`
  return subqueryRef(await parseSelect(session.connection, sql), alias)
}

/** The table and the column that a name means. */
const sourceOf = (
  node: AstNode | undefined,
  leaves: readonly Leaf[],
  uses: readonly ModelUse[],
): { leaf: Leaf; name: string } | undefined => {
  if (!node || !isColumnRef(node)) return undefined
  const names = textsOf(node, 'column_names')
  const leaf = leaves.find((each) => isColumnOf(each, names, uses))
  const column = leaf && named(leaf.columns, names.at(-1) ?? '')
  return leaf && column && { leaf, name: column.name }
}

type LatestSource = LatestComparison & { mapping: Mapping; leaf: Leaf; time: string }

const findAsked = (
  column: AstNode,
  mappings: readonly { use: ModelUse; mapping: Mapping }[],
  uses: readonly ModelUse[],
  leaves: readonly Leaf[],
): LatestSource => {
  const ofModel = modelColumnOf(column, uses, leaves)
  let orders: string | undefined
  for (const { use, mapping } of mappings) {
    const { future } = use.bound.model
    const time = future && sourceOf(mapping.inputs.get(future.order.name), leaves, uses)
    const compared = ofModel ? undefined : sourceOf(column, leaves, uses)
    const isOwn = ofModel?.[0] === use && ofModel[1] === future?.order.name
    const isSame = compared !== undefined && compared.leaf === time?.leaf && compared.name === time.name
    if (future && time && (isOwn || isSame)) return { use, future, column, mapping, leaf: time.leaf, time: time.name }
    orders ??= time && `${time.leaf.alias}.${time.name}`
  }
  throw notOrdering(column, uses, orders)
}

type KeySource = { key: ScoringInput; column: string | undefined; expression: AstNode }

/** A key in the form that `keySql` reads. Texts are read as the type of the key; DuckDB refuses those that do not fit. */
const heldSql = (given: string, kind: ArgumentKind, type: ScoringInput['type']): string => {
  if (kind === 'number' || type === 'text') return given
  if (type === 'date' || type === 'timestamp') return timeSql[type].replace('$x', given)
  return `CAST(${type === 'boolean' ? `CAST(${given} AS BOOLEAN)` : given} AS DOUBLE)`
}

/** The values that identify a series, in the order of the model's keys: columns of the same table, or constants. */
const keySources = ({ use, future, mapping, leaf }: LatestSource, uses: readonly ModelUse[]): KeySource[] =>
  future.keys.map((key) => {
    const { name } = key
    const expression = mapping.inputs.get(name)
    const source = sourceOf(expression, [leaf], uses)
    if (expression && (source ?? isConstant(expression))) return { key, column: source?.name, expression }
    throw new Problem(
      'bad_statement',
      'A series is not named',
      `Nothing of ${leaf.alias} gives ${name}, which tells the series of model ${use.bound.label} apart`,
      { hint: `Map it with ON ${leaf.alias}.your_column = ${use.alias}.${name}, or name one: ${use.alias}.${name} = ….` },
    )
  })

/** Future rows have only a date and keys: a condition on anything else would never be true of them. */
const checkConditions = (select: AstNode, leaf: Leaf, uses: readonly ModelUse[], known: ReadonlySet<string>): void => {
  for (const condition of conjuncts(nodeOf(select, 'where_clause')))
    for (const names of readsOf(condition).columns) {
      const source = sourceOf(columnRef(...names), [leaf], uses)
      if (!source || known.has(source.name)) continue
      throw atPlace(
        new Problem('bad_statement', 'Future rows have no such value', `Rows behind LATEST have no ${source.name} yet`, {
          hint: `Choose series in a subquery: FROM (SELECT * FROM … WHERE ${source.name} …) AS ${leaf.alias}.`,
        }),
        condition,
      )
    }
}

/**
 * Replaces the table in `t.date > LATEST` with the rows after the last date of each series that the table has. Their columns are NULL,
 * except for the date and the keys.
 */
export const replaceByFuture = async (
  session: Session,
  select: AstNode,
  column: AstNode,
  mappings: readonly { use: ModelUse; mapping: Mapping }[],
  leaves: readonly Leaf[],
): Promise<void> => {
  const uses = mappings.map(({ use: each }) => each)
  const found = findAsked(column, mappings, uses, leaves)
  const { use, future, leaf, time } = found
  const keys = keySources(found, uses)
  const grouped = [...new Set(keys.flatMap(({ column: name }) => (name === undefined ? [] : [name])))]
  checkConditions(select, leaf, uses, new Set([time, ...grouped]))
  const table = await futureTable(session, use.bound, future)
  const others = leaf.columns.map(({ name }) => name).filter((name) => name !== time && !grouped.includes(name))
  // No row passes the filter, so the value is a NULL with the column's type.
  const inner = [
    ...grouped.map(quoteName),
    ...others.map((name) => `any_value(${quoteName(name)}) FILTER (WHERE false) AS ${quoteName(name)}`),
  ]
  const items = leaf.columns.map(({ name }) => (name === time ? `f.${timeColumn} AS ${quoteName(name)}` : `g.${quoteName(name)}`))
  const values: Record<string, AstNode> = {}
  const on: string[] = []
  for (const [i, { key, column: name, expression }] of keys.entries()) {
    const read = name === undefined ? cloneAst(expression) : columnRef('g', name)
    const [described] = name === undefined ? await describe(session.connection, emptyRef(), { entries: [] }, [expression]) : []
    const kind = (described ?? named(leaf.columns, name ?? ''))?.kind ?? 'text'
    const given = await argumentOf(session.connection, key, read, kind)
    values[`key_${i}`] = given.expression
    on.push(`f.${keyColumn(i)} IS NOT DISTINCT FROM ${heldSql(`$key_${i}`, given.kind, key.type)}`)
  }
  const sql = `SELECT ${items.join(', ')} FROM (
    SELECT ${[...inner, 'count(*) AS ledger_rows'].join(', ')} FROM ledger_source${grouped.length > 0 ? ` GROUP BY ${grouped.map(quoteName).join(', ')}` : ''}
  ) AS g JOIN temp.${table} AS f ON ${['g.ledger_rows > 0', ...on].join(' AND ')}`
  const tree = fillParameters(await parseSelect(session.connection, sql), values)
  const source = cloneAst(leaf.ref)
  walk(tree, (node) => {
    if (textOf(node, 'table_name') === 'ledger_source') become(node, source)
    return true
  })
  become(leaf.ref, subqueryRef(tree, leaf.alias))
}
