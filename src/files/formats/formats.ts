/** Room: the formats of uploads, and the reader of each. It imports only basics, files/types and files/tables. */

import { extname } from 'node:path'
import { badFile } from '../tables/bad-rows.js'
import { looksLikeTable } from './csv-dialect.js'
import { detectEncoding, readHead, readUtf8 } from './encoding.js'

export const fileFormats = ['csv', 'json', 'parquet', 'text'] as const
export type FileFormat = (typeof fileFormats)[number]
/** The formats of uploads: formats of tables, text (a table of one row), and ONNX, which is stored as it is. */
export type UploadFormat = FileFormat | 'onnx'

/** Whether a file holds rows; a file without columns is a model, uploaded to be imported. */
export const isTable = ({ columns }: { columns: readonly unknown[] }): boolean => columns.length > 0

/** Whether an upload without a stated format is a model to be imported, or the tokenizer of one, by its name. */
export const isOnnx = (originalName: string, said: UploadFormat | undefined): boolean =>
  said === undefined && (extname(originalName).toLowerCase() === '.onnx' || /(^|[/\\_-])tokenizer\.json$/i.test(originalName))

const tableSampleBytes = 256 * 1024

const byExtension: Readonly<Record<string, FileFormat>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.tab': 'csv',
  '.json': 'json',
  '.jsonl': 'json',
  '.ndjson': 'json',
  '.parquet': 'parquet',
  '.md': 'text',
  '.markdown': 'text',
}

/** Formats that are often uploaded and cannot be read as tables, recognised by their first bytes. */
const refused = [
  { starts: 'PK\x03\x04', hint: 'It is a ZIP archive or a spreadsheet: unpack it, or export the sheet as CSV.' },
  { starts: '\x1f\x8b', hint: 'It is compressed with gzip: unpack it first.' },
  { starts: '\xd0\xcf\x11\xe0', hint: 'It is an old spreadsheet: export the sheet as CSV.' },
  { starts: '%PDF', hint: 'It is a PDF, which is not read here: convert it to text (pdftotext), and upload that as .txt.' },
  { starts: 'ARROW1', hint: 'It is an Arrow file: write it as Parquet.' },
] as const

/** Whether the beginning of a text is rows of a table. */
const isTableOfText = async (path: string): Promise<boolean> => {
  // Only the end of a file comes in such a short chunk. Its last row is whole, even without a line end.
  for await (const chunk of readUtf8(path, await detectEncoding(path)))
    return looksLikeTable(chunk.subarray(0, tableSampleBytes), chunk.length <= tableSampleBytes)
  return false
}

/**
 * Detects a file's format: the one that the caller states, else by the first bytes or the name's extension. A file that is named `.txt` is
 * CSV if its rows have the same number of fields, more than one, and else a text. Text that starts with a bracket or brace and has no known
 * extension is JSON; all other text is CSV.
 *
 * @example await detectFormat('/data/uploads/1', 'sales.csv') // 'csv'
 */
export const detectFormat = async (path: string, originalName: string, said?: FileFormat): Promise<FileFormat> => {
  const head = (await readHead(path, 512)).toString('latin1')
  if (head === '') throw badFile('The file is empty.')
  const kind = refused.find(({ starts }) => head.startsWith(starts))
  if (kind) throw badFile('The file is not CSV, JSON, Parquet or text.', { hint: kind.hint })
  if (said !== undefined) return said
  if (head.startsWith('PAR1')) return 'parquet'
  const extension = extname(originalName).toLowerCase()
  if (extension === '.txt') return (await isTableOfText(path)) ? 'csv' : 'text'
  return byExtension[extension] ?? (/^(?:\xef\xbb\xbf)?\s*[[{]/.test(head) ? 'json' : 'csv')
}
