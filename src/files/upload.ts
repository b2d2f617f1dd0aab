import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { finished, type Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { badFile, tooLarge } from './tables/bad-rows.js'
import { isOnnx, type UploadFormat } from './formats/formats.js'
import { Problem, wrong, errorText } from '../basics/errors.js'
import { limits } from '../basics/limits.js'

/** A received file: its path, the SHA-256 and number of its bytes, and the other fields of the request. */
export type Upload = {
  file: string
  sha256: string
  bytes: number
  /** The sender's name for the file; only its extension is used, and it may be empty. */
  originalName: string
  /** The format by the content type of a raw body. */
  format?: UploadFormat
  /** The other fields of the form, such as `original_file_name` and `source_type`. */
  fields: ReadonlyMap<string, string>
}

type Target = { handle: FileHandle; maxBytes: number }
type SavedFile = { sha256: string; bytes: number }

const rawBodies: ReadonlyMap<string, UploadFormat> = new Map([
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'csv'],
  ['text/plain', 'text'],
  ['text/markdown', 'text'],
  ['application/x-ndjson', 'json'],
  ['application/jsonl', 'json'],
  ['application/vnd.apache.parquet', 'parquet'],
  ['application/x-onnx', 'onnx'],
])

/** The media types of raw file bodies. */
export const rawTypes: readonly string[] = [...rawBodies.keys()]

const acceptedTypes = ['multipart/form-data', ...rawTypes].join(', ')

const mediaType = (req: IncomingMessage): string => (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** Fails once the sender disconnects before the end. No answer can reach it then, but the started work must end. */
const departure = (req: IncomingMessage, gone: (problem: Problem) => void): void => {
  finished(req, { writable: false }, (error) => {
    if (error) gone(wrong('The connection ended before the file did.'))
  })
}

/** The maximum size of the file. The limit for models is lower than for tables, and is checked while the upload is received. */
const allowed = (target: Target, name: string, said?: UploadFormat): Target =>
  said === 'onnx' || isOnnx(name, said) ? { ...target, maxBytes: Math.min(target.maxBytes, limits.onnxMaxBytes) } : target

/** An error of the file system, which says nothing about the form. */
const isOfTheSystem = (error: unknown): boolean => error instanceof Error && 'syscall' in error

const save = async (chunks: AsyncIterable<unknown>, { handle, maxBytes }: Target): Promise<SavedFile> => {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLarge(`The file is larger than ${maxBytes} bytes.`)
    hash.update(chunk)
    await handle.appendFile(chunk)
  }
  return { sha256: hash.digest('hex'), bytes }
}

const openParser = (req: IncomingMessage) => {
  try {
    return new Busboy({
      headers: { ...req.headers, 'content-type': req.headers['content-type'] ?? '' },
      limits: {
        files: 1,
        fields: limits.formFieldsMax,
        fieldSize: limits.formFieldMaxBytes,
        parts: limits.formFieldsMax + 1,
        headerPairs: 100,
      },
    })
  } catch {
    throw wrong('The multipart body has no boundary in its Content-Type.')
  }
}

type Form = SavedFile & { originalName: string; fields: Map<string, string> }

/** Reads a form with one file. The content type of the file's part is ignored: one client labels it as another form. */
const receiveForm = (req: IncomingMessage, target: Target): Promise<Form> => {
  const parser = openParser(req)
  const fields = new Map<string, string>()
  let part: Readable | undefined
  let saving: Promise<SavedFile> | undefined
  let originalName = ''
  return new Promise<Form>((resolve, reject) => {
    const fail = (problem: unknown) => {
      req.unpipe(parser)
      part?.destroy()
      // The file may only be removed once nothing writes to it.
      void Promise.allSettled([saving]).then(() => reject(problem instanceof Error ? problem : wrong(String(problem))))
    }
    const malformed = (error: unknown) => fail(wrong(`The multipart body is malformed: ${errorText(error)}`))
    departure(req, fail)
    parser.on('error', malformed)
    parser.on('filesLimit', () => fail(wrong('The form has more than one file; send one file a request.')))
    parser.on('fieldsLimit', () => fail(wrong(`The form has more than ${limits.formFieldsMax} fields.`)))
    parser.on('partsLimit', () => fail(wrong(`The form has more than ${limits.formFieldsMax + 1} parts.`)))
    parser.on('field', (name, value, _, truncated) => {
      if (truncated) fail(tooLarge(`The form's field ${JSON.stringify(name)} is longer than ${limits.formFieldMaxBytes} bytes.`))
      fields.set(name, value)
    })
    // The parser's types are wrong here: a part of application/octet-stream is a file also without a filename.
    parser.on('file', (_, stream, filename: string | undefined) => {
      part = stream
      originalName = filename ?? ''
      saving = save(stream, allowed(target, originalName))
      saving.catch((error: unknown) => (error instanceof Problem || isOfTheSystem(error) ? fail(error) : malformed(error)))
    })
    parser.on('finish', () => {
      if (saving === undefined) {
        fail(wrong('The form has no file: send a part named "file" with a filename.'))
        return
      }
      saving.then((saved) => resolve({ ...saved, originalName, fields }), reject)
    })
    req.pipe(parser)
  })
}

const receiveRaw = async (req: IncomingMessage, target: Target): Promise<Form> => {
  let gone: Problem | undefined
  departure(req, (problem) => (gone = problem))
  try {
    // The request stays open after the read, so that a response can still be sent over its connection.
    const saved = await save(req.iterator({ destroyOnReturn: false }), target)
    return { ...saved, originalName: '', fields: new Map() }
  } catch (error) {
    throw gone ?? error
  }
}

const receive = async (req: IncomingMessage, target: Target): Promise<Form & { format?: UploadFormat }> => {
  const type = mediaType(req)
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new Problem('wrong_media_type', 'Wrong media type', `Content-Encoding ${encoding} is not accepted; send the file as it is.`)
  if (type === 'multipart/form-data') return receiveForm(req, target)
  const format = rawBodies.get(type)
  if (format === undefined) throw new Problem('wrong_media_type', 'Wrong media type', `A file is sent as one of ${acceptedTypes}.`)
  return { ...(await receiveRaw(req, allowed(target, '', format))), format }
}

/**
 * Receives a file into a new file in `directory`, which the caller then owns: as the one file of a multipart form, or as a raw body of CSV,
 * JSON lines, Parquet, text or ONNX. The body needs no length; its bytes are counted on arrival. On any failure nothing is left behind, and the
 * rest of the body is drained so that the sender can read the response. Throws a `Problem`: `wrong_arguments`, `wrong_media_type`,
 * `too_large`, `bad_file` for an empty file.
 *
 * @example
 * const { file, sha256, bytes } = await receiveUpload(req, '/data/uploads')
 */
export const receiveUpload = async (req: IncomingMessage, directory: string, maxBytes: number = limits.fileMaxBytes): Promise<Upload> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const file = join(directory, `upload-${randomUUID()}`)
  const handle = await open(file, 'wx', 0o600)
  try {
    const form = await receive(req, { handle, maxBytes })
    if (form.bytes === 0) throw badFile('The file is empty.')
    await handle.close()
    return { file, ...form }
  } catch (error) {
    await handle.close()
    await rm(file, { force: true })
    req.resume()
    throw error
  }
}
