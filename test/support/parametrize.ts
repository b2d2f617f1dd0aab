import { parametrize as inParts, type Parametrized } from '../../src/sql/facade/parametrize.js'

/** The same without a pause. */
export const parametrize = (sql: string): Parametrized => {
  const parts = inParts(sql)
  for (let next = parts.next(); ; next = parts.next()) if (next.done) return next.value
}
