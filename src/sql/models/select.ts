import { foldName } from '../../../events/common.js'
import { conjuncts, readsOf } from '../ast/conditions.js'
import { NumberText, cloneAst, type AstNode } from '../ast/json.js'
import {
  aliased,
  allOf,
  call,
  columnRef,
  integerConstant,
  leftJoin,
  nodeOf,
  emptyRef,
  selectNode,
  star,
  sameValue,
  subqueryRef,
} from '../ast/nodes.js'
import { Problem } from '../../errors.js'
import type { Leaf, Scope } from '../scope.js'
import type { Session } from '../session.js'
import { aliasOf, describe } from './describe.js'
import { detach, leavesOf } from './detach.js'
import type { FunctionShape } from './functions.js'
import { readGivenRows, tableOfRows } from './given-rows.js'
import { argumentOf, mapInputs, type Mapping } from './mapping.js'
import { isScored, outputExpression, showsAll } from './outputs.js'
import { expandStars, referencesIn, replaceReference, type ModelUse, type Reference, type Shown } from './references.js'
import type { Extent } from './scoring-model.js'
import { serve } from './served.js'
import { parameterNames, stageInputs, stageRows } from './staging.js'

type Joined = { use: ModelUse; mapping: Mapping; parameters: AstNode[]; shape: FunctionShape; column: string }

const givenAlias = 'ledger_given'

const runConstant = (id: number): AstNode => ({
  ...integerConstant(id),
  value: { type: { id: 'INTEGER', type_info: null }, is_null: false, value: new NumberText(String(id)) },
})

const asLeaf = async (session: Session, ref: AstNode, scope: Scope): Promise<Leaf> => {
  const alias = aliasOf(ref) || 'unnamed_subquery'
  ref['alias'] = alias
  return { ref, alias, columns: await describe(session.connection, ref, scope) }
}

/** Rows that WHERE gives to a model alone are a table too: then the model is joined to it. */
const fromGivenRows = async (session: Session, select: AstNode, use: ModelUse, scope: Scope): Promise<AstNode> => {
  const { rows, rest } = readGivenRows(use.bound, use.alias, nodeOf(select, 'where_clause'), session.quoted)
  const table = tableOfRows(rows, givenAlias)
  session.served.push(await serve(session, use.bound, table.ref, table.inputs, givenAlias, scope))
  select['where_clause'] = allOf(rest)
  return table.ref
}

const inCondition = (select: AstNode, references: readonly Reference[], uses: ModelUse): boolean => {
  const inside = (key: string) => {
    const part = nodeOf(select, key)
    return part ? referencesIn({ ...selectNode([], part), from_table: null, [key]: part }, [uses], []).length > 0 : false
  }
  return (
    references.some(({ use, column }) => use === uses && isScored(use.bound, column)) && ['where_clause', 'having', 'qualify'].some(inside)
  )
}

const extentOf = (references: readonly Reference[], use: ModelUse): Extent =>
  references.some((reference) => reference.use === use && showsAll(use.bound, reference.column)) ? 'all' : 'points'

/** Conditions that read one table only are applied before its rows are scored. */
const takeOwnConditions = (select: AstNode, leaf: Leaf): AstNode | null => {
  const own: AstNode[] = []
  const rest = conjuncts(nodeOf(select, 'where_clause')).filter((condition) => {
    const { columns, opaque } = readsOf(condition)
    const isOwn = !opaque && columns.every((names) => isColumnOf(leaf, names))
    if (isOwn) own.push(condition)
    return !isOwn
  })
  select['where_clause'] = allOf(rest)
  return allOf(own)
}

const isColumnOf = (leaf: Leaf, names: string[]): boolean => {
  const has = (name: string | undefined) => name !== undefined && leaf.columns.some((column) => foldName(column.name) === foldName(name))
  return names.length > 1 && foldName(names[0] ?? '') === foldName(leaf.alias) ? has(names[1]) : has(names[0])
}

