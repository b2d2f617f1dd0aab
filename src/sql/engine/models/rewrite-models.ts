/**
 * Room: models in a FROM become queries that score rows. It imports only events, basics, dialect, sql/encode, sql/contract,
 * models/engines/contract, sql/engine/duckdb-connection, sql/engine/ast, sql/engine/scoring and sql/engine/session.
 */

import { foldName } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { isRemote } from '../../../models/engines/contract/remote.js'
import { conjuncts, readsOf } from '../ast/conditions.js'
import { cloneAst, type AstNode } from '../ast/json.js'
import { allOf, leftJoin, nodeOf, emptyRef } from '../ast/nodes.js'
import type { Extent } from '../scoring/scoring-model.js'
import { endBinding } from '../session/binding.js'
import { aliasOf, describe } from '../session/describe.js'
import type { Leaf, LeafColumn, Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { detach, leavesOf, steadyLeaves } from './detach.js'
import { answerQueries, readGivenRows, readsOuter, tableOfRows } from './given-rows.js'
import { futureAlone, replaceByFuture, takeLatest } from './latest.js'
import { argumentOf, checkRead, mapInputs, type Mapping } from './mapping.js'
import { isScored, modelColumns, outputExpression, showsAll } from './outputs.js'
import { besideOneTable, besideSeveral, type JoinedModel, type Parts } from './place-scores.js'
import { predictGivenRows } from './predict-given-rows.js'
import { referencesIn, referencesInJoins, replaceReference, isColumnOf, type ModelUse, type Reference } from './references.js'
import { parameterNames } from './staging.js'
import { expandStars, type StarPart } from './stars.js'

const givenAlias = 'ledger_given'

/**
 * The rows that WHERE gives, with their columns if these are described. If values come from an outer query, their types are unknown.
 * `isServed` says that they are recorded one by one.
 */
type GivenTable = { ref: AstNode; leaf?: Leaf; correlated: Leaf | undefined; isServed?: boolean }

const asLeaf = async (session: Session, ref: AstNode, scope: Scope): Promise<Leaf> => {
  const alias = aliasOf(ref) || 'unnamed_subquery'
  ref['alias'] = alias
  return { ref, alias, columns: await describe(session.connection, ref, scope) }
}

/** The rows that WHERE gives to a model alone are also a table: the model is then joined to this table. */
const fromGivenRows = async (session: Session, select: AstNode, use: ModelUse, scope: Scope): Promise<GivenTable> => {
  endBinding(session)
  const { rows, rest } = readGivenRows(use.bound, use.alias, nodeOf(select, 'where_clause'), session.quoted)
  await answerQueries(session, rows, scope)
  const { ref, inputs } = tableOfRows(rows, givenAlias)
  select['where_clause'] = allOf(rest)
  if (readsOuter(rows))
    return { ref, correlated: { ref, alias: givenAlias, columns: inputs.map((name) => ({ name, kind: 'text' as const })) } }
  const leaf = await asLeaf(session, ref, scope)
  session.served.push(await predictGivenRows(session, use.bound, leaf, scope))
  return { ref, leaf, correlated: undefined, isServed: true }
}

/** The rows of a model without a table beside it: the rows that WHERE gives, or the rows after the last date of its series. */
const fromWhere = async (session: Session, select: AstNode, use: ModelUse, scope: Scope): Promise<GivenTable> => {
  const latest = takeLatest(select, [use], [])
  return latest
    ? { ref: await futureAlone(session, latest, use, givenAlias), correlated: undefined }
    : fromGivenRows(session, select, use, scope)
}

const extentOf = (references: readonly Reference[], use: ModelUse): Extent =>
  // Only the scoring that gives the bounds supports a level other than the model's own.
  use.bound.level !== undefined || references.some((reference) => reference.use === use && showsAll(use.bound, reference.column))
    ? 'all'
    : 'points'

type Kinds = ReadonlyMap<AstNode, LeafColumn['kind']>

/** The kinds of values that a model's inputs get. */
const kindsOf = async ({ connection }: Session, { inputs }: Mapping, from: AstNode, scope: Scope): Promise<Kinds> => {
  const given = [...inputs.values()]
  const kinds = await describe(connection, from, scope, given)
  return new Map(given.map((expression, i) => [expression, kinds[i]?.kind ?? 'text']))
}

const join = async (
  session: Session,
  use: ModelUse,
  mapping: Mapping,
  kindOf: Kinds,
  references: readonly Reference[],
  index: number,
): Promise<Omit<JoinedModel, 'home' | 'isServed'>> => {
  const { connection } = session
  const { inputs } = use.bound.model
  const made: Awaited<ReturnType<typeof argumentOf>>[] = []
  // One after the other: a connection to DuckDB does one task at a time.
  for (const input of inputs) {
    const expression = mapping.inputs.get(input.name)
    made.push(await argumentOf(connection, input, expression, (expression && kindOf.get(expression)) ?? 'text'))
  }
  const shape = {
    kinds: made.map(({ kind }) => kind),
    extent: extentOf(references, use),
  }
  return { use, mapping, parameters: made.map(({ expression }) => expression), shape, column: `ledger_scores_${index}` }
}

const shownParts = (original: AstNode[], uses: readonly ModelUse[], leaves: readonly Leaf[]): StarPart[] => {
  const several = leaves.length > 1
  const all: Leaf = { ref: emptyRef(), alias: '', columns: leaves.flatMap(({ columns }) => columns) }
  const parts = original.flatMap((ref): StarPart[] => {
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

/** `t JOIN m USING (a)` takes the input a from t, as the name alone does. */
const checkUsing = (using: readonly string[], uses: readonly ModelUse[], leaves: readonly Leaf[]): void => {
  for (const name of using) {
    const use = uses.find(({ bound }) => bound.model.inputs.some((input) => foldName(input.name) === foldName(name)))
    if (use && leaves.some((leaf) => isColumnOf(leaf, [name]))) continue
    const inputs = uses.flatMap(({ bound }) => bound.model.inputs.map((input) => input.name))
    throw new Problem('bad_statement', 'No such input', `USING names ${name}, which is not both a column and an input of the model`, {
      hint: `The inputs are ${inputs.join(', ')}. Map another column with ON t.your_column = m.input.`,
    })
  }
}

const keepingRefused = (): Problem =>
  new Problem(
    'refused_statement',
    'A model cannot be joined that way',
    'The ON of a LEFT JOIN of a model says more than where its inputs come from',
    {
      hint: 'Every row is kept and scored: write what else holds in WHERE, or CASE WHEN … THEN m.target END.',
    },
  )

/** Refuses to run a model of a separate process row by row: a query cannot wait for it at each row. */
const cannotWait = ({ bound: { label, model } }: ModelUse): Problem =>
  new Problem(
    'refused_statement',
    'An imported model is asked row by row',
    `The inputs of the imported model ${label} come from the query around it`,
    { hint: `JOIN it instead: FROM files.your_table AS t JOIN ${label} AS m, and read m.${model.target.name}.` },
  )

/**
 * Rewrites a SELECT whose FROM names models, after its other tables have been rewritten. A model gives one row for each row that it is
 * joined to. So the model is removed from the FROM, and its columns become expressions on one reserved column of scores.
 */
export const rewriteModels = async (session: Session, select: AstNode, uses: readonly ModelUse[], scope: Scope): Promise<void> => {
  const from = nodeOf(select, 'from_table')
  if (!from) return
  for (const { bound } of uses) for (const column of modelColumns(bound)) session.sources.columns.add(column)
  const order = leavesOf(from)
  const { rest, conditions, keeping, using } = detach(from, new Set(uses.map((use) => use.ref)))
  const [first, second] = uses
  if (!first || (!rest && second))
    throw new Problem('bad_statement', 'A model needs inputs', 'Several models are read together without a table that gives their inputs', {
      hint: `Name one: FROM files.your_table AS t JOIN ${uses.map(({ bound }) => bound.label).join(' JOIN ')}. A subquery is a table, too.`,
    })
  const {
    ref: table,
    leaf,
    correlated,
    isServed = false,
  }: GivenTable = rest ? { ref: rest, correlated: undefined } : await fromWhere(session, select, first, scope)
  const refs = leavesOf(table)
  checkAliases(uses, refs)
  const known = correlated ?? leaf
  const leaves: Leaf[] = known ? [known] : []
  if (!known) for (const ref of refs) leaves.push(await asLeaf(session, ref, scope))
  checkUsing(using, uses, leaves)
  const latest = takeLatest(select, uses, leaves)
  const mappings = uses.map((use) => ({ use, mapping: mapInputs(select, table, conditions, use, uses, leaves) }))
  if (latest) await replaceByFuture(session, select, latest, mappings, leaves)
  checkRead(select, mappings, leaves)
  if (keeping.some((condition) => mappings.every(({ mapping }) => mapping.on.includes(condition)))) throw keepingRefused()
  const remote = correlated && uses.find(({ bound }) => isRemote(bound.model))
  if (remote) throw cannotWait(remote)
  // Rows that depend on an outer query cannot be scored before that query.
  const mode = correlated ? 'inside' : session.mode
  await rewriteColumns({ ...session, mode }, select, { uses, leaves, table, order, mappings, conditions, correlated, isServed }, scope)
}

/** The tables without the conditions that join them, for code that only needs types. */
const allRows = (leaves: readonly Leaf[]): AstNode =>
  leaves.map(({ ref }) => ref).reduce((left, right) => ({ ...leftJoin(left, right, null), join_type: 'INNER', ref_type: 'CROSS' }))

/** The table of a model's inputs, if a condition that joins the tables reads the model's outputs. */
const homeOf = (use: ModelUse, parameters: AstNode[], { leaves, table }: Parts): Leaf => {
  const steady = steadyLeaves(table)
  const home = leaves.find((leaf) =>
    parameters.every((parameter) => readsOf(parameter).columns.every((names) => names.length > 1 && isColumnOf(leaf, names))),
  )
  if (home && steady.includes(home.ref)) return home
  throw new Problem(
    'refused_statement',
    'A join reads an output',
    `A condition between the tables reads an output of model ${use.bound.label}`,
    {
      hint: 'Score first in a subquery: FROM (SELECT t.*, m.target FROM t JOIN model AS m) AS s JOIN u ON u.x = s.target.',
    },
  )
}

/** The expression that replaces a column of a model. */
const readColumn = async (session: Session, { column }: Reference, of: JoinedModel, scores: () => AstNode): Promise<AstNode> => {
  const sources = { scores, inputs: of.mapping.inputs, original: of.mapping.original }
  return cloneAst(await outputExpression(session.connection, of.use.bound, column, sources))
}

const rewriteColumns = async (session: Session, select: AstNode, parts: Parts, scope: Scope): Promise<void> => {
  const { uses, leaves, mappings, table } = parts
  const remaining = parts.conditions.filter((condition) => mappings.every(({ mapping }) => mapping.on.includes(condition)))
  select['where_clause'] = allOf([...remaining, ...conjuncts(nodeOf(select, 'where_clause'))])
  const inJoins = referencesInJoins(table, uses, leaves)
  const atHome = new Set(inJoins.filter(({ use, column }) => isScored(use.bound, column)).map(({ use }) => use))
  await expandStars(session.connection, select, shownParts(parts.order, uses, leaves), reservedOf(session, parts, atHome), scope)
  const references = [...referencesIn(select, uses, leaves), ...inJoins]
  const joined: JoinedModel[] = []
  for (const [index, { use, mapping }] of mappings.entries()) {
    const kinds = parts.correlated
      ? new Map<never, never>()
      : await kindsOf(session, mapping, inJoins.length > 0 ? allRows(leaves) : table, scope)
    const made = await join(session, use, mapping, kinds, references, index)
    joined.push({ ...made, home: atHome.has(use) ? homeOf(use, made.parameters, parts) : undefined, isServed: parts.isServed })
  }
  const place = leaves.length === 1 ? besideOneTable : besideSeveral
  const scoresOf = await place(session, select, parts, joined, scope)
  for (const reference of references) {
    const of = joined.find(({ use }) => use === reference.use)
    if (of) replaceReference(select, reference, await readColumn(session, reference, of, () => scoresOf(of)))
  }
}

/** Columns that this service added to the tables; `*` must not show them. */
const reservedOf = (session: Session, { uses, leaves }: Parts, atHome: ReadonlySet<ModelUse>): string[] =>
  uses.flatMap((use, index) => {
    const scores = `ledger_scores_${index}`
    if (leaves.length === 1 || atHome.has(use)) return [scores]
    return session.mode === 'staged' ? [scores, ...parameterNames(index, use.bound.model.inputs.length)] : []
  })
