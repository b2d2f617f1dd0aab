import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { ProjectionError, ForeignTablesError } from '../../../projections/problem.js'
import { Replay, replay, replayLimits } from '../../../projections/replay.js'
import { MemoryLog, streamOf } from '../../support/log/memory-log.js'
import { dump, rowsOf, type Row } from '../../support/log/states.js'

const skill = (n: number, name = `skill ${n}`) => ({
  stream: streamOf(n),
  type: 'SkillCreated',
  data: { project: streamOf(1), name, type: 'sql', params: { n } },
})

const served = (rows: number, payload: string | null, requests = [{ request: 'a', rows }]) => ({
  stream: `${streamOf(7)}/predictions`,
  type: 'PredictionsServed',
  data: { model: streamOf(7), version: 2, rows, requests, payload, statement: null, read_at: 0 },
})

const kept = (count: number) =>
  Buffer.from(
    JSON.stringify(Array.from({ length: count }, (_, row) => ({ request: 'a', row, input: { x: row }, output: { value: row * 2 } }))),
  )

const query = async (database: DuckDBInstance, sql: string): Promise<Row[]> => {
  const connection = await database.connect()
  const rows = await rowsOf(connection, sql)
  connection.closeSync()
  return rows
}

const replayed = async (log: MemoryLog): Promise<DuckDBInstance> => {
  const database = await DuckDBInstance.create(':memory:')
  await replay({ events: log, payloads: log, database })
  return database
}

const failure = async (log: MemoryLog, database: DuckDBInstance): Promise<ProjectionError> => {
  const error: unknown = await replay({ events: log, payloads: log, database }).catch((e: unknown) => e)
  if (!(error instanceof ProjectionError)) throw new Error(`expected a ProjectionError, got ${String(error)}`)
  return error
}

test('what the disk of the log has not confirmed is in no table', async () => {
  const log = new MemoryLog()
  log.append(skill(1))
  const database = await DuckDBInstance.create(':memory:')
  const seen: number[] = []
  const confirm = async () => {
    seen.push((await query(database, 'SELECT count(*)::INTEGER AS n FROM ledger.events'))[0]?.['n'] as number)
    if (seen.length === 2) throw new Error('EIO: i/o error, fdatasync')
  }
  const events = { head: () => log.head(), read: log.read.bind(log), confirm }
  const tables = await Replay.open({ events, payloads: log, database })
  await tables.catchUp()
  log.append(skill(2))
  await expect(tables.catchUp()).rejects.toThrow('EIO')
  expect([seen, tables.position]).toEqual([[0, 1], 1])
  tables.close()
})

describe('predictions', () => {
  const hash = (n: number) => String(n).padStart(64, '0')

  test('kept rows are rows, with the request of each', async () => {
    const log = new MemoryLog()
    log.payloads.set(hash(1), kept(2))
    log.append(served(2, hash(1)))
    const database = await replayed(log)
    expect(
      await query(database, 'SELECT position, model, version, request, row, input, output, readable FROM ledger.predictions ORDER BY row'),
    ).toEqual([
      { position: 1, model: streamOf(7), version: 2, request: 'a', row: 0, input: { x: 0 }, output: { value: 0 }, readable: true },
      { position: 1, model: streamOf(7), version: 2, request: 'a', row: 1, input: { x: 1 }, output: { value: 2 }, readable: true },
    ])
  })

  test.each([
    ['gone', undefined],
    ['not JSON', Buffer.from('{"secret')],
    ['no array', Buffer.from('{"a":1}')],
    ['of another count', kept(2)],
    ['not Unicode', Buffer.from('["\\ud800",1,2]')],
  ])('a payload that is %s gives as many unreadable rows as the event counted', async (_, body) => {
    const log = new MemoryLog()
    if (body) log.payloads.set(hash(1), body)
    const requests = [
      { request: 'a', rows: 1 },
      { request: 'b', rows: 2 },
    ]
    log.append(served(3, hash(1), requests), served(2, hash(2), []))
    const database = await replayed(log)
    expect(await query(database, 'SELECT position, request, row, input, output, readable FROM ledger.predictions ORDER BY ALL')).toEqual([
      { position: 1, request: 'a', row: 0, input: null, output: null, readable: false },
      { position: 1, request: 'b', row: 0, input: null, output: null, readable: false },
      { position: 1, request: 'b', row: 1, input: null, output: null, readable: false },
      { position: 2, request: null, row: null, input: null, output: null, readable: false },
      { position: 2, request: null, row: null, input: null, output: null, readable: false },
    ])
  })

  test('a receipt without payload has no rows', async () => {
    const log = new MemoryLog()
    log.append(served(1_000_000, null))
    const database = await replayed(log)
    expect(await query(database, 'SELECT rows, version FROM ledger.prediction_receipts')).toEqual([{ rows: 1_000_000, version: 2 }])
    expect(await query(database, 'SELECT * FROM ledger.predictions')).toEqual([])
  })
})

test('an event of an older schema version is projected in the shape of today', async () => {
  const log = new MemoryLog()
  const data = { project: streamOf(1), name: 'bot', agent: null, model_name: 'm', database: streamOf(2), params: {} }
  log.append({ stream: streamOf(3), type: 'ChatbotCreated', schema: 1, data })
  const database = await replayed(log)
  expect(await query(database, 'SELECT name, is_running FROM ledger.chatbots_history')).toEqual([{ name: 'bot', is_running: false }])
  expect(await query(database, 'SELECT schema, data FROM ledger.events')).toEqual([{ schema: 2, data: { ...data, is_running: false } }])
})

