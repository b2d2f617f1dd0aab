import { missingColumn } from './explain-error.js'
import type { Session } from '../session/session.js'
import { undecidedName } from './session-user.js'

/**
 * The name that is no column according to an error, if another attempt may read it in another way: a name in double quotes as a text, as
 * MySQL does, and `user` as the account.
 */
export const nameOfNoColumn = (error: unknown, { quoted, macros, strings }: Session): string | undefined => {
  const column = missingColumn(error)
  if (column !== undefined && quoted.has(column) && !strings.has(column)) return column
  const name = undecidedName(error)
  return name !== undefined && macros.has(name) && !strings.has(name) ? name : undefined
}
