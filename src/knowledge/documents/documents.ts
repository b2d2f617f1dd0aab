/** Room: documents and their chunks. It imports only events and basics. */

import { createHash } from 'node:crypto'
import { foldName, illFormed, isObject, unfitJson, type Json, type JsonObject } from '../../../events/common.js'
import type { KnowledgeBase } from '../../../events/knowledge-base.js'
import type { KnowledgeDocument } from '../../../events/records/contents.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'

type Settings = Pick<KnowledgeBase, 'content_columns' | 'metadata_columns' | 'id_column'>

/** The id of a document whose row has none. `idOf('text')` → 16 hex digits */
const idOf = (content: string): string => createHash('md5').update(content).digest('hex').slice(0, 16)

const textOf = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const noColumn = (row: number, column: string, there: JsonObject): Problem =>
  wrong(
    `row ${row}: there is no column ${column} for the content`,
    `The row has ${Object.keys(there).slice(0, 20).join(', ')}. Name another column as content_columns, or give the row one of that name.`,
  )

const contentOf = (row: JsonObject, number: number, columns: readonly string[]): string => {
  const missing = columns.find((column) => !Object.hasOwn(row, column))
  if (missing !== undefined) throw noColumn(number, missing, row)
  if (columns.length === 1) return textOf(row[columns[0] ?? ''])
  // With several content columns, each text begins with the name of its column.
  return columns.flatMap((column) => (textOf(row[column]).trim() === '' ? [] : [`${column}: ${textOf(row[column])}`])).join('\n')
}

const idIn = (row: JsonObject, number: number, column: string | null, content: string): string => {
  const name = column ?? 'id'
  if (!Object.hasOwn(row, name)) {
    if (column !== null)
      throw wrong(`row ${number}: there is no column ${name} for the id`, 'ALTER the id_column, or give the row one of that name.')
    return idOf(content)
  }
  const value = row[name]
  const id = typeof value === 'object' ? '' : textOf(value)
  if (id === '')
    throw wrong(
      `row ${number}: ${name} is ${value === null ? 'NULL' : value === '' ? 'empty' : 'no text or number'}, and a document is known by it`,
      `Leave out the rows without one (WHERE ${name} IS NOT NULL), or the column: then ids are made of the contents.`,
    )
  if (id.length > limits.knowledgeIdMaxChars) throw wrong(`row ${number}: ${name} has more than ${limits.knowledgeIdMaxChars} characters`)
  return id
}

const metadataOf = (row: JsonObject, number: number, taken: ReadonlySet<string>, columns: readonly string[]): JsonObject => {
  const own = row['metadata']
  const given =
    columns.length > 0 ? columns : Object.keys(row).filter((column) => !taken.has(column) && !(column === 'metadata' && isObject(own)))
  const named = given.flatMap((column) => {
    const value = row[column]
    return value === undefined || value === null ? [] : [[column, value] as const]
  })
  const inside = isObject(own) && !columns.includes('metadata') ? Object.entries(own).filter(([, value]) => value !== null) : []
  const metadata = Object.fromEntries([...inside, ...named])
  const bytes = Buffer.byteLength(JSON.stringify(metadata))
  if (bytes > limits.knowledgeMetadataMaxBytes)
    throw wrong(
      `row ${number}: its metadata has ${bytes} bytes; at most ${limits.knowledgeMetadataMaxBytes} are kept`,
      'Name fewer metadata_columns.',
    )
  return metadata
}

/** The row with its columns in the spelling of the settings: names are compared without case. */
const spelled = (row: JsonObject, contents: readonly string[], { id_column: id, metadata_columns: metadata }: Settings): JsonObject => {
  const missing = [id ?? 'id', ...contents, ...metadata, 'metadata'].filter((name) => !Object.hasOwn(row, name))
  const names = new Map(missing.map((name) => [foldName(name), name]))
  if (!Object.keys(row).some((name) => names.has(foldName(name)))) return row
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const known = names.get(foldName(name))
      // Of two names that differ only in case, the first is the column.
      names.delete(foldName(name))
      return [known ?? name, value]
    }),
  )
}

/**
 * Converts a row to a document by the settings of the knowledge base; undefined when its content is empty. Rows count from 1.
 *
 * @example documentOf({ id: 7, content: 'Text', year: 2020 }, 1, base) // { id: '7', content: 'Text', metadata: { year: 2020 } }
 * @throws Problem that names the row and the column
 */
export const documentOf = (sent: JsonObject, number: number, settings: Settings): KnowledgeDocument | undefined => {
  const columns = settings.content_columns.length > 0 ? settings.content_columns : ['content']
  const row = spelled(sent, columns, settings)
  const unfit = unfitJson(row)
  if (unfit) throw wrong(`row ${number}: ${unfit[0]} ${unfit[1]}`)
  const content = contentOf(row, number, columns)
  if (content.trim() === '') return undefined
  const reason = illFormed(content)
  if (reason !== undefined) throw wrong(`row ${number}: the content ${reason}`)
  const bytes = Buffer.byteLength(content)
  if (bytes > limits.knowledgeDocumentMaxBytes)
    throw new Problem(
      'too_large',
      'Too large',
      `row ${number}: its content has ${bytes} bytes; a document has at most ${limits.knowledgeDocumentMaxBytes}`,
      { hint: 'Split it into several documents.' },
    )
  const id = idIn(row, number, settings.id_column, content)
  const taken = new Set([...columns, settings.id_column ?? 'id'])
  return { id, content, metadata: metadataOf(row, number, taken, settings.metadata_columns) }
}

/** The bytes of a document in the log, without its id. */
export const documentBytes = ({ content, metadata }: KnowledgeDocument): number =>
  Buffer.byteLength(content) + Buffer.byteLength(JSON.stringify(metadata))

const shownRows = 20

/** The refusal of rows without content. It names them, because rows are never skipped silently. */
export const emptyRows = (rows: readonly number[], inserted: number): Problem => {
  const listed = rows.slice(0, shownRows).join(', ') + (rows.length > shownRows ? ` and ${rows.length - shownRows} more` : '')
  return wrong(
    `${rows.length === 1 ? 'row' : 'rows'} ${listed}: the content is empty${inserted === 0 ? '; nothing was inserted' : ''}`,
    "Leave such rows out: WHERE trim(content) <> ''.",
  )
}

/**
 * The same refusal, with the number of documents that were inserted before it. Sent again, they may come in twice, so it asks nobody to
 * send the request again after a while.
 */
export const afterInserting = (documents: number, { code, title, detail, status, extras }: Problem): Problem => {
  const { retryAfterSeconds, ...others } = extras
  const isPassing = status === 503 || retryAfterSeconds !== undefined
  const before = `${documents === 1 ? '1 document was' : `${documents} documents were`} inserted before, and stay`
  return new Problem(code, title, `${detail}; ${before}`, {
    ...others,
    ...(isPassing && { hint: 'Look which documents are in before you send it again.' }),
    inserted: documents,
  })
}
