import { ifNotIn, type Completion, type CompletionContext, type CompletionResult, type CompletionSource } from '@codemirror/autocomplete'
import { quoted } from '../../../api/sql.js'
import type { Schema } from './schema.js'

const name = String.raw`(?:\x60(?:[^\x60]|\x60\x60)+\x60|"(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_]*)`
const tableNames = new RegExp(String.raw`(?:\b(?:FROM|JOIN|UPDATE|INTO)\s+|,\s*)(${name}(?:\.${name})*)`, 'giu')
const parts = new RegExp(name, 'gu')

const bare = (part: string): string => (/^[\x60"]/.test(part) ? part.slice(1, -1).replaceAll('``', '`').replaceAll('""', '"') : part)

const memberOf = <T>(members: Readonly<Record<string, T>>, wanted: string): T | undefined =>
  Object.hasOwn(members, wanted)
    ? members[wanted]
    : Object.entries(members).find(([known]) => known.toLowerCase() === wanted.toLowerCase())?.[1]

/**
 * The tables and models that a statement names.
 *
 * @param db the database of names that are written without one
 * @example tablesIn('SELECT * FROM files.homes', 'mindsdb') // [{ database: 'files', table: 'homes' }]
 */
export const tablesIn = (statement: string, db: string): { database: string; table: string }[] =>
  Array.from(statement.matchAll(tableNames), ([, path = '']) => {
    const [table = '', database = db] = Array.from(path.matchAll(parts), ([part]) => bare(part)).reverse()
    return { database, table }
  })

/** The columns of a table or a model, as far as the schema has them. */
export const columnsIn = (schema: Schema, { database, table }: { database: string; table: string }): readonly string[] | undefined =>
  memberOf(memberOf(schema, database) ?? {}, table)

/**
 * The columns of the tables, and the inputs of the models, that a statement names, each with its table or model.
 *
 * @param db the database of names that are written without one
 * @example columnsNamed('SELECT * FROM files.homes', { files: { homes: ['size'] } }, 'mindsdb') // [{ column: 'size', of: 'homes' }]
 */
const columnsNamed = (statement: string, schema: Schema, db: string): { column: string; of: string }[] => {
  const found = new Map<string, string>()
  for (const one of tablesIn(statement, db))
    for (const column of columnsIn(schema, one) ?? []) if (!found.has(column)) found.set(column, one.table)
  return Array.from(found, ([column, of]) => ({ column, of }))
}

/** Ranks columns before keywords and functions with the same beginning. */
export const first = 90

/** How a name is written, if it needs quotes. */
export const asWritten = (written: string): { apply?: string } => (/^[a-z_]\w*$/i.test(written) ? {} : { apply: quoted(written) })

/** Proposes columns of the statement's tables at places where a name may begin. */
export const columnsOf = (schema: Schema, db: string): CompletionSource =>
  ifNotIn(['QuotedIdentifier', 'String', 'LineComment', 'BlockComment', '.'], (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u)
    if (!word && !context.explicit) return null
    const from = word?.from ?? context.pos
    if (context.state.sliceDoc(from - 1, from) === '.') return null
    const options = columnsNamed(context.state.doc.toString(), schema, db).map(({ column, of }): Completion => ({
      ...{ label: column, type: 'property', detail: of, boost: first },
      ...asWritten(column),
    }))
    return { from, options, validFor: /^[\p{L}\p{N}_]*$/u }
  })
