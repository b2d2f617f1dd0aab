import { z } from 'zod'
import { resourceName } from '../../../../events/common.js'
import type { FileContent } from '../../../../events/file.js'
import type { Ledger } from '../../../commands/ledger.js'
import { erasureOfBlob } from '../../../log/read/find-erasure.js'
import { notFound, Problem, wrong } from '../../../basics/errors.js'
import type { Blobs } from '../../../files/blobs.js'
import type { Intake } from '../../../files/intake.js'
import type { Ingested } from '../../../files/ingest/ingest-messages.js'
import { isOnnx, type FileFormat } from '../../../files/formats/formats.js'
import { rawTypes, receiveUpload, type Upload } from '../../../files/upload.js'
import { limits } from '../../../basics/limits.js'
import type { Found } from '../../../log/contract/log.js'
import { checkExpects } from '../../../log/contract/expects.js'
import { KeyedTurns } from '../../../basics/keyed-turns.js'
import { carryOut } from '../../protocol/carry-out.js'
import { clientOf } from '../../protocol/client.js'
import { executionOf, note, originOf } from '../../protocol/origin.js'
import { tag } from '../../protocol/etag.js'
import { listParameters, resourcesPart, sendList } from '../../reads/paged-list.js'
import type { Reading } from '../../reads/reading.js'
import { recordTime } from '../../reads/records.js'
import { commandHeaders, param, parse, queryValue, type Route, withoutDryRun } from '../../protocol/route.js'

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
    erased: z
      .object({ position: z.int(), at: z.string(), reason: z.string().nullable() })
      .optional()
      .describe('Its rows were erased, by the event at this position'),
  })
  .meta({ id: 'FileDetail' })
const uploaded = z
  .object({
    name: z.string(),
    rows: z.int(),
    columns: z.array(z.object({ name: z.string(), type: z.string() })).describe('none where the file is a model'),
    warnings: z.array(z.string()).describe('what was read otherwise than one may expect, and what stayed text'),
    renamed: z.array(z.object({ from: z.string(), to: z.string() })),
    skipped: z.int().describe('rows that did not fit and were left out'),
    first: z.array(z.object({ line: z.int(), text: z.string(), reason: z.string() })).describe('the first of them'),
  })
  .meta({ id: 'UploadedFile' })

const form = z.looseObject({ file: z.file(), original_file_name: z.string().optional().describe('its extension says the format') })
const path = '/files'

/** Names of files are kept in lower case, as statements write them. */
export const fileName = (given: string): string => {
  if (given.includes('.'))
    throw new Problem('wrong_arguments', 'Error', 'File name cannot contain extension.', { hint: 'Leave out everything from the dot on.' })
  return parse(resourceName, given, 'file name').toLowerCase()
}

const skips = (value: string | undefined): boolean => {
  if (value === undefined || value === 'refuse') return false
  if (value === 'skip') return true
  throw wrong(`on_bad_rows is skip or refuse, not ${value}`)
}

const nameOf = ({ fields, originalName }: Upload): string => fields.get('original_file_name') ?? originalName

type Services = {
  blobs: Blobs
  intake: Intake
  /** Hears how many bytes were received. */
  onUploaded?: (bytes: number) => void
}

/** What an upload came to. */
const told = (name: string, table: Ingested | undefined): z.infer<typeof uploaded> =>
  table
    ? {
        name,
        rows: table.rowCount,
        columns: table.columns,
        warnings: table.warnings,
        renamed: table.renamed,
        skipped: table.skipped.count,
        first: table.skipped.first,
      }
    : { name, rows: 0, columns: [], warnings: [], renamed: [], skipped: 0, first: [] }

