import * as z from 'zod'
import { resourceName } from '../../../../events/common.js'
import type { FileContent } from '../../../../events/file.js'
import type { Ledger } from '../../../commands/ledger.js'
import { erasureOfBlob } from '../../../log/read/find-erasure.js'
import { notFound, Problem } from '../../../basics/errors.js'
import { naming, type BlobStore } from '../../../files/blob-store.js'
import type { Intake } from '../../../files/intake.js'
import type { IngestedTable } from '../../../files/ingest/ingest-messages.js'
import { isOnnx, type FileFormat } from '../../../files/formats/formats.js'
import { rawTypes, receiveUpload, type Upload } from '../../../files/upload.js'
import { limits } from '../../../basics/limits.js'
import type { Log, Resource } from '../../../log/contract/log.js'
import { checkExpects } from '../../../log/contract/precondition.js'
import { KeyedTurns } from '../../../basics/concurrency/keyed-turns.js'
import { parse } from '../../protocol/body-schema.js'
import type { Call } from '../../protocol/call.js'
import { carryOut } from '../../protocol/carry-out.js'
import { oneOf } from '../../protocol/parameters.js'
import { entityTag, json } from '../../protocol/reply.js'
import { list, listParameters, resourcesPart } from '../../reads/paged-list.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import { recordTime } from '../../reads/records.js'
import { commandHeaders, route, withoutDryRun, type Route } from '../../protocol/route.js'

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
    warnings: z.array(z.string()).describe('unexpected readings of values, and columns that stayed text'),
    renamed: z.array(z.object({ from: z.string(), to: z.string() })),
    skipped: z.int().describe('rows that did not fit and were left out'),
    first: z.array(z.object({ line: z.int(), text: z.string(), reason: z.string() })).describe('the first of them'),
  })
  .meta({ id: 'UploadedFile' })

const form = z.looseObject({ file: z.file(), original_file_name: z.string().optional().describe('its extension says the format') })
const path = '/files'

const onBadRows = oneOf(
  ['refuse', 'skip'],
  'on_bad_rows is skip or refuse',
  z.enum(['refuse', 'skip']).optional().describe('skip: rows that do not fit are left out and counted'),
)

/** File names are stored in lower case, as statements write them. */
export const fileName = (given: string): string => {
  if (given.includes('.'))
    throw new Problem('wrong_arguments', 'Error', 'File name cannot contain extension.', { hint: 'Leave out everything from the dot on.' })
  return parse(resourceName, given, 'file name').toLowerCase()
}

const nameOf = ({ fields, originalName }: Upload): string => fields.get('original_file_name') ?? originalName

type Services = {
  ledger: Ledger
  log: Log
  reading: ReadRouteFactory
  blobs: BlobStore
  intake: Intake
  /** Called with the number of bytes received. */
  onUploaded?: (bytes: number) => void
}

/** The answer to an upload. */
const told = (name: string, table: IngestedTable | undefined): z.infer<typeof uploaded> =>
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

