import type { DuckDBConnection } from '@duckdb/node-api'
import { foldName, unreachable } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { conjuncts, equality, isOfQueries, partsOfRow, readsOf } from '../ast/conditions.js'
import { expressionTemplate } from '../ast/templates.js'
import type { AstNode } from '../ast/json.js'
import {
  allOf,
  cast,
  childrenOf,
  coalesce,
  columnRef,
  isColumnRef,
  isQuery,
  nodeOf,
  nullConstant,
  textOf,
  textsOf,
  walk,
} from '../ast/nodes.js'
import type { Leaf, LeafColumn } from '../session/scope.js'
import { columnHint, named } from '../../../dialect/names.js'
import { atPlace } from '../session/sources.js'
import { isScored } from './outputs.js'
import { modelColumnOf, type ModelUse } from './references.js'
import type { ArgumentKind, ScoringInput } from '../scoring/scoring-model.js'

const inputOf = (use: ModelUse, uses: readonly ModelUse[], leaves: readonly Leaf[], node: AstNode): string | undefined => {
  const hit = isColumnRef(node) ? modelColumnOf(node, uses, leaves) : undefined
  return hit?.[0] === use && use.bound.model.inputs.some(({ name }) => name === hit[1]) ? hit[1] : undefined
}

const readsModel = (expression: AstNode, uses: readonly ModelUse[], leaves: readonly Leaf[]): boolean => {
  const { columns, opaque } = readsOf(expression)
  if (isOfQueries(expression))
    return columns.some(([table = '', column]) => column !== undefined && uses.some(({ alias }) => foldName(alias) === foldName(table)))
  return opaque || columns.some((names) => modelColumnOf(columnRef(...names), uses, leaves) !== undefined)
}

const readsOutput = (expression: AstNode, uses: readonly ModelUse[], leaves: readonly Leaf[]): boolean =>
  readsOf(expression).columns.some((names) => {
    const hit = modelColumnOf(columnRef(...names), uses, leaves)
    return hit !== undefined && isScored(hit[0].bound, hit[1])
  })

/** The column that an input is mapped to must exist. A name without a table may also belong to an outer query. */
const checkColumns = (expression: AstNode, leaves: readonly Leaf[]): void => {
  for (const [table = '', column] of readsOf(expression).columns) {
    const leaf = column === undefined ? undefined : leaves.find(({ alias }) => foldName(alias) === foldName(table))
    if (!leaf || column === undefined || named(leaf.columns, column)) continue
    const columns = leaf.columns.map(({ name }) => name)
    throw new Problem('bad_statement', 'No such column', `Table ${leaf.alias} has no column ${column}`, {
      hint: columnHint(column, columns, (name) => `${table}.${name}`),
    })
  }
}

/** Conditions that are never true of NULL. */
const compares = /^COMPARE_(?!DISTINCT|NOT_DISTINCT)/

/**
 * Refuses a WHERE that compares an input without a value. The input would be NULL, and the condition never true.
 *
 * @throws Problem for `t JOIN m WHERE m.a = 1 OR m.y > 2` where t has no column a
 */
export const checkRead = (select: AstNode, mappings: readonly { use: ModelUse; mapping: Mapping }[], leaves: readonly Leaf[]): void => {
  const where = nodeOf(select, 'where_clause')
  const uses = mappings.map(({ use }) => use)
  const check = (side: AstNode): void => {
    for (const { use, mapping } of mappings) {
      const input = inputOf(use, uses, leaves, side)
      if (input !== undefined && !mapping.inputs.has(input)) throw atPlace(valueless(use, input), side)
    }
  }
  if (where)
    walk(where, (node) => {
      if (isQuery(node)) return false
      if (compares.test(textOf(node, 'type'))) for (const side of childrenOf(node)) partsOfRow(side).forEach(check)
      return true
    })
}

const valueless = ({ bound, alias }: ModelUse, input: string): Problem =>
  new Problem(
    'bad_statement',
    'An input has no value',
    `Input ${input} of model ${bound.label} is compared, and nothing gives it a value`,
    {
      hint: `Give it one: ${alias}.${input} = … that AND joins to the rest, or a table with a row for each value, JOIN (VALUES (…), (…)) AS v(${input}).`,
    },
  )

/** Refuses a model whose output is the input of another model. Models are scored from tables, so the first model must be in a subquery. */
const refuseChain = (use: ModelUse, input: string, expression: AstNode): never => {
  const output = readsOf(expression)
    .columns.map((names) => names.join('.'))
    .join(', ')
  throw new Problem(
    'refused_statement',
    'A model gets no outputs',
    `Input ${input} of model ${use.bound.label} is made of another model's ${output}`,
    {
      hint: `Score first in a subquery: FROM (SELECT t.*, ${output} AS x FROM …) AS s JOIN ${use.bound.label} AS ${use.alias} ON s.x = ${use.alias}.${input}.`,
    },
  )
}

/** `t.a = m.b` under ON or WHERE gives the model's input b the value t.a. Returns the other conditions. */
const mapped = (
  conditions: AstNode[],
  use: ModelUse,
  uses: readonly ModelUse[],
  leaves: readonly Leaf[],
  inputs: Map<string, AstNode>,
  place: 'on' | 'where',
): AstNode[] =>
  conditions.filter((condition) => {
    const sides = equality(condition)
    for (const [side, other] of sides ? [sides, [...sides].reverse()] : []) {
      const input = side && inputOf(use, uses, leaves, side)
      if (input === undefined || !other || inputs.has(input)) continue
      if (place === 'on' && readsOutput(other, uses, leaves)) refuseChain(use, input, other)
      if (readsModel(other, uses, leaves)) continue
      checkColumns(other, leaves)
      inputs.set(input, other)
      return false
    }
    return true
  })