export const fileRoutes = (ledger: Ledger, reading: Reading, { blobs, intake, onUploaded }: Services): Route[] => {
  // Of uploads of one name that come at once, the one received last is the last to count.
  const turns = new KeyedTurns()
  const read = (upload: Upload, format: FileFormat | undefined, directory: string, skip: boolean): Promise<Ingested> =>
    intake.read(
      { source: upload.file, originalName: nameOf(upload), onBadRows: skip ? 'skip' : 'refuse', ...(format && { format }) },
      directory,
    )
  /** A model is kept as it is; what it holds is looked at when it is imported. */
  const storeModel = async (upload: Upload): Promise<FileContent> => {
    if (upload.bytes > limits.onnxMaxBytes)
      throw new Problem('too_large', 'Too large', `The ONNX file has ${upload.bytes} bytes, the limit is ${limits.onnxMaxBytes}.`)
    return { content: await blobs.put(upload.file), bytes: upload.bytes, row_count: 0, columns: [], original_name: nameOf(upload) || null }
  }
  return [
    reading({
      path,
      summary: 'List the files',
      query: listParameters,
      answers: { 200: z.array(listed) },
      async handle(req, res, { resources }) {
        const read = (after: number, limit: number) => resources.page('file', undefined, after, limit)
        const show = ({ state: { name, row_count, columns } }: Found<'file'>) => [
          { name, row_count, columns: columns.map((one) => one.name) },
        ]
        await sendList(req, res, [resourcesPart(read, show)])
      },
    }),
    reading({
      path: `${path}/:file`,
      summary: 'Get a file: its columns, rows, and the hash of its content',
      answers: { 200: detail },
      async handle(req, res, { resources }) {
        const ref = param(req, 'file').toLowerCase()
        const file = await resources.one('file', ref)
        if (!file) throw notFound('file', ref)
        const { name, row_count, columns, bytes, content, original_name } = file.state
        tag(res, file)
        const erased = (await blobs.has(content)) ? undefined : await erasureOfBlob(ledger.log, content)
        const created_at = recordTime(file.created_at)
        res.json({ name, row_count, columns, bytes, content, original_name, created_at, ...(erased && { erased }) })
      },
    }),
    {
      method: 'put',
      path: `${path}/:file`,
      summary:
        'Upload a table (CSV, JSON, JSON lines or Parquet) or an ONNX model, in a form, or all but JSON as the body itself; a file of that name gets a new content',
      commandHeaders: withoutDryRun,
      takes: { 'multipart/form-data': form, ...Object.fromEntries(rawTypes.map((type) => [type, null])) },
      query: z.object({
        on_bad_rows: z.enum(['refuse', 'skip']).optional().describe('skip: rows that do not fit are left out and counted'),
      }),
      answers: { 200: uploaded },
      async handle(req, res) {
        const skip = skips(queryValue(req, 'on_bad_rows'))
        await intake.inDirectory(clientOf(req, res), async (work) => {
          const upload = await receiveUpload(req, work)
          onUploaded?.(upload.bytes)
          const name = fileName(param(req, 'file'))
          const origin = originOf(req, res)
          const { sha256, fields, originalName, format = null } = upload
          const execution = executionOf(req, { sha256, fields: [...fields], originalName, format, skip })
          await turns.take(name, async () => {
            const repeated = await ledger.repeated(origin, execution)
            // The command is held against the headers again; here they spare the work.
            if (!repeated && execution.expects) checkExpects(execution.expects, (await ledger.log.resources.one('file', name))?.version)
            // What is told of a repeated upload is nowhere on record, and the same bytes tell it again.
            const said = upload.format
            const isModel = said === 'onnx' || isOnnx(nameOf(upload), said)
            const table = isModel ? undefined : await read(upload, said, work, skip)
            if (repeated) note(res, repeated)
            else {
              const content = table ? await intake.keep(table, nameOf(upload) || null) : await storeModel(upload)
              note(res, await ledger.execute({ type: 'ReplaceFile', data: { file: name, content } }, origin, execution))
            }
            res.json(told(name, table))
          })
        })
      },
    },
    {
      method: 'delete',
      path: `${path}/:file`,
      summary: 'Delete a file',
      commandHeaders,
      answers: { 200: z.literal('') },
      async handle(req, res) {
        const data = { file: param(req, 'file').toLowerCase() }
        await carryOut(ledger, { type: 'DeleteFile', data }, req, res)
        res.json('')
      },
    },
  ]
}