describe('an event that does not fit is named by its position, without its data, and those before it stay', () => {
  const many = () => {
    const log = new MemoryLog()
    for (let n = 1; n <= 50; n++) log.append(skill(n, `secret name ${n}`))
    return log
  }

  test.each<[string, (text: string) => string]>([
    ['is not an event', () => 'secret'],
    ['is of another position', (text) => text.replace('"position":37', '"position":38')],
    ['is of an unknown type', (text) => text.replace('SkillCreated', 'SkillSecretly')],
    ['is of a newer schema', (text) => text.replace('"schema":1', '"schema":9')],
    ['is cut', (text) => text.slice(0, -4)],
    ['has no time', (text) => text.replace(/"recorded_at":"[^"]*"/, '"recorded_at":"secret"')],
  ])('a text that %s', async (_, spoil) => {
    const log = many()
    log.texts[36] = spoil(log.texts[36]!)
    const database = await DuckDBInstance.create(':memory:')
    const error = await failure(log, database)
    expect(error.position).toBe(37)
    expect(error.message).not.toMatch(/secret name/i)
    expect(await query(database, 'SELECT position FROM ledger.checkpoint')).toEqual([{ position: 36 }])
    expect(await query(database, 'SELECT count(*) AS n FROM ledger.skills_history')).toEqual([{ n: 36 }])
  })

  test('a gap', async () => {
    const log = many()
    const read = log.read.bind(log)
    log.read = (after, limit) => read(after, limit).filter(({ position }) => position !== 12)
    const error = await failure(log, await DuckDBInstance.create(':memory:'))
    expect(error.message).toBe('The event at position 12 cannot be projected: it is missing.')
  })
})

describe('tables that others built are not continued', () => {
  test('from another log', async () => {
    const [log, other] = [new MemoryLog(), new MemoryLog()]
    log.append(skill(1), skill(2))
    other.append(skill(1), skill(3), skill(4))
    const database = await replayed(log)
    await expect(replay({ events: other, payloads: other, database })).rejects.toThrow(ForeignTablesError)
  })

  test('by another release', async () => {
    const log = new MemoryLog()
    const database = await replayed(log)
    const connection = await database.connect()
    await connection.run(`UPDATE ledger.checkpoint SET fingerprint = 'older'`)
    await expect(Replay.open({ events: log, payloads: log, database })).rejects.toThrow('another release')
  })
})

test('the log is read from SQLite, names are compared without case, and a later start goes on where the tables stand', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'replay-'))
  const sqlite = new Database(join(directory, 'log.sqlite'))
  sqlite.exec('CREATE TABLE events (position INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  const log = new MemoryLog()
  for (let n = 1; n <= 2_500; n++) log.append(skill(n, `Skill ${n}`))
  const insert = sqlite.prepare('INSERT INTO events VALUES (?, ?)')
  sqlite.transaction(() => log.texts.forEach((text, i) => insert.run(i + 1, text)))()
  const page = sqlite.prepare<[number, number], { position: number; text: string }>(
    'SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?',
  )
  const events = {
    head: () => sqlite.prepare<[], { head: number }>('SELECT max(position) AS head FROM events').get()?.head ?? 0,
    read: (after: number, limit: number) => page.all(after, limit),
  }
  const path = join(directory, 'tables.duckdb')
  const first = await DuckDBInstance.create(path)
  expect(await replay({ events, payloads: log, database: first, until: 1_234 })).toBe(1_234)
  first.closeSync()
  const second = await DuckDBInstance.create(path)
  const reached: number[] = []
  const tables = await Replay.open({ events, payloads: log, database: second }, { ...replayLimits, batchMaxEvents: 1_000 })
  expect(await tables.catchUp(undefined, (position) => reached.push(position))).toBe(2_500)
  tables.close()
  expect(reached).toEqual([2_234, 2_500])
  expect(await query(second, `SELECT id FROM ledger.skills_history WHERE name = 'sKILL 77'`)).toEqual([{ id: 77 }])
  expect(await dump(second)).toEqual(await dump(await replayed(log)))
  second.closeSync()
  sqlite.close()
  rmSync(directory, { recursive: true })
})

test('a batch ends with the event that fills it, however many a page may have: few large ones must not take all memory', async () => {
  const log = new MemoryLog()
  const large = 'x'.repeat(1_000)
  for (let n = 2; n < 22; n++) log.append({ ...skill(n), data: { ...skill(n).data, params: { large } } })
  for (let n = 0; n < 10; n++) {
    const hash = n.toString(16).padStart(64, '0')
    log.payloads.set(hash, kept(40))
    log.append(served(40, hash))
  }
  const asked: (number | undefined)[] = []
  const events = {
    head: () => log.head(),
    read: (after: number, limit: number, maxChars?: number) => {
      asked.push(maxChars)
      return log.read(after, limit)
    },
  }
  const database = await DuckDBInstance.create()
  const reached: number[] = []
  const batchMaxBytes = 3_000
  const tables = await Replay.open({ events, payloads: log, database }, { ...replayLimits, batchMaxBytes })
  await tables.catchUp(undefined, (position) => reached.push(position))
  tables.close()
  expect(reached.slice(0, 3)).toEqual([3, 6, 9])
  expect(reached.length).toBeGreaterThanOrEqual(14)
  expect(Math.max(...asked.map((maxChars) => maxChars ?? Infinity))).toBe(batchMaxBytes)
  expect(await dump(database)).toEqual(await dump(await replayed(log)))
  database.closeSync()
})
