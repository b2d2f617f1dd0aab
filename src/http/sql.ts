import type { Request, Response } from 'express'
import { once } from 'node:events'
import { z } from 'zod'
import { jsonObject, type Json } from '../../events/common.js'
import { isProblem, Problem } from '../errors.js'
import { limits } from '../limits.js'
import { errorMessage, type SqlAnswer } from '../sql/answer.js'
import type { SqlEngine } from '../sql/execute.js'
import type { Parameters } from '../sql/statements/statement.js'
import { idempotencyOf, originOf } from './origin.js'
import type { Route } from './route.js'

const json: z.ZodType<Json> = z.json()
const formats = ['jsonlines', 'sse'] as const
type Format = (typeof formats)[number] | undefined

const asOf = z
  .union([z.int().min(1), z.string().min(1).max(limits.asOfMaxChars)])
  .describe('A log position, or a time (UTC unless it names a zone), at which the whole statement reads')

const body = z.looseObject({
  query: z.string(),
  context: z.looseObject({ db: z.string().nullish(), as_of: asOf.nullish() }).nullish(),
  params: z.union([jsonObject, z.array(json)]).nullish(),
  response_format: z.string().nullish(),
})
const context = z.looseObject({ db: z.string(), show_secrets: z.boolean(), as_of: asOf.optional() })
const answers = z.union([
  z.object({ type: z.literal('table'), column_names: z.array(z.string()), data: z.array(z.array(json)), context }),
  z.object({ type: z.literal('ok'), affected_rows: z.int().nullable(), context }),
  z.object({ type: z.literal('error'), error_code: z.literal(0), error_message: z.string(), context }),
])

const refuse = (detail: string): Problem => new Problem('wrong_arguments', 'Wrong arguments', detail)

const readBody = (req: Request): z.infer<typeof body> => {
  if (!req.is('application/json'))
    throw new Problem('wrong_media_type', 'Unsupported media type', 'the body must be JSON', {
      hint: 'Send the header Content-Type: application/json.',
    })
  const parsed = body.safeParse(req.body)
  if (parsed.success) return parsed.data
  const [field, member] = parsed.error.issues[0]?.path ?? []
  if (field === 'context' && member === 'as_of')
    throw refuse('"as_of" in "context" must be a log position, a whole number from 1 on, or a time such as "2026-01-31 12:00:00"')
  if (field === 'context') throw refuse('"context" must be an object, and its "db" a string')
  if (field === 'params') throw refuse('"params" must be an object of JSON values, or a list of them for ?')
  if (field === 'response_format') throw invalidFormat()
  throw refuse('Please provide "query" with the request.')
}

/** A list is for `?`: its values by their place, from 1. */
const paramsOf = (params: z.infer<typeof body>['params']): Parameters | undefined =>
  Array.isArray(params) ? Object.fromEntries(params.map((value, i) => [String(i + 1), value])) : (params ?? undefined)

const invalidFormat = () =>
  new Problem('wrong_arguments', 'Invalid stream format', `"response_format" is one of ${formats.join(', ')}, or null`)

const formatOf = (name: string | null | undefined): Format => {
  if (name === null || name === undefined) return undefined
  const format = formats.find((known) => known === name)
  if (!format) throw invalidFormat()
  return format
}

/** Where a chunk of rows goes: its text before, between and after, and how each line is wrapped. */
type Shape = {
  type: string
  head: (columns: string[]) => string
  rows: (chunk: string, first: boolean) => string
  end: (text: string) => string
  failed: (text: string) => string
}

const lines = (type: string, wrap: (line: string) => string): Shape => ({
  type,
  head: (columns) => wrap(JSON.stringify({ type: 'table', column_names: columns })),
  rows: (chunk) => wrap(`[${chunk}]`),
  end: () => '',
  failed: wrap,
})

const shapes = {
  json: {
    type: 'application/json',
    head: (columns) => `{"type":"table","column_names":${JSON.stringify(columns)},"data":[`,
    rows: (chunk, first) => (first ? chunk : `,${chunk}`),
    end: (text) => `],"context":${text}}`,
    // The head is gone. Of two members with one name readers take the last, so this says "error" to all of them.
    failed: (text) => `],${text.slice(1)}`,
  },
  jsonlines: lines('application/jsonlines', (line) => `${line}\n`),
  sse: lines('text/event-stream', (line) => `data: ${line}\n\n`),
} satisfies Record<string, Shape>

const errorBody = (problem: Problem, answerContext: unknown): string =>
  JSON.stringify({ type: 'error', error_code: 0, error_message: errorMessage(problem), context: answerContext })

const write = async (res: Response, text: string, signal: AbortSignal): Promise<void> => {
  if (text !== '' && !res.write(text)) await once(res, 'drain', { signal })
}

const sendTable = async (
  res: Response,
  answer: Extract<SqlAnswer, { type: 'table' }>,
  shape: Shape,
  signal: AbortSignal,
): Promise<void> => {
  res.status(200).type(shape.type)
  let first = true
  try {
    await write(res, shape.head(answer.columns), signal)
    for await (const chunk of answer.rows) {
      if (chunk === '') continue
      await write(res, shape.rows(chunk, first), signal)
      first = false
    }
    res.end(shape.end(JSON.stringify(answer.context)))
  } catch (error) {
    if (signal.aborted) return
    if (!isProblem(error)) throw error
    res.end(shape.failed(errorBody(error, answer.context)))
  }
}

const send = async (res: Response, answer: SqlAnswer, format: Format, signal: AbortSignal): Promise<void> => {
  const shape: Shape = shapes[format ?? 'json']
  if (answer.type === 'table') {
    await sendTable(res, answer, shape, signal)
    return
  }
  const text =
    answer.type === 'error'
      ? errorBody(answer.problem, answer.context)
      : JSON.stringify({ type: 'ok', affected_rows: answer.affected_rows, context: answer.context })
  res
    .status(200)
    .type(shape.type)
    .send(format === undefined ? text : shape.failed(text))
}

/** SQL over HTTP: every statement answers 200, what failed as `{"type": "error", …}`. */
export const sqlRoutes = (sql: SqlEngine): Route[] => [
  {
    method: 'post',
    path: '/sql/query',
    summary: 'Run one SQL statement',
    body,
    answers: { 200: answers },
    async handle(req, res) {
      const { query, context: sent, params, response_format } = readBody(req)
      const format = formatOf(response_format)
      const gone = new AbortController()
      res.on('close', () => gone.abort())
      try {
        const answer = await sql.execute({
          query,
          db: sent?.db ?? undefined,
          asOf: sent?.as_of ?? undefined,
          params: paramsOf(params),
          origin: originOf(req, res, 'sql'),
          execution: idempotencyOf(req),
          signal: gone.signal,
        })
        if (answer.type !== 'error') res.locals['positions'] = answer.positions
        await send(res, answer, format, gone.signal)
      } catch (error) {
        // That the client went away is said in the request's own line, and is no fault.
        if (error !== gone.signal.reason) throw error
      }
    },
  },
]
