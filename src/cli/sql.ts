import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { ConfigError } from '../config.js'
import { parseStatement } from '../sql/statements/parse.js'
import { quoteText } from '../sql/strings.js'
import type { Output } from './output.js'
import { refusalText, withServer, type Reach, type Server } from './server.js'
import { tableText } from './table-text.js'

const answerSchema = z.union([
  z.looseObject({ type: z.literal('table'), column_names: z.array(z.string()), data: z.array(z.array(z.unknown())) }),
  z.looseObject({ type: z.literal('ok') }),
  z.looseObject({ type: z.literal('error'), error_message: z.string() }),
])

/** What is sent with each statement; `as_of` is a position or a time. */
type Context = { db: string; as_of?: string }

type Ask = (statement: string) => Promise<unknown>

const asker =
  (server: Server, context: Context): Ask =>
  async (statement) =>
    (await server.post('/api/sql/query', { query: statement, context })).body

const isTraining = (statement: string): boolean => {
  try {
    const { kind } = parseStatement(statement)
    return kind === 'create_model' || kind === 'retrain_model'
  } catch {
    return false
  }
}

const trainingSchema = z.object({ name: z.string(), project: z.string(), version: z.number(), status: z.string() })
const pollMs = 200

/** The named cells of an answer's first row. */
const firstRow = (body: unknown): unknown => {
  const answer = answerSchema.safeParse(body).data
  if (answer?.type !== 'table') return undefined
  return Object.fromEntries(answer.column_names.map((name, i) => [name.toLowerCase(), answer.data[0]?.[i]]))
}

/** Waits for a training that was asked for: who sends statements one after the other means the model to be there for the next. */
const trained = async (ask: Ask, requested: unknown, out: Output): Promise<{ body: unknown; failed: boolean }> => {
  const model = trainingSchema.safeParse(firstRow(requested)).data
  if (!model) return { body: requested, failed: false }
  const { name, project, version } = model
  const query =
    'SELECT NAME, PROJECT, VERSION, STATUS, ACCURACY, ERROR, TRAINING_TIME FROM information_schema.models ' +
    `WHERE NAME = ${quoteText(name)} AND PROJECT = ${quoteText(project)} AND VERSION = ${version}`
  for (;;) {
    const body = await ask(query)
    const status = trainingSchema.safeParse(firstRow(body)).data?.status
    if (status !== 'generating' && status !== 'training') return { body, failed: status !== 'complete' }
    out.progress(`${name}: ${status}`)
    await sleep(pollMs)
  }
}

const run = async (server: Server, statement: string, context: Context, out: Output): Promise<number> => {
  const ask = asker(server, context)
  const answer = await ask(statement)
  if (!isTraining(statement)) return show(answer, out)
  const { body, failed } = await trained(ask, answer, out)
  return show(body, out) || Number(failed)
}

/**
 * `mindledger sql <statement>`, with `--as-of` as things were at a position or time: sent to the running server; where none holds
 * the data directory, a service of its own answers on a free port of the loopback and ends. A statement that trains a model returns when the training has ended.
 */
export const sql = async (
  config: Reach,
  { statement, db, asOf, create }: { statement: string; db: string | undefined; asOf: string | undefined; create: boolean },
  out: Output,
): Promise<number> => {
  if (statement.trim() === '') throw new ConfigError('sql takes a statement: mindledger sql "SHOW TABLES"')
  const context = { db: db ?? config.defaultProject, ...(asOf !== undefined && { as_of: asOf }) }
  return withServer(config, (server) => run(server, statement, context, out), { create })
}

const show = (body: unknown, out: Output): number => {
  const answer = answerSchema.safeParse(body).data
  if (!answer) {
    out.line(refusalText(body))
    return 1
  }
  switch (answer.type) {
    case 'table':
      for (const line of tableText(answer.column_names, answer.data)) out.line(line)
      return 0
    case 'ok':
      out.line('ok')
      return 0
    case 'error':
      out.line(answer.error_message)
      return 1
  }
}
