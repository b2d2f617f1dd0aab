/** The text before the first word of a statement: spaces, comments and brackets. */
const before = /^(?:\s|\(|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/
/** A statement from its first word on. @example firstWords('-- all\n(SELECT 1)') // 'SELECT 1)' */
export const firstWords = (sql: string): string => sql.replace(before, '')

const readers = /^(?:SELECT|WITH|FROM|VALUES|TABLE|SHOW|DESC|DESCRIBE|EXPLAIN|SUMMARIZE|PIVOT|UNPIVOT|EVALUATE)\b/i

/** Whether a statement only reads, by its first word. @example isReading('-- all\nSELECT 1') // true */
export const isReading = (sql: string): boolean => readers.test(firstWords(sql))

/** A statement in the language of a connected database, in brackets. It runs as soon as the rows are asked for. */
const nativeWrite =
  /\(\s*(?:WITH\b[^]*\b)?(?:INSERT|UPDATE|DELETE|MERGE|REPLACE|CREATE|ALTER|DROP|TRUNCATE|CALL|EXEC|EXECUTE|DO)\s+["`\w$]/i

/**
 * Whether a statement that was cut off may have written something, here or in a connected database.
 *
 * @example mayWrite('SELECT * FROM shop_db (INSERT INTO notes VALUES (1) RETURNING id)') // true
 */
export const mayWrite = (sql: string): boolean => !isReading(sql) || nativeWrite.test(sql)
