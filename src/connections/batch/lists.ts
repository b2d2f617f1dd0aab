import type { ColumnType } from '../contract/types.js'
import { ValueError } from './value-error.js'
import type { Vector } from './vector.js'

/** The items of a list as texts, or lists. */
export type Items = (string | null | Items)[]

/** The type of lists of a type, or of lists of lists of it. @example listOf(plain('INTEGER'), 2) // INTEGER[][] */
export const listOf = (type: ColumnType, depth: number): ColumnType => (depth === 0 ? type : { type: 'LIST', of: listOf(type, depth - 1) })

/** Writes lists of `depth` levels, whose last one has values that `put` writes. @throws ValueError for a list of another depth */
export const putList = (put: (vector: Vector, row: number, text: string) => void, depth: number) => {
  const putItems = (vector: Vector, row: number, items: Items, level: number): void => {
    const { child } = vector
    if (!child) throw new TypeError('a list has no child')
    const from = vector.childRows
    child.reserve(from + items.length)
    vector.childRows += items.length
    vector.data.writeBigUInt64LE(BigInt(from), row * 16)
    vector.data.writeBigUInt64LE(BigInt(items.length), row * 16 + 8)
    items.forEach((item, index) => {
      const isLast = level === depth
      if (item === null) child.setNull(from + index)
      else if (typeof item === 'string' && isLast) put(child, from + index, item)
      else if (typeof item !== 'string' && !isLast) putItems(child, from + index, item, level + 1)
      else
        throw new ValueError(
          `an array does not have ${depth} ${depth === 1 ? 'dimension' : 'dimensions'} like the arrays of the first rows`,
        )
    })
  }
  return (vector: Vector, row: number, items: Items): void => putItems(vector, row, items, 1)
}
