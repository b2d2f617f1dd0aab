import type { AstNode } from './json.js'
import { isColumnRef, nodeOf, nodesOf, textOf, textsOf, walk } from './nodes.js'

/** The parts of a condition that AND joins. */
export const conjuncts = (condition: AstNode | undefined): AstNode[] => {
  if (!condition) return []
  if (textOf(condition, 'type') === 'CONJUNCTION_AND') return nodesOf(condition, 'children').flatMap(conjuncts)
  return [condition]
}

/** The names of every column that an expression reads, and whether it reads anything else that differs by row. */
export const readsOf = (expression: AstNode): { columns: string[][]; opaque: boolean } => {
  const columns: string[][] = []
  let opaque = false
  walk(expression, (node) => {
    if (isColumnRef(node)) columns.push(textsOf(node, 'column_names'))
    if (['SUBQUERY', 'WINDOW', 'LAMBDA', 'STAR'].includes(textOf(node, 'class'))) opaque = true
    if (/^(random|uuid|gen_random_uuid|uuidv4|uuidv7)$/.test(textOf(node, 'function_name'))) opaque = true
    return true
  })
  return { columns, opaque }
}

/** Whether an expression has one value for all rows: it reads no column and no query, and always has the same value. */
export const isConstant = (expression: AstNode): boolean => {
  const { columns, opaque } = readsOf(expression)
  return columns.length === 0 && !opaque
}

/** Whether an expression only has constants and subqueries, such as `(SELECT max(a) FROM t) + 1`. */
export const isOfQueries = (expression: AstNode): boolean => {
  let queries = 0
  let others = 0
  walk(expression, (node) => {
    const kind = textOf(node, 'class')
    if (kind === 'SUBQUERY') queries++
    if (isColumnRef(node) || ['WINDOW', 'LAMBDA', 'STAR'].includes(kind)) others++
    return kind !== 'SUBQUERY'
  })
  return queries > 0 && others === 0
}

/** The parts of `(a, b)`; the only part of a value that is no row is the value itself. */
export const partsOfRow = (expression: AstNode): AstNode[] =>
  textOf(expression, 'function_name') === 'row' && textOf(expression, 'schema') === 'main' ? nodesOf(expression, 'children') : [expression]

/** The two sides of `a = b`, or undefined. */
export const equality = (expression: AstNode): [AstNode, AstNode] | undefined => {
  if (textOf(expression, 'type') !== 'COMPARE_EQUAL') return undefined
  const [left, right] = [nodeOf(expression, 'left'), nodeOf(expression, 'right')]
  return left && right && [left, right]
}

/** Whether a condition is the constant TRUE, which replaces a missing condition. */
export const isTrue = (expression: AstNode): boolean => {
  const child = textOf(expression, 'class') === 'CAST' ? nodeOf(expression, 'child') : undefined
  return child !== undefined && nodeOf(child, 'value')?.['value'] === 't'
}
