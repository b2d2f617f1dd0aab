import { isProblem } from '../../basics/errors.js'
import { lex } from '../../dialect/lexer.js'

/** Complete statements, and the text after the last semicolon; `isEmpty` if that text has no content. */
export type Split = { statements: string[]; rest: string; isEmpty: boolean }

/**
 * Splits a text at its semicolons, except those in quotes, comments and brackets. An unfinished part, such as an open quote, belongs
 * to `rest`.
 *
 * @example splitStatements('USE shop; SELECT') // { statements: ['USE shop'], rest: ' SELECT', isEmpty: false }
 */
export const splitStatements = (text: string): Split => {
  const statements: string[] = []
  let [start, depth, said] = [0, 0, false]
  try {
    for (const { kind, text: token, start: at, end } of lex(text)) {
      const isSymbol = kind === 'symbol'
      if (isSymbol && '([{'.includes(token)) depth += 1
      if (isSymbol && ')]}'.includes(token)) depth -= 1
      if (!isSymbol || token !== ';' || depth > 0) {
        said = true
        continue
      }
      if (said) statements.push(text.slice(start, at).trim())
      ;[start, depth, said] = [end, 0, false]
    }
  } catch (error) {
    if (!isProblem(error)) throw error
    return { statements: [], rest: text, isEmpty: false }
  }
  return { statements, rest: text.slice(start), isEmpty: !said }
}
