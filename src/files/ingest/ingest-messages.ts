import * as z from 'zod'
import { fileFormats } from '../formats/formats.js'

/** The message to the ingesting process: local paths, and the caller's options for the file. */
export const ingestJob = z.strictObject({
  source: z.string(),
  originalName: z.string(),
  format: z.enum(fileFormats).optional(),
  onBadRows: z.enum(['refuse', 'skip']),
  workDirectory: z.string(),
  memoryBytes: z.int(),
})
export type IngestJob = z.infer<typeof ingestJob>

const badRow = z.strictObject({ line: z.int(), text: z.string(), reason: z.string() })

/** The result of an ingestion. */
export const ingested = z.strictObject({
  parquetFile: z.string(),
  sha256: z.string(),
  bytes: z.int(),
  rowCount: z.int(),
  columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  skipped: z.strictObject({ count: z.int(), first: z.array(badRow) }),
  warnings: z.array(z.string()),
  renamed: z.array(z.strictObject({ from: z.string(), to: z.string() })),
})
export type IngestedTable = z.infer<typeof ingested>
