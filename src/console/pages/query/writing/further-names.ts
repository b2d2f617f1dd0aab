import { ifNotIn, type Completion, type CompletionContext, type CompletionResult, type CompletionSource } from '@codemirror/autocomplete'
import { select } from '../../../api/sql.js'
import { asWritten, columnsIn, first, tablesIn } from './columns.js'
import type { KnownNames } from './schema.js'

/** The most names of one kind that are proposed at once. More characters narrow them. */
const namesMax = 100

type FurtherName = { kind: 'database' | 'table' | 'column'; label: string; of: string | null }

/** Tables, models and databases whose names begin with a text, and such columns of some tables. */
const namesQuery = `SELECT * FROM (SELECT 'table' AS kind, TABLE_NAME AS label, TABLE_SCHEMA AS "of" FROM information_schema.tables
    WHERE lower(TABLE_SCHEMA) = :db AND starts_with(lower(TABLE_NAME), :beginning) ORDER BY 2 LIMIT ${namesMax})
  UNION ALL SELECT * FROM (SELECT 'database', NAME, NULL FROM information_schema.databases
    WHERE :isFirst AND starts_with(lower(NAME), :beginning) ORDER BY 2 LIMIT ${namesMax})
  UNION ALL SELECT * FROM (SELECT 'column', COLUMN_NAME, TABLE_NAME FROM information_schema.columns
    WHERE :isFirst AND list_contains(:tables::VARCHAR[], lower(concat(TABLE_SCHEMA, '.', TABLE_NAME)))
      AND starts_with(lower(COLUMN_NAME), :beginning) ORDER BY 2 LIMIT ${namesMax})`

const types = { database: 'namespace', table: 'class', column: 'property' } as const

/**
 * Proposes names that the editor has not loaded because there are too many: the service finds those that begin with what is typed.
 *
 * @param db the database of names that are written without one
 */
export const furtherNames = ({ schema, at }: KnownNames, db: string): CompletionSource => {
  const isKnown = ({ kind, label, of }: FurtherName): boolean =>
    kind === 'table' ? columnsIn(schema, { database: of ?? '', table: label }) !== undefined : Object.hasOwn(schema, label)
  const propose = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const parts = (context.matchBefore(/[\p{L}\p{N}_.]+/u)?.text ?? '').split('.')
    const beginning = parts.at(-1) ?? ''
    const isFirst = parts.length === 1
    if (parts.length > 2 || (isFirst && beginning === '')) return null
    const unknown = tablesIn(context.state.doc.toString(), db).filter((one) => !columnsIn(schema, one))
    const aborting = new AbortController()
    context.addEventListener('abort', () => aborting.abort())
    const params = {
      db: (isFirst ? db : (parts[0] ?? '')).toLowerCase(),
      beginning: beginning.toLowerCase(),
      isFirst,
      tables: unknown.map(({ database, table }) => `${database}.${table}`.toLowerCase()),
    }
    const found = await select<FurtherName>({ query: namesQuery, params, at, signal: aborting.signal }).catch(() => [])
    const options = found
      .filter((one) => one.kind === 'column' || !isKnown(one))
      .map(({ kind, label, of }): Completion => ({
        ...{ label, type: types[kind], ...asWritten(label) },
        ...(kind === 'column' && of !== null && { detail: of, boost: first }),
      }))
    return { from: context.pos - beginning.length, options }
  }
  return ifNotIn(['QuotedIdentifier', 'String', 'LineComment', 'BlockComment'], propose)
}
