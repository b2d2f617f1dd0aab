import { foldName } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { conjuncts, equality, isConstant, isOfQueries, partsOfRow, readsOf } from '../ast/conditions.js'
import { printSelect, readChecked } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { expressionTemplate } from '../ast/templates.js'
import {
  aliased,
  become,
  call,
  cast,
  emptyRef,
  isColumnRef,
  listOf,
  nodesOf,
  nullConstant,
  placeOf,
  selectNode,
  star,
  subqueryRef,
  textConstant,
  textOf,
  textsOf,
} from '../ast/nodes.js'
import { similarName } from '../../../dialect/names.js'
import type { Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { atPlace, withText } from '../session/sources.js'
import { standalone } from '../session/describe.js'
import { modelColumn, modelColumns } from './outputs.js'
import type { BoundModel } from '../scoring/scoring-model.js'

/** The inputs of one row, by the model's names. */
export type GivenRow = ReadonlyMap<string, AstNode>

type Reader = { bound: BoundModel; alias: string; quoted: ReadonlySet<string> }

const columnNamed = ({ bound, alias }: Reader, node: AstNode): string | undefined => {
  if (!isColumnRef(node)) return undefined
  const names = textsOf(node, 'column_names')
  const [first = '', second] = names
  if (second !== undefined && foldName(first) !== foldName(alias)) return undefined
  return modelColumn(bound, second ?? first)
}

const unknownColumn = (bound: BoundModel, name: string): Problem => {
  const known = modelColumns(bound)
  const like = similarName(name, known)
  const inputs = bound.model.inputs.map((input) => input.name).join(', ')
  return new Problem('bad_statement', 'No such column', `Model ${bound.label} has no column ${name}`, {
    hint: like === undefined ? `Its inputs are ${inputs}.` : `Did you mean ${like}? Its inputs are ${inputs}.`,
  })
}

/** Whether an expression reads columns of outer queries, and nothing else that may change. */
const isOuter = ({ alias }: Reader, node: AstNode): boolean => {
  const { columns, opaque } = readsOf(node)
  return (
    !opaque && columns.length > 0 && columns.every(([table = '', column]) => column !== undefined && foldName(table) !== foldName(alias))
  )
}

/** The value that an input is compared with: a constant, a subquery, a text in double quotes, or a column of an outer query. */
const constantOf = (reader: Reader, node: AstNode): AstNode | undefined => {
  if (isConstant(node) || isOfQueries(node) || (isOuter(reader, node) && columnNamed(reader, node) === undefined)) return node
  const [name = '', second] = isColumnRef(node) ? textsOf(node, 'column_names') : []
  return second === undefined && reader.quoted.has(name) && columnNamed(reader, node) === undefined ? textConstant(name) : undefined
}

const isInput = ({ bound }: Reader, name: string) => bound.model.inputs.some((input) => input.name === name)

const oneValue = (reader: Reader, column: AstNode, value: AstNode): GivenRow[] | undefined => {
  const name = columnNamed(reader, column)
  const constant = constantOf(reader, value)
  if (name === undefined && constant && isColumnRef(column))
    throw atPlace(unknownColumn(reader.bound, textsOf(column, 'column_names').join('.')), column)
  return name !== undefined && constant && isInput(reader, name) ? [new Map([[name, constant]])] : undefined
}

const together = (reader: Reader, left: GivenRow[], right: GivenRow[]): GivenRow[] => {
  const twice = left[0] && right[0] && [...left[0].keys()].find((name) => right[0]?.has(name))
  if (twice !== undefined)
    throw new Problem('bad_statement', 'An input has two values', `${twice} of model ${reader.bound.label} is given twice`, {
      hint: 'Join alternatives with OR or IN.',
    })
  const count = left.length * right.length
  if (count > limits.predictMaxRows)
    throw new Problem(
      'query_limit',
      'Too many rows',
      `WHERE gives ${count} rows; at most ${limits.predictMaxRows} are predicted this way`,
      { hint: 'JOIN the model with a table.' },
    )
  return left.flatMap((a) => right.map((b) => new Map([...a, ...b])))
}

/** The row that `a = 1` gives, or `(a, b) = (1, 2)`. */
const comparedRow = (reader: Reader, left: AstNode, right: AstNode): GivenRow[] | undefined => {
  const [columns, values] = [partsOfRow(left), partsOfRow(right)]
  if (columns.length !== values.length) return undefined
  const parts = columns.map((column, i) => {
    const value = values[i]
    return value && (oneValue(reader, column, value) ?? oneValue(reader, value, column))
  })
  return parts.reduce<GivenRow[] | undefined>((rows, part) => rows && part && together(reader, rows, part), [new Map()])
}

/** The rows that a condition gives: AND combines them, OR and IN add them. Undefined for any other condition. */
const rowsOf = (reader: Reader, condition: AstNode): GivenRow[] | undefined => {
  switch (textOf(condition, 'type')) {
    case 'CONJUNCTION_AND': {
      const parts = nodesOf(condition, 'children').map((child) => rowsOf(reader, child))
      return parts.reduce<GivenRow[] | undefined>((rows, part) => rows && part && together(reader, rows, part), [new Map()])
    }
    case 'CONJUNCTION_OR': {
      const parts = nodesOf(condition, 'children').map((child) => rowsOf(reader, child))
      return parts.reduce<GivenRow[] | undefined>((rows, part) => rows && part && [...rows, ...part], [])
    }
    case 'COMPARE_EQUAL': {
      const [left, right] = equality(condition) ?? []
      return left && right && comparedRow(reader, left, right)
    }
    case 'OPERATOR_IS_NULL': {
      const [column] = nodesOf(condition, 'children')
      return column && oneValue(reader, column, nullConstant())
    }
    case 'COMPARE_IN': {
      const [column, ...values] = nodesOf(condition, 'children')
      const rows = values.map((value) => column && comparedRow(reader, column, value))
      return rows.every((row) => row !== undefined) ? rows.flat() : undefined
    }
    default:
      return undefined
  }
}

const inputsMissing = ({ bound }: Reader, where: AstNode | undefined): Problem => {
  const example = bound.model.inputs.slice(0, 2).map(({ name }) => `${name} = …`)
  return new Problem(
    'bad_statement',
    'A model needs inputs',
    where
      ? `WHERE gives no input of the model ${bound.label}: inputs are given with =, IN and IS NULL`
      : `WHERE clause required when selecting from a model: ${bound.label} needs its inputs`,
    {
      hint: `Write SELECT * FROM ${bound.label} WHERE ${example.join(' AND ')}, or join it: SELECT * FROM files.your_table AS t JOIN ${bound.label} AS m. A subquery is a table, too: FROM (SELECT …) AS t.`,
    },
  )
}

/** Refuses OR between inputs and outputs: the prediction cannot find a row that is not given. */
const mixedOr = ({ bound }: Reader): Problem =>
  new Problem('bad_statement', 'A model needs inputs', `OR joins conditions on inputs of ${bound.label} with others`, {
    hint: `Give the inputs inside: SELECT * FROM (SELECT * FROM ${bound.label} WHERE …) AS s WHERE … OR ….`,
  })

/** Whether a condition gives a value to an input somewhere inside an OR. */
const givesBelowOr = (reader: Reader, condition: AstNode): boolean =>
  ['CONJUNCTION_OR', 'CONJUNCTION_AND'].includes(textOf(condition, 'type')) &&
  nodesOf(condition, 'children').some((child) => rowsOf(reader, child) !== undefined || givesBelowOr(reader, child))

/** Whether values of given rows come from an outer query. These rows cannot be answered before that query runs. */
export const readsOuter = (rows: readonly GivenRow[]): boolean => rows.some((row) => [...row.values()].some((value) => !isConstant(value)))

/** Replaces given values that are queries by their results, so that a row is recorded with the answered values. */
export const answerQueries = async ({ connection }: Session, rows: readonly GivenRow[], scope: Scope): Promise<void> => {
  const values = new Set(rows.flatMap((row) => [...row.values()].filter(isOfQueries)))
  for (const value of values) {
    const plain = { ...value, alias: '' }
    const tree = standalone([aliased('value', cast(plain, 'VARCHAR')), aliased('type', call('typeof', plain))], emptyRef(), null, scope)
    const text = await printSelect(connection, tree)
    const [[found, type] = []] = await withText(text, tree, () => readChecked(connection, text))
    const known = typeof found === 'string' ? textConstant(found) : nullConstant()
    become(value, { ...(await expressionTemplate(connection, `CAST($value AS ${String(type)})`, { value: known })), ...placeOf(value) })
  }
}

/**
 * Reads `WHERE a = 1 AND b IN ('x', 'y')` of a model as the rows to predict. The remaining condition applies to the answers.
 *
 * @example readGivenRows(bound, 'm', where, new Set()) // { rows: [Map { a, b }, Map { a, b }], rest: [] }
 */
export const readGivenRows = (
  bound: BoundModel,
  alias: string,
  where: AstNode | undefined,
  quoted: ReadonlySet<string>,
): { rows: GivenRow[]; rest: AstNode[] } => {
  const reader = { bound, alias, quoted }
  const rest: AstNode[] = []
  let rows: GivenRow[] | undefined
  for (const part of conjuncts(where)) {
    const given = rowsOf(reader, part)
    if (!given && givesBelowOr(reader, part)) throw mixedOr(reader)
    if (!given) rest.push(part)
    else rows = rows ? together(reader, rows, given) : given
  }
  if (!rows) throw inputsMissing(reader, where)
  return { rows, rest }
}

/** The given rows as a table. Its columns are all inputs that at least one row names. */
export const tableOfRows = (rows: GivenRow[], alias: string): { ref: AstNode; inputs: string[] } => {
  const inputs = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const values = rows.map((row) => inputs.map((name) => ({ ...(row.get(name) ?? nullConstant()), alias: '' })))
  const list = { ...emptyRef(), type: 'EXPRESSION_LIST', alias: 'valueslist', expected_names: [], expected_types: [], values }
  return { ref: subqueryRef(selectNode([star('')], list), alias, listOf({ inputs }, 'inputs')), inputs }
}