const join = async (
  session: Session,
  select: AstNode,
  use: ModelUse,
  mapping: Mapping,
  from: AstNode,
  scope: Scope,
  references: readonly Reference[],
  index: number,
): Promise<Joined> => {
  const { connection } = session
  const { inputs } = use.bound.model
  const given = [...mapping.inputs.values()]
  const kinds = await describe(connection, from, scope, given)
  const kindOf = new Map(given.map((expression, i) => [expression, kinds[i]?.kind ?? 'text']))
  const made = await Promise.all(
    inputs.map((input) => {
      const expression = mapping.inputs.get(input.name)
      return argumentOf(connection, input, expression, (expression && kindOf.get(expression)) ?? 'text')
    }),
  )
  const shape = {
    kinds: made.map(({ kind }) => kind),
    extent: extentOf(references, use),
    volatile: inCondition(select, references, use),
  }
  return { use, mapping, parameters: made.map(({ expression }) => expression), shape, column: `ledger_scores_${index}` }
}

const callOf = async (session: Session, joined: Joined, volatile: boolean): Promise<AstNode> => {
  const { name, fresh } = await session.functions.nameOf(session.run, joined.use.bound, { ...joined.shape, volatile })
  if (fresh) await session.refresh()
  return call(name, runConstant(session.run.id), ...joined.parameters.map(cloneAst))
}

/** One table beside the models: it gets a reserved column a model, which every output is read from. */
const besideOneTable = async (
  session: Session,
  select: AstNode,
  leaf: Leaf,
  joined: readonly Joined[],
  scope: Scope,
): Promise<(of: Joined) => AstNode> => {
  const where = takeOwnConditions(select, leaf)
  if (session.mode === 'staged') {
    const uses = joined.map(({ use, parameters, column, shape }) => ({
      bound: use.bound,
      parameters,
      column,
      extent: shape.extent,
    }))
    select['from_table'] = subqueryRef(await stageRows(session, leaf.ref, where, uses, scope), leaf.alias)
  } else {
    const columns: AstNode[] = []
    for (const each of joined) columns.push(aliased(each.column, await callOf(session, each, each.shape.volatile)))
    select['from_table'] = subqueryRef(selectNode([star(''), ...columns], leaf.ref, where), leaf.alias)
  }
  return ({ column }) => columnRef(leaf.alias, column)
}

const scoredAlias = (index: number) => `ledger_scored_${index}`

/** Joins the scores of a model to a join of tables, by the inputs. */
const withScores = async (session: Session, from: AstNode, joined: Joined, index: number, scope: Scope): Promise<AstNode> => {
  const { use, parameters, column, shape } = joined
  const staged = { bound: use.bound, parameters, column, extent: shape.extent }
  const { query, inputs } = await stageInputs(session, from, staged, index, scope)
  const same = parameters.map((parameter, i) => sameValue(cloneAst(parameter), columnRef(scoredAlias(index), inputs[i] ?? '')))
  return leftJoin(from, subqueryRef(query, scoredAlias(index)), allOf(same))
}

/** Several tables: their join stays as it is, and outputs are read from calls in place, or from scores joined to it. */
const besideSeveral = async (
  session: Session,
  select: AstNode,
  from: AstNode,
  joined: readonly Joined[],
  scope: Scope,
): Promise<(of: Joined) => AstNode> => {
  select['from_table'] = from
  if (session.mode === 'staged') {
    let tree = from
    for (const [index, each] of joined.entries()) tree = await withScores(session, tree, each, index, scope)
    select['from_table'] = tree
    return (of) => columnRef(scoredAlias(joined.indexOf(of)), of.column)
  }
  const calls = new Map<Joined, AstNode>()
  for (const each of joined) calls.set(each, await callOf(session, each, false))
  return (of) => cloneAst(calls.get(of) ?? columnRef(of.column))
}

