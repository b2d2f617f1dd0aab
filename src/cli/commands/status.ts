import { existsSync } from 'node:fs'
import * as z from 'zod'
import { recordedAhead } from '../../basics/trusted-clock.js'
import { readRebuilds } from '../../sql-process/contract/rebuilds.js'
import { tablesCheckpoint } from '../../sql-process/tables-checkpoint.js'
import { ConfigError } from '../../setup/config.js'
import { checkDataDirectory, dataPaths, type DataPaths } from '../../setup/data-directory.js'
import { openForReading } from '../../log/storage/schema.js'
import { readTail, type Tail } from '../../log/storage/events.js'
import { diskKinds, diskUse } from '../../observe/disk-use.js'
import type { Output } from '../terminal/output.js'
import { runningServer, type CommandConfig, type Server } from '../access/server.js'

type Lines = [name: string, text: string][]
type StatusReport = { lines: Lines; bytes: Record<string, number>; free: number; ok: boolean }

const part = z.looseObject({ ready: z.boolean(), reason: z.string().optional() })
const readySchema = z.looseObject({
  rest: part,
  sql: part.extend({ position: z.number(), lag: z.number() }),
  log: z.looseObject({
    ...{ position: z.number().nullable(), writable: z.boolean(), reason: z.string().optional() },
    shared: z.looseObject({ state: z.string(), lag: z.looseObject({ batches: z.number(), events: z.number() }) }).optional(),
  }),
  warnings: z.array(z.string()).default([]),
})
const storageSchema = z.looseObject({ bytes: z.record(z.string(), z.number()), free: z.number() })
const rowsSchema = z.looseObject({
  data: z.array(z.tuple([z.string(), z.number(), z.string().nullable(), z.string().nullable()])).optional(),
})

const parsed = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const { data, success } = schema.safeParse(body)
  if (!success) throw new ConfigError('the server answers in another form than this release: use the CLI of its own release')
  return data
}

const unless = (ready: boolean, reason = 'not ready', text = 'ready'): string => (ready ? text : `NOT READY: ${reason}`)
const behind = (lag: number): string => (lag === 0 ? 'at the head of the log' : `${lag} events behind the log`)
const ahead = (events: number): string => `AHEAD: ${events} events are missing in the log, which is an older copy or another one`
const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)
const rebuilt = (count: number, reason: string | null): string =>
  count === 0 ? 'never built anew' : `built anew ${times(count)}, last for: ${reason ?? 'unknown'}`

const query = { query: 'SELECT state, rebuilds, last_rebuild_reason, last_error FROM log.projections LIMIT 1' }

/** The status line of the tables; missing while SQL is unavailable, because the line above says that. */
const tablesLine = async (server: Server): Promise<Lines> => {
  const [row] = parsed(rowsSchema, (await server.post('/api/sql/query', query)).body).data ?? []
  if (!row) return []
  const [state, rebuilds, reason, error] = row
  return [['tables', `${state}, ${rebuilt(rebuilds, reason)}${error === null ? '' : `; last error: ${error}`}`]]
}

const sharedLine = ({ state, lag }: { state: string; lag: { events: number } }): Lines[number] => [
  'shared log',
  `${state.replace('_', ' ')}, ${behind(lag.events)}`,
]

/** The status of a running server. */
const ask = async (server: Server): Promise<StatusReport> => {
  const { rest, sql, log, warnings } = parsed(readySchema, (await server.get('/api/ready')).body)
  const { bytes, free } = parsed(storageSchema, (await server.get('/api/log/storage', true)).body)
  const lines: Lines = [
    ['server', `running at ${server.address}`],
    ['log', `position ${log.position ?? 'unknown'}, ${unless(log.writable, log.reason, 'writable')}`],
    ...(log.shared ? [sharedLine(log.shared)] : []),
    ['REST', unless(rest.ready, rest.reason)],
    ['SQL', `position ${sql.position}, ${behind(sql.lag)}, ${unless(sql.ready, sql.reason)}`],
    ...(sql.ready ? await tablesLine(server) : []),
    ...warnings.map((text): Lines[number] => ['warning', text]),
  ]
  return { lines, bytes, free, ok: rest.ready && sql.ready }
}

const tailOf = (paths: DataPaths): Tail => {
  const db = openForReading(paths.log)
  try {
    return readTail(db)
  } finally {
    db.close()
  }
}

/** The position of the tables, compared with the head of the log. The server refuses tables that know more than the log. */
const tablesAt = async ({ tablesFile }: DataPaths, head: number): Promise<{ tables: string; ok: boolean }> => {
  if (!existsSync(tablesFile)) return { tables: 'none; the next start builds them', ok: true }
  const checkpoint = await tablesCheckpoint(tablesFile).catch(() => undefined)
  if (!checkpoint) return { tables: 'cannot be read; the next start mends them or builds them anew', ok: true }
  const position = Number(checkpoint[0]?.[0])
  const ok = position <= head
  return { tables: `position ${position}, ${ok ? behind(head - position) : ahead(position - head)}`, ok }
}

/** The status of a data directory that no server holds. */
const look = async (paths: DataPaths): Promise<StatusReport> => {
  const { position: head, microseconds } = tailOf(paths)
  const { tables, ok } = await tablesAt(paths, head)
  const recorded = recordedAhead(microseconds / 1_000, Date.now())
  const { count, last } = readRebuilds(paths.rebuilds) ?? { count: 0, last: null }
  const lines: Lines = [
    ['server', 'none'],
    ['log', `position ${head}`],
    ['tables', `${tables}, ${rebuilt(count, last?.reason ?? null)}`],
    ...(recorded === undefined ? [] : [['warning', recorded] satisfies Lines[number]]),
  ]
  return { lines, ...(await diskUse(paths)), ok }
}

const units: [string, number][] = [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]] // prettier-ignore

const readable = (bytes: number): string => {
  const [unit, size] = units.find(([, each]) => bytes >= each) ?? ['B', 1]
  return `${size === 1 ? bytes : (bytes / size).toFixed(1)} ${unit}`
}

/**
 * `mindledger status`: the state of the service or its data directory, and its disk use; exit status 0 only when all is ready.
 *
 * @throws ConfigError when a server holds the directory and does not answer
 */
export const status = async (config: CommandConfig, out: Output): Promise<number> => {
  const paths = config.serverUrl === undefined ? checkDataDirectory(config.dataDirectory) : undefined
  const server = await runningServer(config)
  const { lines, bytes, free, ok } = server ? await ask(server) : await look(dataPaths(config.dataDirectory))
  const total = Object.values(bytes).reduce((sum, one) => sum + one, 0)
  const disk: Lines = [
    ['disk', `${readable(total)}, ${readable(free)} free`],
    ...Object.keys(diskKinds).map((kind): Lines[number] => [`  ${kind}`, readable(bytes[kind] ?? 0)]),
  ]
  const place: Lines = paths ? [['data', paths.root]] : []
  for (const [name, text] of [...place, ...lines, ...disk]) out.line(`${name.padEnd(14)}${text}`)
  return ok ? 0 : 1
}
