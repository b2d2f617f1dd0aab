import { signal } from '@preact/signals'
import { chunksOf } from '../../api/lines.js'
import { ApiError, request } from '../../api/request.js'
import { contextOf, run, type Column, type Statement } from '../../api/sql.js'
import { csvOf } from '../../api/as-csv.js'
import { objectsOf } from '../../api/as-objects.js'
import { asApiError } from '../../basics/loading.js'
import { ofStatement, SilenceTimer } from '../../api/silence-timer.js'
import { saveFile } from '../../basics/save-file.js'
import type { RowStore } from './answer/rows.js'
import { firstWords, isReading } from './statement-kind.js'

/** The data to save: the answer of a reading statement, or the events of a dry run. */
export type DownloadRequest = Pick<Statement, 'query' | 'db' | 'at' | 'params'> & { isDryRun: boolean }

type Pieces = AsyncIterable<Uint8Array<ArrayBuffer>>

/** The service refuses statements that write, because saving an answer must not change anything. */
const harmless = ({ isDryRun, ...asked }: DownloadRequest): Statement => ({ ...asked, dryRun: isDryRun, readsOnly: true })

async function* watchedChunks(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  silence: SilenceTimer,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  silence.begin()
  try {
    yield* chunksOf(body, () => silence.heard())
  } finally {
    silence.end()
  }
}

/** Asks the service for an answer in its own format. @throws ApiError when the statement has no answer in this format */
const written =
  (form: string, type: string) =>
  async (asked: DownloadRequest, aborted: AbortSignal): Promise<Pieces> => {
    const { query, params, ...rest } = harmless(asked)
    const body = { query, context: contextOf(rest), params, response_format: form }
    const silence = new SilenceTimer(ofStatement)
    const response = await request('sql/query', { method: 'POST', body, signal: aborted, silence }).finally(() => silence.end())
    if (response.body && (response.headers.get('Content-Type') ?? '').startsWith(type)) return watchedChunks(response.body, silence)
    await response.body?.cancel()
    throw new ApiError({ status: 200, detail: `this statement has no answer as ${form}`, hint: 'Save it as JSON.' })
  }

async function* texts(pieces: Pieces): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder()
  for await (const piece of pieces) yield decoder.decode(piece)
}

async function* encoded(parts: AsyncIterable<string>): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const encoder = new TextEncoder()
  for await (const part of parts) yield encoder.encode(part)
}

const namesOf = (columns: readonly Column[]): string[] => columns.map(({ name }) => name)

async function* asObjects(asked: DownloadRequest, aborted: AbortSignal): AsyncGenerator<string, void, void> {
  const answer = await run({ ...harmless(asked), signal: aborted }, ofStatement)
  if (answer.type === 'ok') yield '[]\n'
  else yield* objectsOf(namesOf(answer.columns), texts(answer.pieces))
}

/** A format: how the service is asked for it, and how the page writes it from an answer that is here, if it can. */
type Format = {
  name: string
  type: string
  load: (asked: DownloadRequest, aborted: AbortSignal) => Pieces | Promise<Pieces>
  write?: (names: readonly string[], pieces: AsyncIterable<string>) => AsyncIterable<string>
}

const csv = 'text/csv'
const parquet = 'application/vnd.apache.parquet'

export type FileFormat = 'CSV' | 'JSON' | 'Parquet'

const formats: Readonly<Record<FileFormat, Format>> = {
  CSV: { name: 'answer.csv', type: csv, load: written('csv', csv), write: csvOf },
  JSON: {
    ...{ name: 'answer.json', type: 'application/json', write: objectsOf },
    load: (asked, aborted) => encoded(asObjects(asked, aborted)),
  },
  Parquet: { name: 'answer.parquet', type: parquet, load: written('parquet', parquet) },
}

/** Whether the page writes a format from an answer that is here. The others are written by the service, which runs the statement again. */
export const isWritable = (format: FileFormat): boolean => formats[format].write !== undefined

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

/** The bytes that scripts hold of a file. The browser holds the ones before, and can write them to its disk. */
const heldMaxBytes = 8 * 2 ** 20

/** Joins the pieces of a file as they arrive. @throws what the pieces throw */
const fileOf = async (pieces: Pieces, type: string, progress: (bytes: number) => void): Promise<Blob> => {
  const done: Blob[] = []
  let held: Uint8Array<ArrayBuffer>[] = []
  let [heldBytes, bytes] = [0, 0]
  for await (const piece of pieces) {
    held.push(piece)
    heldBytes += piece.length
    bytes += piece.length
    progress(bytes)
    if (heldBytes < heldMaxBytes) continue
    done.push(new Blob(held))
    held = []
    heldBytes = 0
  }
  return new Blob([...done, ...held], { type })
}

/** The file that is being saved, with the bytes that have arrived. It goes on while another page is shown. */
export const saving = signal<{ format: FileFormat; bytes: number; cancel: () => void } | undefined>(undefined)

/** Why the last file was not saved. */
export const savingError = signal<ApiError | undefined>(undefined)

/**
 * Saves the whole answer as a file, even if it is too large for this page, one at a time. Nothing changes in the service. An answer that is
 * here is not asked for again: an agent would answer in other words, and a live table has other rows by then.
 *
 * @example await download('CSV', { query: 'SELECT 1', db: 'mindsdb', isDryRun: false }, undefined)
 */
export const download = async (format: FileFormat, asked: DownloadRequest, answer: RowStore | undefined): Promise<void> => {
  if (saving.peek()) return
  const { name, type, load, write } = formats[format]
  const aborting = new AbortController()
  const { signal: aborted } = aborting
  const show = (bytes: number) => (saving.value = { format, bytes, cancel: () => aborting.abort() })
  show(0)
  savingError.value = undefined
  try {
    const isHere = answer !== undefined && write !== undefined
    const pieces = isHere ? encoded(write(namesOf(answer.columns), answer.written(aborted))) : await load(asked, aborted)
    const file = await fileOf(pieces, type, show)
    aborted.throwIfAborted()
    saveFile(file, name)
  } catch (error) {
    if (!aborted.aborted) savingError.value = asApiError(error)
  } finally {
    saving.value = undefined
  }
}
