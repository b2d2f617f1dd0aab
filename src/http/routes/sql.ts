/** Room: the other routes, a file for each subject. It imports any room above it. */

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { jsonObject, type Json } from '../../../events/common.js'
import { limitOf, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { SqlEngine } from '../../sql/facade/execute.js'
import type { Parameters } from '../../sql/statements/statement.js'
import type { SqlAnswer } from '../../sql/contract/answer.js'
import { notJson, type Body } from '../protocol/body-schema.js'
import type { Call } from '../protocol/call.js'
import { dryRunApplied } from '../protocol/request-headers.js'
import type { Reply } from '../protocol/reply.js'
import { commandHeaders, route, type Route } from '../protocol/route.js'
import { formats, otherTypes, parquetReply, parquetType, replyOf, type Format } from '../reads/sql-answers.js'

const json: z.ZodType<Json> = z.json()

const asOf = z
  .union([z.int().min(1), z.string().min(1).max(limits.asOfMaxChars)])
  .describe('A log position, or a time (UTC unless it names a zone), at which the whole statement reads')

const dryRun = z.boolean().describe('Shows the events that a statement which writes would record, and writes nothing; not sent back')

const readOnly = z.boolean().describe('Refuses a statement that writes, also one in the language of a connected database; not sent back')

const nativeQuery = z.boolean().describe('Sends the text as it is to the connected database "db", like SELECT * FROM db (…); not sent back')

/** A list of JSON values. The body is parsed JSON already, so only the number of values is checked. */
const positional = z
  .custom<Json[]>((value) => Array.isArray(value) && value.length <= limits.statementMaxParams)
  .meta({ type: 'array', items: {} })

const fields = z.looseObject({
  // SQL's parser refuses an empty statement, with its own message.
  query: z.string().meta({ minLength: 1 }),
  context: z
    .looseObject({
      db: z.string().nullish(),
      as_of: asOf.nullish(),
      dry_run: dryRun.nullish(),
      read_only: readOnly.nullish(),
      native_query: nativeQuery.nullish(),
    })
    .nullish(),
  params: z.union([jsonObject, positional]).nullish(),
  response_format: z.enum(formats).nullish(),
})
const context = z.looseObject({ db: z.string(), show_secrets: z.boolean(), as_of: asOf.optional() })
const noColumns = z.array(z.string()).max(0).describe('Empty: only a table has columns')
const answers = z.union([
  z.object({
    type: z.literal('table'),
    column_names: z.array(z.string()),
    column_types: z.array(z.string()),
    data: z.array(z.array(json)),
    context,
  }),
  z.object({ type: z.literal('ok'), column_names: noColumns, affected_rows: z.int().nullable(), context }),
  z
    .object({
      type: z.literal('error'),
      column_names: z.array(z.string()).describe('Empty, unless rows were sent before the error'),
      column_types: z.array(z.string()).optional(),
      data: z.array(z.array(json)).optional().describe('The rows that were sent before the error'),
      error_code: z.literal(0),
      error_message: z.string(),
      context,
    })
    .describe(
      'If the rows fail after their first 256 KB, the answer begins as a table: "column_names", "column_types" and "data" come before "type"',
    ),
])

const refuse = (detail: string): Problem => new Problem('wrong_arguments', 'Wrong arguments', detail)

/** The schema of one member of a context. */
const unfitContext: ReadonlyMap<unknown, string> = new Map([
  ['as_of', '"as_of" in "context" must be a log position, a whole number from 1 on, or a time such as "2026-01-31 12:00:00"'],
  ['dry_run', '"dry_run" in "context" must be true or false'],
  ['read_only', '"read_only" in "context" must be true or false'],
  ['native_query', '"native_query" in "context" must be true or false'],
])

const body: Body<z.infer<typeof fields>> = {
  schema: fields,
  read: ({ json: sent }) => {
    if (sent === undefined) throw notJson()
    const parsed = fields.safeParse(sent)
    if (parsed.success) return parsed.data
    const [field, member] = parsed.error.issues[0]?.path ?? []
    if (field === 'context') throw refuse(unfitContext.get(member) ?? '"context" must be an object, and its "db" a string')
    if (field === 'params')
      throw refuse(`"params" must be an object of JSON values, or a list of them for ?, at most ${limits.statementMaxParams}`)
    if (field === 'response_format') throw invalidFormat()
    throw refuse('Please provide "query" with the request.')
  },
}

/** A list has the values for `?`, by their place from 1. */
const paramsOf = (params: z.infer<typeof fields>['params']): Parameters | undefined =>
  Array.isArray(params) ? Object.fromEntries(params.map((value, i) => [String(i + 1), value])) : (params ?? undefined)

const invalidFormat = () =>
  new Problem('wrong_arguments', 'Invalid stream format', `"response_format" is one of ${formats.join(', ')}, or null`)

const accepted: Readonly<Record<string, Format>> = { 'text/csv': 'csv', [parquetType]: 'parquet' }

/** The format in the body; otherwise CSV or Parquet for a client that prefers it, and JSON for all others. */
const formatOf = (call: Call, named: Format | null | undefined): Format =>
  named ?? accepted[call.accepts(['json', ...Object.keys(accepted)]) || 'json'] ?? 'json'

/**
 * Replies to reads and refusals are not kept: a retry reads again, and may succeed. A read whose predictions were recorded is kept, and one
 * that may have changed something in a connected database, but not as a file, which is no text.
 */
const keepOf = (answer: SqlAnswer): Pick<Reply, 'keep'> => {
  if (answer.type === 'error') return { keep: 'never' }
  if (answer.type === 'ok') return {}
  const hasEffect = answer.positions.length > 0 || answer.changes === true
  return { keep: hasEffect && answer.file === undefined ? 'rows' : 'never' }
}

/**
 * SQL over HTTP: every statement is answered with 200, errors as `{"type": "error", …}`.
 *
 * @param directory the directory where Parquet answers are written before they are sent
 */
export const sqlRoutes = (sql: SqlEngine, directory: string): Route[] => [
  route({
    method: 'post',
    path: '/sql/query',
    summary: 'Run one SQL statement',
    commandHeaders,
    body,
    bodySize: 'rows',
    answers: { 200: answers },
    gives: otherTypes,
    async handle({ body, call }) {
      const { query, context: sent, params, response_format } = body
      if (sent?.native_query === true && !sent.db) throw refuse('"native_query" in "context" needs "db", the name of a connected database')
      const format = formatOf(call, response_format)
      const execution = { ...call.execution(), ...(sent?.dry_run === true && { dryRun: true }) }
      const into = format === 'parquet' ? join(directory, `${randomUUID()}.parquet`) : undefined
      try {
        const answer = await sql.execute({
          query,
          db: sent?.db ?? undefined,
          isNative: sent?.native_query === true,
          asOf: sent?.as_of ?? undefined,
          params: paramsOf(params),
          format: format === 'csv' ? 'csv' : 'json',
          into,
          ...(sent?.read_only === true && { readsOnly: true }),
          origin: call.origin('sql'),
          client: call.client,
          execution,
          signal: call.gone,
        })
        if (answer.type === 'error') call.limitHit = limitOf(answer.problem)
        else call.positions = answer.positions
        const reply =
          answer.type === 'table' && answer.file !== undefined
            ? await parquetReply(answer.file, answer.rows)
            : replyOf(answer, format, call.gone)
        const headers = { ...reply.headers, ...(execution.dryRun && answer.type !== 'error' && dryRunApplied) }
        return { ...reply, ...keepOf(answer), headers }
      } finally {
        // If the client left or something failed, the unsent file is removed.
        if (into !== undefined) await rm(into, { force: true })
      }
    },
  }),
]
