import { ApiError, request } from '../../api/request.js'
import { contextOf, run, type Statement } from '../../api/sql.js'
import { objectsOf } from '../../api/as-objects.js'
import { saveFile } from '../../basics/save-file.js'
import { firstWords, isReading } from './statement-kind.js'

/** The data to save: the answer of a reading statement, or the events of a dry run. */
export type DownloadRequest = Pick<Statement, 'query' | 'db' | 'at' | 'params'> & { isDryRun: boolean }

/** The service refuses statements that write, because saving an answer must not change anything. */
const harmless = ({ isDryRun, ...asked }: DownloadRequest): Statement => ({ ...asked, dryRun: isDryRun, readsOnly: true })

/** The answer in the format of the service. @throws ApiError when the statement has no answer in this format */
const written = async (form: string, type: string, asked: DownloadRequest): Promise<Blob> => {
  const { query, params, ...rest } = harmless(asked)
  const body = { query, context: contextOf(rest), params, response_format: form }
  const response = await request('sql/query', { method: 'POST', body })
  if (!(response.headers.get('Content-Type') ?? '').startsWith(type)) {
    await response.body?.cancel()
    throw new ApiError({ status: 200, detail: `this statement has no answer as ${form}`, hint: 'Save it as JSON.' })
  }
  return response.blob()
}

async function* texts(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder()
  for await (const piece of pieces) yield decoder.decode(piece)
}

const asObjects = async (asked: DownloadRequest): Promise<Blob> => {
  const answer = await run(harmless(asked))
  if (answer.type === 'ok') return new Blob(['[]\n'])
  const parts: string[] = []
  for await (const text of objectsOf(
    answer.columns.map(({ name }) => name),
    texts(answer.pieces),
  ))
    parts.push(text)
  return new Blob(parts, { type: 'application/json' })
}

const formats = {
  CSV: { name: 'answer.csv', load: (asked: DownloadRequest) => written('csv', 'text/csv', asked) },
  JSON: { name: 'answer.json', load: asObjects },
  Parquet: { name: 'answer.parquet', load: (asked: DownloadRequest) => written('parquet', 'application/vnd.apache.parquet', asked) },
} as const

export type FileFormat = keyof typeof formats
/** The formats in which an answer can be saved. */
export const fileFormats = Object.keys(formats) as FileFormat[]

/**
 * Why an answer is not offered as a file; undefined if it is. The final decision is the service's, which refuses statements that write.
 *
 * @example notSavedAs('CSV', 'CREATE PROJECT a', false) // 'Only the answer of a statement that reads is saved. …'
 */
export const notSavedAs = (format: FileFormat, sql: string, isDryRun: boolean): string | undefined => {
  if (firstWords(sql) === '') return 'There is no statement yet.'
  if (isReading(sql)) return isDryRun ? 'A dry run is for a statement that writes. Take the tick away to save this answer.' : undefined
  if (!isDryRun) return 'Only the answer of a statement that reads is saved. Run this one, or save the events of a dry run.'
  return format === 'Parquet' ? 'The events of a dry run are saved as CSV or JSON.' : undefined
}

/** Saves the whole answer as a file, also if it is too large for this page. Nothing changes in the service. @throws ApiError */
export const download = async (format: FileFormat, asked: DownloadRequest): Promise<void> => {
  const { name, load } = formats[format]
  saveFile(await load(asked), name)
}
