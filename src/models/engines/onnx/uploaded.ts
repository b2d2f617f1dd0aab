import type { JsonObject } from '../../../../events/common.js'
import { notFound, Problem } from '../../../basics/errors.js'
import type { BlobStore, FileOf } from '../../../files/blob-store.js'
import { isTable } from '../../../files/formats/formats.js'
import type { Resources } from '../../../log/contract/log.js'
import { readOnnxOptions, type OnnxOptions } from '../../../catalogue/onnx-options.js'

/** An uploaded file to import as a model: its path, its hash, and the options. */
export type UploadedModel = { file: string; content: string; options: OnnxOptions }

/**
 * The file that an import's options name.
 *
 * @throws Problem not_found when there is no such file or its content is gone, bad_file when it is a table
 * @example (await uploadedModel(log.resources, { blobs, fileOf }, { file: 'rent' })).file // '/data/blobs/c0ffee…'
 */
export const uploadedModel = async (
  resources: Pick<Resources, 'one'>,
  { blobs, fileOf }: { blobs: Pick<BlobStore, 'has'>; fileOf: FileOf },
  using: JsonObject,
): Promise<UploadedModel> => {
  const options = readOnnxOptions(using)
  const found = await resources.one('file', options.file)
  if (!found) throw notFound('file', options.file)
  const { name, columns, content } = found.state
  if (isTable({ columns }))
    throw new Problem('bad_file', 'Not an ONNX model', `files.${name} is a table, not an ONNX model`, {
      hint: 'Upload the .onnx file under another name: PUT /api/files/<name>, as a form with a part named "file".',
    })
  if (!(await blobs.has(content)))
    throw new Problem('not_found', 'File not found', `The content of files.${name} is no longer kept`, { hint: 'Upload it again.' })
  return { file: await fileOf(content), content, options }
}
