import * as z from 'zod'
import type { Json } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'

// Arguments that several tools take.

export const database = z
  .string()
  .min(1)
  .optional()
  .describe('The project or database for names without one; by default the default project')

export const project = z.string().min(1).optional().describe('The project; by default the default project')

export const asOf = z
  .union([z.int().min(1), z.string().min(1).max(limits.asOfMaxChars)])
  .describe('A position of the log, or a time (UTC unless it has an offset): answers as things were then')

export const sqlParams = z
  .record(z.string(), z.unknown())
  .transform((values) => values as Readonly<Record<string, Json>>)
  .describe('Values for :name in the statement')

/** The number of items in a page, and the place after which they begin. */
export const paging = {
  limit: z
    .int()
    .min(1)
    .max(limits.mcpMaxRows)
    .optional()
    .describe(`How many to give, ${limits.mcpDefaultRows} by default; at most ${limits.mcpMaxRows}`),
  after: z.int().min(0).optional().describe('Where the page before ended: its next'),
}

/** The place where the next page begins. */
export const next = z.int().nullable().describe('Give it as after for the next page; null at the end')
