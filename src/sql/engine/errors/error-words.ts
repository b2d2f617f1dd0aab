import { withoutPaths } from '../../../basics/shown.js'
import type { DuckDBError } from '../ast/duckdb-error.js'

const longestDetail = 1_000

/** DuckDB's lists of accepted names, in several forms: `Candidate bindings: : "a", "b"`. */
const lists = /(?<!\n)\n+(?:Candidate bindings|Did you mean|Candidate tables|Candidate Entries):? ?([^\n]*)/g

/** A message without the part that begins with these words on a separate line. Regular expressions would be slow for many empty lines. */
const withoutPart = (message: string, words: string): string => {
  const head = message.slice(0, Math.max(0, message.toLowerCase().indexOf(words)))
  const before = head.trimEnd()
  return head.includes('\n', before.length) ? before : message
}

/** Cuts the parts of a message that are about the rewritten text: long lists, internal names, paths. */
const cleaned = (message: string): string => {
  const body = withoutPart(withoutPart(message, 'candidate functions:'), 'possible solutions:').replace(lists, '')
  const lines = body.split('\n').filter((line, i) => i === 0 || !/ledger_|ledger\.|read_parquet|SET /.test(line))
  const safe = withoutPaths(lines.join('\n').replace(/"?(?<![^\s"'])[^\s"']*\/[0-9a-f]{64}"?/g, 'its content'))
    .replace(/\bledger\.\w+/g, 'a table')
    .replace(/ledger_\w+/g, 'the model')
  return safe.trim().slice(0, longestDetail)
}

const listed = (message: string): string[] =>
  [...message.matchAll(lists)].flatMap(([, list = '']) => [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name))

/** `table` is the table without the column, if the message names it and lists no columns. */
export type ErrorWords = { detail: string; name: string | undefined; table: string | undefined; candidates: string[] }

/** DuckDB's message about a file of rows, named by its hash, that is missing from the contents. */
const isOfLostContent = (message: string): boolean =>
  /^(?:No files found that match the pattern|Cannot open file) "[^"]*\/[0-9a-f]{64}"/.test(message)

/** DuckDB's error in words that suit the user's text. */
export const wordsFor = ({ message, candidates }: DuckDBError): ErrorWords => {
  const known = [...new Set([...candidates, ...listed(message)])]
  const missing = /^(?:Values list|Table) "([^"]+)" does not have a column named "([^"]+)"/.exec(message)
  if (missing) {
    const [, table = '', name = ''] = missing
    return { detail: `Table "${table}" has no column "${name}"`, name, table: known.length === 0 ? table : undefined, candidates: known }
  }
  if (isOfLostContent(message)) {
    const detail = 'The content of this table is missing where contents are kept: `mindledger verify` names it, and a backup may have it'
    return { detail, name: undefined, table: undefined, candidates: [] }
  }
  const name = /^Referenced (?:column|table) "([^"]+)"/.exec(message)?.[1]
  return { detail: cleaned(message), name, table: undefined, candidates: known }
}
