import { limits } from '../../basics/limits.js'
import type { MetadataColumn } from '../contract/contents.js'

export type ColumnType = MetadataColumn['types'][number]

/** `typeOfJson(2.5)`: 'real' */
export const typeOfJson = (value: unknown): ColumnType => {
  switch (typeof value) {
    case 'string':
      return 'text'
    case 'boolean':
      return 'boolean'
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'real'
    default:
      return 'json'
  }
}

/** Columns of metadata and the types of their values. It keeps only the first columns, up to the number that a query may show. */
export class MetadataColumns {
  readonly #types = new Map<string, Set<ColumnType>>()

  /** Adds a value's type; returns whether the column or the type is new. */
  note(name: string, type: ColumnType): boolean {
    const types = this.#types.get(name)
    if (types?.has(type)) return false
    if (types) types.add(type)
    else if (this.#types.size < limits.knowledgeMaxColumns) this.#types.set(name, new Set([type]))
    else return false
    return true
  }

  get all(): MetadataColumn[] {
    return [...this.#types].map(([name, types]) => ({ name, types: [...types] }))
  }
}
