/** The text before the first word of a statement: spaces, comments and brackets. */
const before = /^(?:\s|\(|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/
/** A statement from its first word on. @example firstWords('-- all\n(SELECT 1)') // 'SELECT 1)' */
export const firstWords = (sql: string): string => sql.replace(before, '')

const readers = /^(?:SELECT|WITH|FROM|VALUES|TABLE|SHOW|DESC|DESCRIBE|EXPLAIN|SUMMARIZE|PIVOT|UNPIVOT|EVALUATE)\b/i

/** Whether a statement only reads, by its first word. @example isReading('-- all\nSELECT 1') // true */
export const isReading = (sql: string): boolean => readers.test(firstWords(sql))

const comment = /--[^\n]*|\/\*[^]*?\*\//g
/**
 * A statement in the language of a connected database, in brackets after its name: more words than the argument of a function. It runs as
 * soon as the rows are asked for, and may write whatever its first word is: `shop_db (SELECT pay(7))`. It may be in dollar quotes.
 */
const native =
  /\b(?:FROM|JOIN)\s+(?!LATERAL\b)(?:[\w$\u0080-\uffff]+|"(?:[^"]|"")*"|`[^`]*`)\s*\(\s*(?:\$[\w\u0080-\uffff]*\$|[a-z]+(?:\s+["'`\w$(*@:]|\s*\())/i
/** A statement that asks agents and models, which costs tokens, and records their answers. */
const asking = /^EVALUATE\s+AGENT\b/i

/**
 * Whether a statement that was cut off may have written something, here or in a connected database.
 *
 * @example mayWrite('SELECT * FROM shop_db (INSERT INTO notes VALUES (1) RETURNING id)') // true
 */
export const mayWrite = (sql: string): boolean => {
  const text = sql.replace(comment, ' ')
  // What looks like a comment may stand in a text.
  return !isReading(text) || asking.test(firstWords(text)) || native.test(text) || native.test(sql)
}
