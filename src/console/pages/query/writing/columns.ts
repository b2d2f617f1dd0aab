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
 * The columns of the tables, and the inputs of the models, that a statement names, each with its table or model.
 *
 * @param db the database of names that are written without one
 * @example columnsIn('SELECT * FROM files.homes', { files: { homes: ['size'] } }, 'mindsdb') // [{ column: 'size', of: 'homes' }]
 */
export const columnsIn = (statement: string, schema: Schema, db: string): { column: string; of: string }[] => {
  const found = new Map<string, string>()
  for (const [, path = ''] of statement.matchAll(tableNames)) {
    const [table = '', database = db] = Array.from(path.matchAll(parts), ([part]) => bare(part)).reverse()
    for (const column of memberOf(memberOf(schema, database) ?? {}, table) ?? []) if (!found.has(column)) found.set(column, table)
  }
  return Array.from(found, ([column, of]) => ({ column, of }))
}

/** Ranks columns before keywords and functions with the same beginning. */
const first = 90

/** Proposes columns of the statement's tables at places where a name may begin. */
export const columnsOf = (schema: Schema, db: string): CompletionSource =>
  ifNotIn(['QuotedIdentifier', 'String', 'LineComment', 'BlockComment', '.'], (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u)
    if (!word && !context.explicit) return null
    const from = word?.from ?? context.pos
    if (context.state.sliceDoc(from - 1, from) === '.') return null
    const options = columnsIn(context.state.doc.toString(), schema, db).map(({ column, of }): Completion => ({
      ...{ label: column, type: 'property', detail: of, boost: first },
      ...(!/^[a-z_]\w*$/i.test(column) && { apply: quoted(column) }),
    }))
    return { from, options, validFor: /^[\p{L}\p{N}_]*$/u }
  })
