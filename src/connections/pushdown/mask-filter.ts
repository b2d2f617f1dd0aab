import { mask } from '../../basics/shown.js'
import { isSecretOf } from '../../dialect/secret-literals.js'
import type { Constant, Filter } from '../contract/requests.js'

/**
 * A filter for the record: a text that is a secret, by its form or by the name of its column there, is masked.
 *
 * @example maskFilter({ like: 'hunter%', column: 'password' }, (name) => name) // { like: '******', column: 'password' }
 */
export const maskFilter = (filter: Filter, nameThere: (column: string) => string): Filter => {
  const inside = (each: Filter): Filter => maskFilter(each, nameThere)
  if ('and' in filter) return { and: filter.and.map(inside) }
  if ('or' in filter) return { or: filter.or.map(inside) }
  if ('not' in filter) return { not: inside(filter.not) }
  if ('isNull' in filter || 'isNotNull' in filter) return filter
  const column = nameThere(filter.column)
  const masked = (constant: Constant): Constant =>
    constant.type === 'VARCHAR' && isSecretOf(column, constant.value) ? { ...constant, value: mask } : constant
  if ('in' in filter) return { ...filter, in: filter.in.map(masked) }
  if ('like' in filter) return isSecretOf(column, filter.like) ? { ...filter, like: mask } : filter
  return { ...filter, with: masked(filter.with) }
}
