import type { Event } from '@event-driven-io/emmett'
import * as z from 'zod'
import { nothing, resourceName, sha256, text, unreachable, type SchemasOf } from './common.js'
import type { ResourceKind } from './kind.js'

/**
 * The content of a file: the hash of a Parquet blob, and a description of its table. A content without columns is a model: its blob is the
 * uploaded file itself.
 */
export type FileContent = {
  content: string
  bytes: number
  row_count: number
  columns: { name: string; type: string }[]
  original_name: string | null
}

/** An uploaded table, queried as `files.<name>`. */
export type File = { name: string } & FileContent

export type FileEvent = Event<'FileCreated', File> | Event<'FileReplaced', FileContent> | Event<'FileDeleted', Record<string, never>>

const content = {
  content: sha256,
  bytes: z.int().nonnegative(),
  row_count: z.int().nonnegative(),
  columns: z.array(z.strictObject({ name: text, type: text })),
  original_name: text.nullable(),
}

const schemas: SchemasOf<FileEvent> = {
  FileCreated: z.strictObject({ name: resourceName, ...content }).describe('A file was stored; its content is a blob named by its hash.'),
  FileReplaced: z.strictObject(content).describe('A file got other content; the old content stays as history.'),
  FileDeleted: nothing.describe('A file was deleted; its content stays as history until it is erased.'),
}

const evolve = (file: File | undefined, event: FileEvent): File | undefined => {
  switch (event.type) {
    case 'FileCreated':
      return event.data
    case 'FileReplaced':
      return file && { ...file, ...event.data }
    case 'FileDeleted':
      return undefined
    default:
      return unreachable(event)
  }
}

export const fileKind: ResourceKind<File, FileEvent> = {
  plural: 'files',
  inProject: false,
  schemas,
  blobs: { FileCreated: ['content'], FileReplaced: ['content'] },
  evolve,
}
