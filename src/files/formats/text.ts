import { extname } from 'node:path'
import { limits } from '../../basics/limits.js'
import { badFile, tooLarge } from '../tables/bad-rows.js'
import type { StagedTable } from '../tables/staged-table.js'
import { StagingFile } from '../tables/staging-file.js'
import { columnType } from '../types/type-inference.js'
import { shapes } from '../types/shapes.js'
import { detectEncoding, readUtf8 } from './encoding.js'

const comma = 0x2c

/** The whole text of a file, as UTF-8. */
const textIn = async (source: string): Promise<{ bytes: Buffer; isOldEncoding: boolean }> => {
  const encoding = await detectEncoding(source)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of readUtf8(source, encoding)) {
    size += chunk.length
    if (size > limits.fileRowMaxBytes)
      throw tooLarge(`A text is one row, and this one has more than ${limits.fileRowMaxBytes} bytes: upload it in several files.`)
    chunks.push(chunk)
  }
  return { bytes: Buffer.concat(chunks), isOldEncoding: encoding.name === 'windows-1252' }
}

/**
 * Reads a text as a table of one row, a document: `content` is the text, `source_file` the name that it came with, `file_format` the
 * extension of that. The row goes to `target`, which must not exist. Throws a `Problem` for a file without text, and for a file of another
 * kind.
 *
 * @example (await stageText('/data/upload-1', '/data/ingest/rows', 'manual.md')).columns.map(({ name }) => name) // ['content', 'source_file', 'file_format']
 */
export const stageText = async (source: string, target: string, originalName: string): Promise<StagedTable> => {
  const { bytes, isOldEncoding } = await textIn(source)
  if (bytes.includes(0)) throw badFile('The file holds a NUL character: it is not text.')
  if (bytes.toString().trim() === '') throw badFile('The file has no text.')
  const staging = new StagingFile(target)
  staging.quoted(bytes, 0, bytes.length, false)
  for (const field of [originalName, extname(originalName).slice(1).toLowerCase() || 'txt']) {
    const said = Buffer.from(field.replaceAll('\0', ''))
    staging.byte(comma)
    staging.quoted(said, 0, said.length, false)
  }
  staging.endRow()
  staging.close()
  return {
    path: staging.path,
    separator: ',',
    longestRowBytes: staging.longestRowBytes,
    meanRowBytes: staging.totalBytes,
    form: 'csv',
    columns: ['content', 'source_file', 'file_format'].map((name) => ({ name, ...columnType(shapes.text, comma, undefined) })),
    rowCount: 1,
    warnings: isOldEncoding ? ['The text is not UTF-8; it was read as Windows-1252.'] : [],
    renamed: [],
  }
}
