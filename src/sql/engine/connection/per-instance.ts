import type { DuckDBInstance } from '@duckdb/node-api'

/**
 * What an instance of DuckDB has one of: made when it is first asked for, gone with the instance.
 *
 * @example const kept = perInstance(() => new Map<string, string>()); kept(instance) === kept(instance)
 */
export const perInstance = <T extends object>(make: (instance: DuckDBInstance) => T): ((instance: DuckDBInstance) => T) => {
  const made = new WeakMap<DuckDBInstance, T>()
  return (instance) => {
    const known = made.get(instance)
    if (known) return known
    const fresh = make(instance)
    made.set(instance, fresh)
    return fresh
  }
}
