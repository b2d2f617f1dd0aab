import { NumberText, type AstNode } from '../ast/json.js'
import { integerConstant, isLiteral, nodeOf, nodesOf, textOf } from '../ast/nodes.js'

const limited: ReadonlySet<string> = new Set(['SELECT_NODE', 'SET_OPERATION_NODE'])

const isAbove = (limit: AstNode, max: number): boolean => {
  const value = isLiteral(limit) ? nodeOf(limit, 'value')?.['value'] : undefined
  return value instanceof NumberText && Number(value.text) > max
}

/** Puts a LIMIT on a whole query without one or with a greater one. A computed LIMIT does not change: the reader stops after `max` rows. */
export const limitRows = (tree: AstNode, max: number): void => {
  if (!limited.has(textOf(tree, 'type'))) return
  const modifiers = nodesOf(tree, 'modifiers')
  const own = modifiers.find((modifier) => textOf(modifier, 'type').startsWith('LIMIT'))
  if (!own) {
    tree['modifiers'] = [...modifiers, { type: 'LIMIT_MODIFIER', limit: integerConstant(max), offset: null }]
    return
  }
  const limit = textOf(own, 'type') === 'LIMIT_MODIFIER' ? nodeOf(own, 'limit') : undefined
  if (limit && isAbove(limit, max)) own['limit'] = integerConstant(max)
}
