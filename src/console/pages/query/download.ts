import { request } from '../../api/request.js'
import type { Value } from '../../api/sql.js'

const formats = {
  CSV: { name: 'answer.csv', form: 'csv' },
  'JSON lines': { name: 'answer.jsonl', form: 'jsonlines' },
  Parquet: { name: 'answer.parquet', form: 'parquet' },
} as const

export type FileFormat = keyof typeof formats
export const fileFormats = Object.keys(formats) as FileFormat[]

export type Asked = { query: string; db: string; at: string | undefined; params: Record<string, Value> }

/** Saves the whole answer as a file, also what is too much for this page. @throws ApiError */
export const download = async (format: FileFormat, { query, db, at, params }: Asked): Promise<void> => {
  const { name, form } = formats[format]
  const context = { db, ...(at !== undefined && { as_of: at }) }
  const response = await request('sql/query', { method: 'POST', body: { query, context, params, response_format: form } })
  const url = URL.createObjectURL(await response.blob())
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
