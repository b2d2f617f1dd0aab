import { existsSync } from 'node:fs'
import { pino } from 'pino'
import { z } from 'zod'
import { ConfigError, type Config } from '../config.js'
import { dataPaths, lockDataDirectory } from '../log/data-directory.js'
import { startService } from '../main.js'
import type { Output } from './output.js'

const answerSchema = z.union([
  z.looseObject({ type: z.literal('table'), column_names: z.array(z.string()), data: z.array(z.array(z.unknown())) }),
  z.looseObject({ type: z.literal('ok') }),
  z.looseObject({ type: z.literal('error'), error_message: z.string() }),
])

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const maxCellChars = 60
const cut = (text: string) => (text.length > maxCellChars ? `${text.slice(0, maxCellChars - 1)}…` : text).replace(/\s+/g, ' ')

/** A table as text: `| a | b |` under its names. */
export const tableText = (columns: readonly string[], rows: readonly (readonly unknown[])[]): string[] => {
  const cells = [columns, ...rows.map((row) => row.map(cell))].map((row) => row.map(cut))
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? '').length)))
  const line = (row: readonly string[]) =>
    row
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join(' | ')
      .trimEnd()
  const [head = [], ...body] = cells
  return [line(head), widths.map((width) => '-'.repeat(width)).join('-+-'), ...body.map(line)]
}

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

const login = async (base: string, { auth }: Config): Promise<Record<string, string>> => {
  if (!auth) return {}
  const response = await fetch(`${base}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(auth),
  })
  const { token } = z.looseObject({ token: z.string() }).parse(await response.json())
  return { authorization: `Bearer ${token}` }
}

const send = async (base: string, config: Config, statement: string, db: string): Promise<unknown> => {
  const response = await fetch(`${base}/api/sql/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await login(base, config)) },
    body: JSON.stringify({ query: statement, context: { db } }),
  })
  return response.json()
}

/**
 * `mindledger sql <statement>`: sent to the running server; where none holds the data directory, a service of its own
 * answers on a free port of the loopback and ends.
 */
export const sql = async (
  config: Config,
  { statement, db }: { statement: string; db: string | undefined },
  out: Output,
): Promise<number> => {
  if (statement.trim() === '') throw new ConfigError('sql takes a statement: mindledger sql "SHOW TABLES"')
  const database = db ?? config.defaultProject
  if (!isFree(config)) return show(await send(`http://${config.host}:${config.port}`, config, statement, database), out)
  const own = { ...config, host: '127.0.0.1', port: 0 }
  const service = await startService(own, pino({ level: 'silent' }))
  try {
    return show(await send(service.url, own, statement, database), out)
  } finally {
    await service.close()
  }
}

const show = (body: unknown, out: Output): number => {
  const parsed = answerSchema.safeParse(body)
  const answer = parsed.data
  if (!answer) {
    out.line(JSON.stringify(body))
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