/** The routes for uploaded files: tables, and ONNX models. Uploads of the same name run one after the other, and the last one stays. */
export const fileRoutes = ({ ledger, log, reading, blobs, intake, onUploaded }: Services): Route[] => {
  // Concurrent uploads of the same name run one after the other, so that the last received one is the final content.
  const turns = new KeyedTurns()
  const read = (upload: Upload, format: FileFormat | undefined, directory: string, skip: boolean): Promise<IngestedTable> =>
    intake.read(
      { source: upload.file, originalName: nameOf(upload), onBadRows: skip ? 'skip' : 'refuse', ...(format && { format }) },
      directory,
    )
  /** Stores a model unchanged; its content is checked when it is imported. */
  const storeModel = async (upload: Upload): Promise<FileContent> => {
    if (upload.bytes > limits.onnxMaxBytes)
      throw new Problem('too_large', 'Too large', `The ONNX file has ${upload.bytes} bytes, the limit is ${limits.onnxMaxBytes}.`)
    return { content: await blobs.put(upload.file), bytes: upload.bytes, row_count: 0, columns: [], original_name: nameOf(upload) || null }
  }
  /** Makes an upload the content of a file, unless it is a retry; returns the file's table, if it has one. */
  const replace = async (
    file: string,
    { upload, work, skip }: { upload: Upload; work: string; skip: boolean },
    call: Call,
  ): Promise<IngestedTable | undefined> => {
    const origin = call.origin()
    const { sha256, fields, originalName, format } = upload
    const execution = call.execution({ sha256, fields: [...fields], originalName, format: format ?? null, skip })
    const repeated = await ledger.repeated(origin, execution)
    // The command checks the headers again; this earlier check saves work.
    if (!repeated && execution.expects) checkExpects(execution.expects, (await log.resources.one('file', file))?.version)
    // The answer to an upload is not stored; for a retry it is computed again from the same bytes.
    const isModel = format === 'onnx' || isOnnx(nameOf(upload), format)
    const table = isModel ? undefined : await read(upload, format, work, skip)
    if (repeated) call.note(repeated)
    else {
      const guarded = await ledger.guarded(origin)
      const content = table ? await intake.keep(table, nameOf(upload) || null) : await storeModel(upload)
      const command = { type: 'ReplaceFile', data: { file, content } } as const
      call.note(await naming(blobs, [content.content], () => ledger.execute(command, guarded, execution)))
    }
    return table
  }
  return [
    reading({
      path,
      summary: 'List the files',
      query: listParameters,
      answers: { 200: z.array(listed) },
      async handle(input, { resources }) {
        const read = (after: number, limit: number) => resources.page('file', undefined, after, limit)
        const show = ({ state: { name, row_count, columns } }: Resource<'file'>) => [
          { name, row_count, columns: columns.map((one) => one.name) },
        ]
        return list(input, [resourcesPart(read, show)])
      },
    }),
    reading({
      path: `${path}/:file`,
      summary: 'Get a file: its columns, rows, and the hash of its content',
      answers: { 200: detail },
      async handle({ segments }, { resources }) {
        const ref = segments.file.toLowerCase()
        const file = await resources.one('file', ref)
        if (!file) throw notFound('file', ref)
        const { name, row_count, columns, bytes, content, original_name } = file.state
        const erased = (await blobs.has(content)) ? undefined : await erasureOfBlob(log, content, file.updated_at)
        const created_at = recordTime(file.created_at)
        const record = { name, row_count, columns, bytes, content, original_name, created_at, ...(erased && { erased }) }
        return json(record, { headers: entityTag(file) })
      },
    }),
    route({
      method: 'put',
      path: `${path}/:file`,
      summary:
        'Upload a table (CSV, JSON, JSON lines or Parquet), a text (.txt, .md) as one row, or an ONNX model, in a form, or all but JSON as the body itself; a file of that name gets a new content',
      commandHeaders: withoutDryRun,
      takes: { 'multipart/form-data': form, ...Object.fromEntries(rawTypes.map((type) => [type, null])) },
      query: { on_bad_rows: onBadRows },
      answers: { 200: uploaded },
      handle: ({ segments: { file }, query, call }) =>
        intake.inDirectory(call.client, async (work) => {
          const upload = await receiveUpload(call.incoming, work)
          onUploaded?.(upload.bytes)
          const name = fileName(file)
          const table = await turns.take(name, () => replace(name, { upload, work, skip: query.on_bad_rows === 'skip' }, call))
          return json(told(name, table))
        }),
    }),
    route({
      method: 'delete',
      path: `${path}/:file`,
      summary: 'Delete a file',
      commandHeaders,
      answers: { 200: z.literal('') },
      async handle({ segments: { file }, call }) {
        await carryOut(ledger, { type: 'DeleteFile', data: { file: file.toLowerCase() } }, call)
        return json('')
      },
    }),
  ]
}
