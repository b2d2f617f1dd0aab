import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { z } from 'zod'
import { ConfigError, type Config } from '../config.js'
import { dataPaths, lockDataDirectory } from '../log/data-directory.js'
import { parseStatement } from '../sql/statements/parse.js'
import { quoteText } from '../sql/strings.js'
import type { Output } from './output.js'
import { tableText } from './table-text.js'

const answerSchema = z.union([
  z.looseObject({ type: z.literal('table'), column_names: z.array(z.string()), data: z.array(z.array(z.unknown())) }),
  z.looseObject({ type: z.literal('ok') }),
  z.looseObject({ type: z.literal('error'), error_message: z.string() }),
])

const isFree = (config: Config): boolean => {
  const paths = dataPaths(config.dataDirectory)
  if (!existsSync(paths.lock)) return true
  try {
    lockDataDirectory(paths)()
    return true
  } catch {
    return false
  }
}

/** Where the server of these settings answers: one that listens everywhere is reached on the loopback. */
const addressOf = ({ host, port }: Config): string => {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

type Server = { address: string; config: Config }

const post = async ({ address, config }: Server, path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> => {
  const response = await fetch(address + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new ConfigError(
      `a server holds ${config.dataDirectory}, but none answers at ${address}. Set HOST and PORT to what it was started with.`,
    )
  })
  return response.json().catch(() => {
    throw new ConfigError(`what answers at ${address} is not this service. Set HOST and PORT to what it was started with.`)
  })
}

const login = async (server: Server): Promise<Record<string, string>> => {
  if (!server.config.auth) return {}
  const answer = z.looseObject({ token: z.string() }).safeParse(await post(server, '/api/login', server.config.auth))
  if (!answer.success) throw new ConfigError(`${server.address} refused the login: check AUTH_USERNAME and AUTH_PASSWORD`)
  return { authorization: `Bearer ${answer.data.token}` }
}

/** What is sent with each statement; `as_of` is a position or a time. */
type Context = { db: string; as_of?: string }

type Ask = (statement: string) => Promise<unknown>

const asker = async (server: Server, context: Context): Promise<Ask> => {
  const headers = await login(server)
  return (statement) => post(server, '/api/sql/query', { query: statement, context }, headers)
}

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
  const ask = await asker(server, context)
  const answer = await ask(statement)
  if (!isTraining(statement)) return show(answer, out)
  const { body, failed } = await trained(ask, answer, out)
  return show(body, out) || Number(failed)
}

/**
 * `mindledger sql <statement>`, with `--as-of` as things were at a position or time: sent to the running server; where none holds the data directory, a service of its own
 * answers on a free port of the loopback and ends. A statement that trains a model returns when the training has ended.
 */
export const sql = async (
  config: Config,
  { statement, db, asOf }: { statement: string; db: string | undefined; asOf: string | undefined },
  out: Output,
): Promise<number> => {
  if (statement.trim() === '') throw new ConfigError('sql takes a statement: mindledger sql "SHOW TABLES"')
  const context = { db: db ?? config.defaultProject, ...(asOf !== undefined && { as_of: asOf }) }
  if (!isFree(config)) return run({ address: addressOf(config), config }, statement, context, out)
  const { startService } = await import('../main.js')
  const own = { ...config, host: '127.0.0.1', port: 0 }
  const service = await startService(own, pino({ level: 'silent' }))
  try {
    return await run({ address: service.url, config: own }, statement, context, out)
  } finally {
    await service.close()
  }
}

const problemSchema = z.looseObject({ detail: z.string(), hint: z.string().optional() })

const show = (body: unknown, out: Output): number => {
  const answer = answerSchema.safeParse(body).data
  if (!answer) {
    const problem = problemSchema.safeParse(body).data
    out.line(problem ? [problem.detail, problem.hint].filter((text) => text !== undefined).join('\n') : JSON.stringify(body))
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
