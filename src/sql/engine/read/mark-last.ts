import type { Token } from '../../../dialect/lexer.js'
import { lastPlaces } from '../../../dialect/last-places.js'
import type { LastSession } from '../session/session.js'

/** The name of a LAST in the tree; its number follows. */
export const lastPrefix = 'ledger_last_'

/** Puts a name of this service in the place of each LAST that means the values that a job has seen. */
export const markLast = (tokens: Token[], last: LastSession): Token[] => {
  const places = new Set(lastPlaces(tokens))
  return tokens.map((token, i) => {
    if (!places.has(i)) return token
    const name = `${lastPrefix}${last.marks++}`
    return { ...token, text: name, value: name }
  })
}
