import type { Token } from '../../../dialect/lexer.js'
import { lastPlaces } from '../../../dialect/refuse-last.js'
import type { LastSession } from '../session/session.js'

/** What a LAST is called in the tree, with its number behind. */
export const lastPrefix = 'ledger_last_'

/** Puts a name of ours in the place of each LAST that stands for what a job has seen. */
export const markLast = (tokens: Token[], last: LastSession): Token[] => {
  const places = new Set(lastPlaces(tokens))
  return tokens.map((token, i) => {
    if (!places.has(i)) return token
    const name = `${lastPrefix}${last.marks++}`
    return { ...token, text: name, value: name }
  })
}
