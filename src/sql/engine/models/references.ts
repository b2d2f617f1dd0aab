import { foldName } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { columnHint, named } from '../../../dialect/names.js'
import { readsOf } from '../ast/conditions.js'
import type { AstNode } from '../ast/json.js'
import { become, childrenOf, isColumnRef, isQuery, nodeOf, nodesOf, placeOf, textOf, textsOf } from '../ast/nodes.js'
import type { BoundModel } from '../scoring/scoring-model.js'
import { aliasOf } from '../session/describe.js'
import type { Leaf } from '../session/scope.js'
import { withPlace } from '../session/sources.js'
import { leavesOf } from './detach.js'
import { modelColumn, modelColumns } from './outputs.js'

/** A model beside the tables, under its name in the query. */
type Beside = { alias: string }

/**
 * Whether a name of one or two parts is the name of a table's column. The first of two parts may be a column that has fields, but not if
 * it names a model: in `rent.rent` the model `rent` comes before a column `rent`.
 */
export const isColumnOf = (leaf: Leaf, names: string[], models: readonly Beside[] = []): boolean => {
  const [first = '', second] = names
  const has = (name: string) => named(leaf.columns, name) !== undefined
  if (second === undefined) return has(first)
  if (foldName(first) === foldName(leaf.alias)) return has(second)
  return has(first) && !models.some(({ alias }) => foldName(alias) === foldName(first))
}

/** The name of an item of a SELECT list in the answer: its alias, or the name of its column. */
export const nameOfItem = (item: AstNode): string => textOf(item, 'alias') || (textsOf(item, 'column_names').at(-1) ?? '')

/** Whether an expression reads columns of these tables, and nothing else that may change. */
export const readsOnly = (expression: AstNode, leaves: readonly Leaf[], models: readonly Beside[] = []): boolean => {
  const { columns, opaque } = readsOf(expression)
  return !opaque && columns.every((names) => leaves.some((leaf) => isColumnOf(leaf, names, models)))
}

export type ModelUse = { ref: AstNode; alias: string; bound: BoundModel }

/** A place where a column of a model is read. */
export type Reference = { node: AstNode; use: ModelUse; column: string }

const hasColumn = (leaves: readonly Leaf[], name: string): boolean => leaves.some((leaf) => named(leaf.columns, name) !== undefined)

const qualified = (uses: readonly ModelUse[], table: string, name: string): [ModelUse, string] | undefined => {
  const use = uses.find(({ alias }) => foldName(alias) === foldName(table))
  if (!use) return undefined
  const column = modelColumn(use.bound, name)
  if (column !== undefined) return [use, column]
  throw new Problem('bad_statement', 'No such column', `Model ${use.bound.label} has no column ${name}`, {
    hint: columnHint(name, modelColumns(use.bound), (known) => `${use.alias}.${known}`),
  })
}

/** The owner of a column's name: a model if the name says so, or if no table beside the models has such a column. */
export const modelColumnOf = (node: AstNode, uses: readonly ModelUse[], leaves: readonly Leaf[]): [ModelUse, string] | undefined => {
  const [first = '', second] = textsOf(node, 'column_names')
  if (second !== undefined) return withPlace(node, () => qualified(uses, first, second))
  if (hasColumn(leaves, first)) return undefined
  for (const use of uses) {
    const column = modelColumn(use.bound, first)
    if (column !== undefined) return [use, column]
  }
  return undefined
}

const aliasesIn = (query: AstNode): Set<string> => {
  const from = nodeOf(query, 'from_table')
  return new Set(from ? leavesOf(from).map((leaf) => foldName(aliasOf(leaf))) : [])
}

/** Finds the models' columns in an expression. A table of a subquery hides a model with the same alias. */
const findIn = (node: AstNode, uses: readonly ModelUse[], leaves: readonly Leaf[], found: Reference[], nested: boolean): void => {
  if (isColumnRef(node)) {
    const isQualified = textsOf(node, 'column_names').length > 1
    const hit = nested && !isQualified ? undefined : modelColumnOf(node, uses, leaves)
    if (hit) found.push({ node, use: hit[0], column: hit[1] })
    return
  }
  const inner = isQuery(node) ? uses.filter(({ alias }) => !aliasesIn(node).has(foldName(alias))) : uses
  for (const child of childrenOf(node)) findIn(child, inner, leaves, found, nested || isQuery(node))
}

/** Every place in a SELECT, except in its FROM, where a column of a model is read. */
export const referencesIn = (select: AstNode, uses: readonly ModelUse[], leaves: readonly Leaf[]): Reference[] => {
  const found: Reference[] = []
  const aliases = new Set(nodesOf(select, 'select_list').map((item) => foldName(nameOfItem(item))))
  for (const [key, value] of Object.entries(select)) {
    if (key === 'from_table' || key === 'cte_map') continue
    const part: Reference[] = []
    findIn({ value }, uses, leaves, part, false)
    // ORDER BY looks for the answer's own columns first.
    const keep = ({ node }: Reference) =>
      key !== 'modifiers' || textsOf(node, 'column_names').length > 1 || !aliases.has(foldName(textsOf(node, 'column_names')[0] ?? ''))
    found.push(...part.filter(keep))
  }
  return found
}

/** The same in the conditions that join the tables of a FROM. */
export const referencesInJoins = (ref: AstNode, uses: readonly ModelUse[], leaves: readonly Leaf[]): Reference[] => {
  const [left, right, condition] = [nodeOf(ref, 'left'), nodeOf(ref, 'right'), nodeOf(ref, 'condition')]
  if (textOf(ref, 'type') !== 'JOIN' || !left || !right) return []
  const found: Reference[] = []
  if (condition) findIn({ condition }, uses, leaves, found, false)
  return [...referencesInJoins(left, uses, leaves), ...referencesInJoins(right, uses, leaves), ...found]
}

/** Puts an expression in the place of a column. An item of the list keeps the column's name. */
export const replaceReference = (select: AstNode, { node, column }: Reference, expression: AstNode): void => {
  const isItem = nodesOf(select, 'select_list').includes(node)
  const alias = textOf(node, 'alias') || (isItem ? column : '')
  become(node, { ...expression, ...placeOf(node), alias })
}
