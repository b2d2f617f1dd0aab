import { select } from '../../../api/sql.js'

/** Databases with their tables and models, and the columns of these. */
export type Schema = Record<string, Record<string, string[]>>

/** The editor's proposals: databases, their tables, and the columns of these. */
export const loadSchema = async (at: string | undefined, signal: AbortSignal): Promise<Schema> => {
  const found = await select<{ s: string; t: string; c: string }>({
    query:
      'SELECT TABLE_SCHEMA AS s, TABLE_NAME AS t, COLUMN_NAME AS c FROM information_schema.columns ORDER BY 1, 2, ORDINAL_POSITION LIMIT 50000',
    at,
    signal,
  })
  const schema: Schema = {}
  for (const { s, t, c } of found) ((schema[s] ??= {})[t] ??= []).push(c)
  return schema
}

/** The names of the databases that a statement can run in. */
export const loadDatabases = async (at: string | undefined, signal: AbortSignal): Promise<string[]> => {
  const found = await select<{ Database: string }>({ query: 'SHOW DATABASES', at, signal })
  return found.flatMap((row) => Object.values(row).slice(0, 1))
}

/** The named parameters of a statement, in order; those in texts, comments and casts are ignored. */
export const parametersOf = (text: string): string[] => {
  const bare = text.replace(/'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
  const names = [...bare.matchAll(/(?<![:\w]):([A-Za-z_]\w*)/g)].map(([, name = '']) => name)
  return [...new Set(names)]
}

/** The place in the message of an SQL error. @example placeOf('… (line 1, column 8)\n…') // { line: 1, column: 8 } */
export const placeOf = (message: string): { line: number; column: number } | undefined => {
  const [, line, column] = /\(line (\d+), column (\d+)\)/.exec(message) ?? []
  return line === undefined || column === undefined ? undefined : { line: Number(line), column: Number(column) }
}
