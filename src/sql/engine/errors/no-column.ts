import { missingColumn } from './explain-error.js'
import type { Session } from '../session/session.js'
import { undecidedName } from './session-user.js'

/**
 * The name that an error says to be no column, where another attempt may take it for something else: a name in double quotes
 * for a text, as MySQL does, and `user` for who asks.
 */
export const nameOfNoColumn = (error: unknown, { quoted, macros, strings }: Session): string | undefined => {
  const column = missingColumn(error)
  if (column !== undefined && quoted.has(column) && !strings.has(column)) return column
  const name = undecidedName(error)
  return name !== undefined && macros.has(name) && !strings.has(name) ? name : undefined
}