/** The columns that a name means in a tree of joins: the first one that is not NULL. Joins may share the column by USING or NATURAL. */
const columnsNamed = (ref: AstNode, leaves: readonly Leaf[], name: string): AstNode[] => {
  const [left, right] = [nodeOf(ref, 'left'), nodeOf(ref, 'right')]
  if (textOf(ref, 'type') !== 'JOIN' || !left || !right) {
    const leaf = leaves.find((each) => each.ref === ref)
    const column = leaf && named(leaf.columns, name)
    return leaf && column ? [columnRef(leaf.alias, column.name)] : []
  }
  const [first, second] = [columnsNamed(left, leaves, name), columnsNamed(right, leaves, name)]
  const isShared = textOf(ref, 'ref_type') === 'NATURAL' || textsOf(ref, 'using_columns').some((each) => foldName(each) === foldName(name))
  const kind = textOf(ref, 'join_type')
  if (isShared && kind === 'FULL') return [...first, ...second]
  return isShared && kind === 'RIGHT' && second.length > 0 ? second : first.length > 0 ? first : second
}

const byName = (table: AstNode, leaves: readonly Leaf[], name: string): AstNode | undefined => {
  const columns = columnsNamed(table, leaves, name)
  return columns.length > 1 ? coalesce(columns) : columns[0]
}

/** The source of each input of a model, and the conditions that remain. */
export type Mapping = { inputs: Map<string, AstNode>; original: AstNode | undefined; on: AstNode[] }

/**
 * Finds the inputs of a joined model: from ON, then from the column of the same name, then from a constant in WHERE. Removes the used
 * conditions from the SELECT's WHERE. Throws a Problem if there are no inputs: the model would predict the same for every row.
 */
export const mapInputs = (
  select: AstNode,
  table: AstNode,
  on: AstNode[],
  use: ModelUse,
  uses: readonly ModelUse[],
  leaves: readonly Leaf[],
): Mapping => {
  const inputs = new Map<string, AstNode>()
  const remaining = mapped(on, use, uses, leaves, inputs, 'on')
  for (const { name } of use.bound.model.inputs) {
    const column = inputs.has(name) ? undefined : byName(table, leaves, name)
    if (column) inputs.set(name, column)
  }
  const where = conjuncts(nodeOf(select, 'where_clause'))
  const filters = mapped(where, use, uses, leaves, inputs, 'where')
  if (filters.length < where.length) select['where_clause'] = allOf(filters)
  if (inputs.size > 0) return { inputs, original: byName(table, leaves, use.bound.model.target.name), on: remaining }
  const names = use.bound.model.inputs.map(({ name }) => name).join(', ')
  throw new Problem(
    'bad_statement',
    'The model gets no inputs',
    `Nothing that model ${use.bound.label} is joined to has one of its inputs (${names})`,
    {
      hint: `Map them in ON: JOIN ${use.bound.label} AS ${use.alias} ON t.your_column = ${use.alias}.${use.bound.model.inputs[0]?.name ?? 'input'}.`,
    },
  )
}

/** Times as models know them: days or milliseconds since 1970. */
export const timeSql = {
  date: 'floor(epoch_us(CAST($x AS TIMESTAMP)) / 86400000000.0)',
  // Models know only whole milliseconds. Smaller parts of a time are cut off, as in a time that comes as text.
  timestamp: 'floor(epoch_us(CAST($x AS TIMESTAMP)) / 1000.0)',
}

/** How an input is read from values of a kind: as a time, a text, a FLOAT or another number. */
export const formOf = ({ type }: ScoringInput, kind: LeafColumn['kind']): 'date' | 'timestamp' | 'text' | 'float' | 'number' => {
  if (kind === 'time' && (type === 'date' || type === 'timestamp')) return type
  if (type === 'text' || kind === 'text' || kind === 'time') return 'text'
  return kind === 'float' ? 'float' : 'number'
}

/** The decimals that answers and trainings have: a FLOAT of 0.1 is the number 0.1, and not 0.10000000149011612. */
export const doubleOf = (expression: AstNode, form: 'float' | 'number'): AstNode =>
  cast(form === 'float' ? cast(expression, 'VARCHAR') : expression, 'DOUBLE')

/**
 * An input's expression in the form that its model takes: numbers, booleans and times as doubles (days or milliseconds since 1970),
 * everything else as text. The engine reads this text like the text of a request.
 */
export const argumentOf = async (
  connection: DuckDBConnection,
  input: ScoringInput,
  expression: AstNode | undefined,
  kind: LeafColumn['kind'],
): Promise<{ kind: ArgumentKind; expression: AstNode }> => {
  if (!expression)
    return input.type === 'text'
      ? { kind: 'text', expression: cast(nullConstant(), 'VARCHAR') }
      : { kind: 'number', expression: cast(nullConstant(), 'DOUBLE') }
  const form = formOf(input, kind)
  switch (form) {
    case 'date':
    case 'timestamp':
      return { kind: 'number', expression: await expressionTemplate(connection, timeSql[form], { x: expression }) }
    case 'text':
      return { kind: 'text', expression: cast(expression, 'VARCHAR') }
    case 'float':
    case 'number':
      return { kind: 'number', expression: doubleOf(expression, form) }
    default:
      return unreachable(form)
  }
}
