import { request } from '../../api/request.js'
import { run, type Value } from '../../api/sql.js'
import { objectsOf } from '../../api/as-objects.js'

export type DownloadRequest = { query: string; db: string; at: string | undefined; params: Record<string, Value> }

/** The answer as the service writes it. */
const written = async (form: string, { query, db, at, params }: DownloadRequest): Promise<Blob> => {
  const context = { db, ...(at !== undefined && { as_of: at }) }
  const response = await request('sql/query', { method: 'POST', body: { query, context, params, response_format: form } })
  return response.blob()
}

async function* texts(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder()
  for await (const piece of pieces) yield decoder.decode(piece)
}

const asObjects = async (asked: DownloadRequest): Promise<Blob> => {
  const answer = await run(asked)
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
  CSV: { name: 'answer.csv', load: (asked: DownloadRequest) => written('csv', asked) },
  JSON: { name: 'answer.json', load: asObjects },
  Parquet: { name: 'answer.parquet', load: (asked: DownloadRequest) => written('parquet', asked) },
} as const

export type FileFormat = keyof typeof formats
export const fileFormats = Object.keys(formats) as FileFormat[]

/** Saves the whole answer as a file, also what is too much for this page. @throws ApiError */
export const download = async (format: FileFormat, asked: DownloadRequest): Promise<void> => {
  const { name, load } = formats[format]
  const url = URL.createObjectURL(await load(asked))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
