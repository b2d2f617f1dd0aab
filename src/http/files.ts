import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { resourceName } from '../../events/common.js'
import type { FileContent } from '../../events/file.js'
import type { Ledger } from '../commands/ledger.js'
import { notFound, Problem, wrong } from '../errors.js'
import type { Blobs } from '../files/blobs.js'
import type { Ingester } from '../files/ingest.js'
import { receiveUpload } from '../files/upload.js'
import type { Found } from '../log/log.js'
import { idempotencyOf, note, originOf } from './origin.js'
import { recordTime } from './records.js'
import { param, parse, queryValue, type Route } from './route.js'

const listed = z.object({ name: z.string(), row_count: z.int(), columns: z.array(z.string()) }).meta({ id: 'File' })
const detail = z
  .object({
    name: z.string(),
    row_count: z.int(),
    columns: z.array(z.object({ name: z.string(), type: z.string() })),
    bytes: z.int(),
    content: z.string(),
    original_name: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: 'FileDetail' })
const skippedRows = z.object({
  rows: z.int(),
  skipped: z.int(),
  first: z.array(z.object({ line: z.int(), text: z.string(), reason: z.string() })),
})

const path = '/files'

/** Names of files are kept in lower case, as statements write them. */
const fileName = (given: string): string => {
  if (given.includes('.'))
    throw new Problem('wrong_arguments', 'Error', 'File name cannot contain extension.', { hint: 'Leave out everything from the dot on.' })
  return parse(resourceName, given, 'file name').toLowerCase()
}

const skips = (value: string | undefined): boolean => {
  if (value === undefined || value === 'refuse') return false
  if (value === 'skip') return true
  throw wrong(`on_bad_rows is skip or refuse, not ${value}`)
}

export const fileRoutes = (
  ledger: Ledger,
  { blobs, ingester, temporary }: { blobs: Blobs; ingester: Ingester; temporary: string },
): Route[] => {
  const found = async (name: string): Promise<Found<'file'>> => {
    const file = await ledger.log.resources.one('file', name)
    if (!file) throw notFound('file', name)
    return file
  }
  return [
    {
      method: 'get',
      path,
      summary: 'List the files',
      answers: { 200: z.array(listed) },
      async handle(_req, res) {
        const files = await ledger.log.resources.list('file')
        res.json(
          files.map(({ state }) => ({ name: state.name, row_count: state.row_count, columns: state.columns.map(({ name }) => name) })),
        )
      },
    },
    {
      method: 'get',
      path: `${path}/:file`,
      summary: 'Get a file: its columns, rows, and the hash of its content',
      answers: { 200: detail },
      async handle(req, res) {
        const { state, created_at } = await found(param(req, 'file').toLowerCase())
        const { name, row_count, columns, bytes, content, original_name } = state
        res.json({ name, row_count, columns, bytes, content, original_name, created_at: recordTime(created_at) })
      },
    },
    {
      method: 'put',
      path: `${path}/:file`,
      summary: 'Upload a table: CSV, JSON, JSON lines or Parquet, as multipart/form-data or as the body itself',
      query: z.object({
        on_bad_rows: z.enum(['refuse', 'skip']).optional().describe('skip: rows that do not fit are left out and counted'),
      }),
      answers: { 200: z.union([z.literal(''), skippedRows]) },
      async handle(req, res) {
        const skip = skips(queryValue(req, 'on_bad_rows'))
        await mkdir(temporary, { recursive: true })
        const work = await mkdtemp(join(temporary, 'upload-'))
        try {
          const upload = await receiveUpload(req, work)
          const name = fileName(param(req, 'file'))
          // Refused before it is read. With a key it may be an upload sent again, which only the command can tell.
          if (req.get('idempotency-key') === undefined && (await ledger.log.resources.one('file', name)))
            throw new Problem('wrong_arguments', 'File already exists', `File with name '${name}' already exists`, {
              hint: 'Delete it first, or choose another name.',
            })
          const originalName = upload.fields.get('original_file_name') ?? upload.originalName
          const converted = join(work, 'converted')
          await mkdir(converted)
          const table = await ingester.ingest({
            source: upload.file,
            originalName,
            workDirectory: converted,
            onBadRows: skip ? 'skip' : 'refuse',
            ...(upload.format && { format: upload.format }),
          })
          const content: FileContent = {
            content: await blobs.put(table.parquetFile),
            bytes: table.bytes,
            row_count: table.rowCount,
            columns: table.columns,
            original_name: originalName === '' ? null : originalName,
          }
          const command = { type: 'CreateFile', data: { file: name, content } } as const
          note(res, await ledger.execute(command, originOf(req, res), idempotencyOf(req, content)))
          res.json(skip ? { rows: table.rowCount, skipped: table.skipped.count, first: table.skipped.first } : '')
        } finally {
          await rm(work, { recursive: true, force: true })
        }
      },
    },
    {
      method: 'delete',
      path: `${path}/:file`,
      summary: 'Delete a file',
      answers: { 200: z.literal('') },
      async handle(req, res) {
        const data = { file: param(req, 'file').toLowerCase() }
        note(res, await ledger.execute({ type: 'DeleteFile', data }, originOf(req, res), idempotencyOf(req)))
        res.json('')
      },
    },
  ]
}