const shownParts = (original: AstNode[], uses: readonly ModelUse[], leaves: readonly Leaf[]): Shown[] => {
  const several = leaves.length > 1
  const all: Leaf = { ref: emptyRef(), alias: '', columns: leaves.flatMap(({ columns }) => columns) }
  const parts = original.flatMap((ref): Shown[] => {
    const use = uses.find((known) => known.ref === ref)
    if (use) return [{ kind: 'model', use }]
    const leaf = leaves.find((known) => known.ref === ref)
    return leaf && leaf.alias !== givenAlias ? [{ kind: 'leaf', leaf }] : []
  })
  if (!several) return parts
  const models = parts.filter(({ kind }) => kind === 'model')
  return parts[0]?.kind === 'model' ? [...models, { kind: 'leaf', leaf: all }] : [{ kind: 'leaf', leaf: all }, ...models]
}

const checkAliases = (uses: readonly ModelUse[], leaves: readonly AstNode[]): void => {
  const seen = new Set<string>()
  for (const alias of [...uses.map((use) => use.alias), ...leaves.map(aliasOf)].map(foldName)) {
    if (alias !== '' && seen.has(alias))
      throw new Problem('bad_statement', 'Two tables have one name', `Two tables of the FROM are called ${alias}`, {
        hint: 'Give each its own alias with AS.',
      })
    seen.add(alias)
  }
}

/**
 * Rewrites a SELECT whose FROM names models. The other tables have been rewritten already. A model gives one row for each
 * row it is joined to: it is taken out of the FROM, and its columns become expressions around one reserved column of scores.
 */
export const rewriteModels = async (session: Session, select: AstNode, uses: readonly ModelUse[], scope: Scope): Promise<void> => {
  const from = nodeOf(select, 'from_table')
  if (!from) return
  const order = leavesOf(from)
  const { rest, conditions } = detach(from, new Set(uses.map((use) => use.ref)))
  const [first, second] = uses
  if (!first || (!rest && second))
    throw new Problem('bad_statement', 'A model needs inputs', 'Several models are read together without a table that gives their inputs')
  const table = rest ?? (await fromGivenRows(session, select, first, scope))
  const refs = leavesOf(table)
  checkAliases(uses, refs)
  const leaves: Leaf[] = []
  for (const ref of refs) leaves.push(await asLeaf(session, ref, scope))
  const mappings = uses.map((use) => ({ use, mapping: mapInputs(select, conditions, use, uses, leaves) }))
  await rewriteColumns(session, select, { uses, leaves, table, order, mappings, conditions }, scope)
}

type Parts = {
  uses: readonly ModelUse[]
  leaves: readonly Leaf[]
  table: AstNode
  order: AstNode[]
  mappings: { use: ModelUse; mapping: Mapping }[]
  conditions: AstNode[]
}

const rewriteColumns = async (session: Session, select: AstNode, parts: Parts, scope: Scope): Promise<void> => {
  const { uses, leaves, mappings } = parts
  const remaining = parts.conditions.filter((condition) => mappings.every(({ mapping }) => mapping.on.includes(condition)))
  select['where_clause'] = allOf([...remaining, ...conjuncts(nodeOf(select, 'where_clause'))])
  // Joined scores have columns of their own, which `*` must not show.
  const hidden = uses.flatMap(({ bound }, index) => [`ledger_scores_${index}`, ...parameterNames(index, bound.model.inputs.length)])
  const reserved = leaves.length === 1 ? uses.map((_, index) => `ledger_scores_${index}`) : session.mode === 'staged' ? hidden : []
  expandStars(select, shownParts(parts.order, uses, leaves), reserved)
  const references = referencesIn(select, uses, leaves)
  const joined: Joined[] = []
  for (const [index, { use, mapping }] of mappings.entries())
    joined.push(await join(session, select, use, mapping, parts.table, scope, references, index))
  const [leaf, several] = leaves
  const scoresOf =
    leaf && !several
      ? await besideOneTable(session, select, leaf, joined, scope)
      : await besideSeveral(session, select, parts.table, joined, scope)
  for (const reference of references) {
    const of = joined.find(({ use }) => use === reference.use)
    if (!of) continue
    const sources = { scores: () => scoresOf(of), inputs: of.mapping.inputs, original: of.mapping.original }
    replaceReference(
      select,
      reference,
      cloneAst(await outputExpression(session.connection, reference.use.bound, reference.column, sources)),
    )
  }
}
