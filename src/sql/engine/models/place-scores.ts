import { conjuncts } from '../ast/conditions.js'
import { NumberText, cloneAst, type AstNode } from '../ast/json.js'
import {
  aliased,
  allOf,
  become,
  call,
  columnRef,
  integerConstant,
  leftJoin,
  nodeOf,
  sameValue,
  selectNode,
  star,
  subqueryRef,
} from '../ast/nodes.js'
import type { FunctionShape } from '../scoring/functions.js'
import type { Leaf, Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { firstRows } from './first-rows.js'
import type { Mapping } from './mapping.js'
import { readsOnly, type ModelUse } from './references.js'
import { stageInputs, stageRows, type StagedUse } from './staging.js'

/**
 * A model in a SELECT. With a `home` it is scored at that table, because a join of the table reads an output. `isServed` says that WHERE
 * gives its rows, which are recorded one by one.
 */
export type JoinedModel = {
  use: ModelUse
  mapping: Mapping
  parameters: AstNode[]
  shape: FunctionShape
  column: string
  home: Leaf | undefined
  isServed: boolean
}

/** The parts of a FROM with models. */
export type Parts = {
  uses: readonly ModelUse[]
  leaves: readonly Leaf[]
  table: AstNode
  order: AstNode[]
  mappings: { use: ModelUse; mapping: Mapping }[]
  conditions: AstNode[]
  correlated: Leaf | undefined
  isServed: boolean
}

const useConstant = (use: number): AstNode => ({
  ...integerConstant(use),
  value: { type: { id: 'INTEGER', type_info: null }, is_null: false, value: new NumberText(String(use)) },
})

/** Conditions on one table only are applied before its rows are scored, unless DuckDB takes a sample of the rows before WHERE. */
const takeOwnConditions = (select: AstNode, leaf: Leaf, uses: readonly ModelUse[]): AstNode | null => {
  if (nodeOf(select, 'sample')) return null
  const own: AstNode[] = []
  const rest = conjuncts(nodeOf(select, 'where_clause')).filter((condition) => {
    const isOwn = readsOnly(condition, [leaf], uses)
    if (isOwn) own.push(condition)
    return !isOwn
  })
  select['where_clause'] = allOf(rest)
  return allOf(own)
}

const callOf = async (session: Session, joined: JoinedModel): Promise<AstNode> => {
  const { name, number, fresh } = await session.functions.reach(session.run, joined.use.bound, joined.shape, joined.isServed)
  if (fresh) await session.refresh()
  return call(name, useConstant(number), ...joined.parameters.map(cloneAst))
}

const stagedUse = ({ use, parameters, column, shape, isServed }: JoinedModel): StagedUse => {
  return { bound: use.bound, parameters, column, extent: shape.extent, isServed }
}

/** A table with a reserved column for each model. Every output is read from this column. */
const scoredLeaf = async (
  session: Session,
  leaf: Leaf,
  where: AstNode | null,
  joined: readonly JoinedModel[],
  scope: Scope,
): Promise<AstNode> => {
  const table = cloneAst(leaf.ref)
  if (session.mode === 'staged') {
    return subqueryRef(await stageRows(session, table, where, joined.map(stagedUse), scope), leaf.alias)
  }
  const columns: AstNode[] = []
  for (const each of joined) columns.push(aliased(each.column, await callOf(session, each)))
  return subqueryRef(selectNode([star(''), ...columns], table, where), leaf.alias)
}

/** Builds a FROM with scores for the tables, and gives the place of each model's scores. */
type ScorePlacement = (
  session: Session,
  select: AstNode,
  parts: Parts,
  joined: readonly JoinedModel[],
  scope: Scope,
) => Promise<(of: JoinedModel) => AstNode>

/** One table beside the models: it gets one reserved column for each model. */
export const besideOneTable: ScorePlacement = async (session, select, { leaves: [leaf], uses }, joined, scope) => {
  if (!leaf) throw new TypeError('a FROM has a table')
  const { table, where } = firstRows(select, leaf, takeOwnConditions(select, leaf, uses), joined)
  select['from_table'] = await scoredLeaf(session, { ...leaf, ref: table }, where, joined, scope)
  return ({ column }) => columnRef(leaf.alias, column)
}

const scoredAlias = (index: number) => `ledger_scored_${index}`

/** The conditions in WHERE on the tables alone. */
const tableConditions = (select: AstNode, { leaves, uses }: Parts): AstNode[] =>
  conjuncts(nodeOf(select, 'where_clause')).filter((condition) => readsOnly(condition, leaves, uses))

/** Joins the scores of a model to a join of tables; the inputs match them. */
const withScores = async (
  session: Session,
  from: AstNode,
  where: AstNode | null,
  joined: JoinedModel,
  index: number,
  scope: Scope,
): Promise<AstNode> => {
  const { parameters } = joined
  const { query, inputs } = await stageInputs(session, from, where, stagedUse(joined), index, scope)
  const same = parameters.map((parameter, i) => sameValue(cloneAst(parameter), columnRef(scoredAlias(index), inputs[i] ?? '')))
  return leftJoin(from, subqueryRef(query, scoredAlias(index)), allOf(same))
}

/** Several tables: their join does not change. Outputs come from calls in place, or from scores that are joined to it. */
export const besideSeveral: ScorePlacement = async (session, select, parts, joined, scope) => {
  const { leaves, table } = parts
  for (const leaf of leaves) {
    const here = joined.filter(({ home }) => home === leaf)
    if (here.length > 0) become(leaf.ref, await scoredLeaf(session, leaf, null, here, scope))
  }
  select['from_table'] = table
  const calls = new Map<JoinedModel, AstNode>()
  for (const [index, each] of joined.entries()) {
    if (each.home) calls.set(each, columnRef(each.home.alias, each.column))
    else if (session.mode === 'inside') calls.set(each, await callOf(session, each))
    else {
      const where = allOf(tableConditions(select, parts))
      select['from_table'] = await withScores(session, nodeOf(select, 'from_table') ?? table, where, each, index, scope)
      calls.set(each, columnRef(scoredAlias(index), each.column))
    }
  }
  return (of) => cloneAst(calls.get(of) ?? columnRef(of.column))
}
