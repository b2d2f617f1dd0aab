import { NumberText, type AstNode } from '../ast/json.js'
import { isEmpty, isLiteral, nodeOf, nodesOf, textOf } from '../ast/nodes.js'

/** The number in `LIMIT 10` plus the number of an OFFSET. */
export const rowsWanted = (modifier: AstNode): number | undefined => {
  const number = (key: string): number | undefined => {
    const node = nodeOf(modifier, key)
    const value = node && isLiteral(node) ? nodeOf(node, 'value')?.['value'] : undefined
    return value instanceof NumberText && /^\d{1,9}$/.test(value.text) ? Number(value.text) : undefined
  }
  const limit = number('limit')
  const offset = isEmpty(modifier, 'offset') ? 0 : number('offset')
  return limit === undefined || offset === undefined ? undefined : limit + offset
}

/** The largest number of rows that a query shows; undefined when the query has no such limit. */
export const limitOf = (select: AstNode): number | undefined => {
  const modifier = nodesOf(select, 'modifiers').find((one) => textOf(one, 'type') === 'LIMIT_MODIFIER')
  return modifier && rowsWanted(modifier)
}
