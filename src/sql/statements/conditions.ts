import type { Json } from '../../../events/common.js'
import { atOnce } from '../../basics/long-work.js'
import { lex } from '../../dialect/lexer.js'
import { Cursor } from './cursor.js'
import { takePart } from './names.js'
import { hidingSecrets } from './parse.js'
import { takeConstant } from './values.js'

/** One condition of a WHERE that has only comparisons with constants. */
export type Condition = { column: string; op: '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in' | 'like' | 'not like'; value: Json }

const comparisons = ['<=', '>=', '<>', '!=', '=', '<', '>'] as const

const takeComparison = (cursor: Cursor): Condition['op'] => {
  const sign = comparisons.find((one) => cursor.takeSymbol(one))
  if (sign === undefined) return cursor.fail()
  return sign === '<>' ? '!=' : sign
}

const takeList = (cursor: Cursor): Json[] => {
  cursor.needSymbol('(')
  const values: Json[] = []
  do values.push(takeConstant(cursor))
  while (cursor.takeSymbol(','))
  cursor.needSymbol(')')
  return values
}

const takeColumn = (cursor: Cursor): string => {
  const first = takePart(cursor, 'a column')
  return cursor.takeSymbol('.') ? takePart(cursor, 'a column') : first
}

const takeCondition = (cursor: Cursor): Condition => {
  const isNot = cursor.takeWords('NOT')
  const column = takeColumn(cursor)
  const negated = isNot || cursor.takeWords('NOT')
  if (cursor.takeWords('IN')) return { column, op: negated ? 'not in' : 'in', value: takeList(cursor) }
  if (cursor.takeWords('LIKE')) return { column, op: negated ? 'not like' : 'like', value: takeConstant(cursor) }
  if (negated) cursor.fail()
  return { column, op: takeComparison(cursor), value: takeConstant(cursor) }
}

/**
 * Reads the conditions behind WHERE, which AND joins.
 *
 * @example readConditions("id = 'a' AND year > 2000") // [{ column: 'id', op: '=', value: 'a' }, …]
 * @throws Problem bad_statement with its place, for anything else
 */
export const readConditions = (sql: string): Condition[] => atOnce(hidingSecrets(sql, () => takeConditions(sql)))

const takeConditions = (sql: string): Condition[] => {
  const cursor = new Cursor(sql, lex(sql))
  const conditions: Condition[] = []
  do conditions.push(takeCondition(cursor))
  while (cursor.takeWords('AND'))
  cursor.needEnd()
  return conditions
}
