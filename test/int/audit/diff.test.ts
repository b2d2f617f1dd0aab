import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import { streamId } from '../../../events/common.js'
import { payloadsOf } from '../../../events/catalogue/references.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { diff as diffTo } from '../../../src/cli/commands/diff.js'
import { diffTables } from '../../../src/audit/compare-logs.js'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import { readConfig } from '../../../src/setup/config.js'
import { startService, type Service } from '../../../src/main.js'
import type { Log } from '../../../src/log/contract/log.js'
import { mindledger, type Ended } from '../../support/cli.js'
import { commandHere } from '../../support/command-here.js'
import { writes } from '../../support/log/log.js'
import { trainRent } from '../../support/models/rentals.js'
import { send, sql, temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
/** A data directory with something of everything, that tests copy. */
const original = join(place.path, 'original')
const directory = join(place.path, 'data')
const tables = join(directory, 'tables/analytics.duckdb')

const serve = async (of: string): Promise<Service> => {
  const service = await startService(readConfig({ PORT: '0', DATA_DIR: of }), pino({ level: 'silent' }))
  // On a busy machine SQL may start late, and tables cannot be compared before.
  await sql(service.url, 'SELECT 1')
  return service
}
const diff = (args: string[] = []) => mindledger(['diff', ...args], { DATA_DIR: directory })
/** The same command in this process. */
const diffInside = (environment: Record<string, string> = {}) => commandHere(['diff'], { DATA_DIR: directory, ...environment })
/** What the command calls. */
const diffHere = async (rows = 10) => {
  const lines: string[] = []
  const code = await diffTo(readConfig({ DATA_DIR: directory }), { rows }, { line: (line) => lines.push(line), progress: () => undefined })
  return { code, out: lines.join('\n') }
}
const beside = (service: Service) => diffInside({ PORT: new URL(service.url).port })
const equal = /^The tables equal a replay up to position (\d+): \d+ tables, [\d,]+ rows\.\n$/

/** Does to the tables what nobody should. */
const tamper = async (...statements: string[]) => {
  const instance = await DuckDBInstance.create(tables)
  const connection = await instance.connect()
  for (const statement of statements) await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
}

/** Erases the rows of every prediction. */
const erase = async (log: Log) => {
  const events = (await log.readAll(0, 1_000)).map(({ text }) => parseEnvelope(text))
  const served = events.filter(({ type }) => type === 'PredictionsServed')
  const payloads = served.flatMap(({ type, data }) => payloadsOf(type, data)).map((hash) => ({ hash, replacement: null }))
  expect(payloads.length).toBeGreaterThan(0)
  const data = { what: 'before' as const, subject: '2100-01-01', reason: null, payloads, blobs: [] }
  await log.submit(writes({ stream: 'log', event: { type: 'DataErased', data } }))
}

beforeAll(async () => {
  const service = await serve(original)
  const { url } = service
  await trainRent(url)
  await send(url, 'POST', '/api/projects/mindsdb/models/rent/predict', [{ sqft: 500, location: 'good', rooms: 2 }])
  for (const name of ['one', 'two', 'three'])
    await send(url, 'POST', '/api/projects/mindsdb/skills', { skill: { name, type: 'sql', params: { token: `t-${name}` } } })
  await send(url, 'PUT', '/api/projects/mindsdb/skills/one', { skill: { params: { note: 'changed' } } })
  await send(url, 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'helper', model_name: 'm', skills: ['one'] } })
  const connection = streamId.parse(uuidv7())
  const told = {
    purpose: 'query',
    statement: 'SELECT 1',
    rows: 1,
    bytes: 4,
    duration_ms: 2.5,
    outcome: 'complete',
    user: 'ada',
    training: null,
  } as const
  await service.log.submit(
    writes({ stream: `${connection}/queries`, event: { type: 'DatabaseQueried', data: { connection, version: 1, ...told } } }),
  )
  const reranking = { provider: 'openai', model: 'm', host: 'h', input_tokens: 9, output_tokens: 1, duration_ms: 2.5 }
  const searched = { version: 1, purpose: 'search', read_at: 1, embedding: null, reranking, chunks: 1, duration_ms: 3.5 } as const
  const data = { knowledge_base: connection, ...searched, outcome: 'complete', error: null } as const
  await service.log.submit(writes({ stream: `${connection}/searches`, event: { type: 'KnowledgeSearched', data } }))
  await sql(url, 'SELECT count(*) FROM log.events')
  await service.close()
})
beforeEach(() => {
  rmSync(directory, { recursive: true, force: true })
  cpSync(original, directory, { recursive: true })
})
afterAll(() => place.remove())

describe('tables that follow from the log are equal', () => {
  test('without a server, and stay as they are', async () => {
    const hash = () => createHash('sha256').update(readFileSync(tables)).digest('hex')
    const before = hash()
    const { code, out, err } = await diff()
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(equal)
    expect(hash()).toBe(before)
    expect(readdirSync(join(directory, 'tmp')).filter((name) => name.startsWith('diff-'))).toEqual([])
  })

  test('beside a server, at the head of the log, and after an erasure', async () => {
    const service = await serve(directory)
    try {
      await send(service.url, 'DELETE', '/api/projects/mindsdb/agents/helper')
      const first = await beside(service)
      expect(first).toMatchObject({ code: 0, err: '' })
      expect(equal.exec(first.out)?.[1]).toBe(String((await service.head()).position))
      await erase(service.log)
      expect(await beside(service)).toMatchObject({ code: 0, err: '', out: expect.stringMatching(equal) })
      expect((await sql(service.url, 'SELECT DISTINCT readable FROM log.predictions')).data).toEqual([[false]])
      for (const part of ['tmp', 'tmp/tables'])
        expect(readdirSync(join(directory, part)).filter((name) => /^diff-|\.duckdb/.test(name))).toEqual([])
    } finally {
      await service.close()
    }
    expect(await diffInside()).toMatchObject({ code: 0, out: expect.stringMatching(equal) })
  })

  test('one copy at a time, which is a DuckDB file', async () => {
    const service = await serve(directory)
    try {
      const all = await Promise.all([1, 2, 3].map(() => fetch(`${service.url}/api/log/tables`)))
      expect(all.map(({ status }) => status).sort()).toEqual([200, 503, 503])
      for (const answer of all) {
        const bytes = Buffer.from(await answer.arrayBuffer())
        if (answer.ok) expect(bytes.subarray(8, 12).toString()).toBe('DUCK')
        else expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      const again = await fetch(`${service.url}/api/log/tables`)
      expect(again.headers.get('mindledger-position')).toBe(String((await service.head()).position))
      await again.body?.cancel()
    } finally {
      await service.close()
    }
  })
})

describe('what does not follow from the log is found and shown', () => {
  test.each<[string, string, RegExp[]]>([
    [
      'a row that was edited',
      `UPDATE ledger.skills_history SET type = 'forged' WHERE name = 'two'`,
      [
        /^ledger\.skills_history: 4 rows, 4 in the replay; 2 without a counterpart$/m,
        /^  \+ .*"type":"forged"/m,
        /^  - .*"name":"two","type":"sql"/m,
      ],
    ],
    [
      'a name in another case',
      `UPDATE ledger.skills_history SET name = 'TWO' WHERE name = 'two'`,
      [/^  \+ .*"name":"TWO"/m, /^  - .*"name":"two"/m],
    ],
    [
      'a row that was dropped',
      `DELETE FROM ledger.agents_history`,
      [/^ledger\.agents_history: 0 rows, 1 in the replay; 1 without/m, /^  - .*"helper"/m],
    ],
    [
      'a row that was added twice more',
      `INSERT INTO ledger.skills_history SELECT s.* FROM ledger.skills_history AS s, range(2) WHERE name = 'three'`,
      [/6 rows, 4 in the replay; 2 without/, /^  \+ .*"three".* \(2 times\)$/m],
    ],
    ['a NULL that became a text', `UPDATE ledger.events SET request = '' WHERE request IS NULL`, [/^ledger\.events: /m]],
    ['what the model was asked', `UPDATE ledger.predictions SET input = '{"sqft": 501}'`, [/^  \+ .*"sqft": ?501/m, /^  - .*500/m]],
    ['what a database was asked', `UPDATE ledger.database_queries SET rows = 2`, [/^ledger\.database_queries: 1 row, 1 in the replay/m]],
    ['what a search used', `UPDATE ledger.knowledge_searches SET reranking_input_tokens = 2`, [/^ledger\.knowledge_searches: 1 row/m]],
    ['a table too many', 'CREATE TABLE ledger.more (a INTEGER)', [/^ledger\.more is there, and no projection makes it$/m]],
    ['a view too many', 'CREATE VIEW ledger.seen AS SELECT 1 AS a', [/^ledger\.seen is there/m]],
    ['a table that is missing', 'DROP TABLE ledger.job_runs_started', [/^ledger\.job_runs_started is missing$/m]],
    [
      'a column of another type',
      'ALTER TABLE ledger.agents_history ALTER change TYPE BLOB',
      [/^ledger\.agents_history has the columns \(.*change BLOB/m],
    ],
  ])('%s', async (_, statement, findings) => {
    await tamper(statement)
    const { code, out } = await diffHere()
    expect(code).toBe(1)
    for (const finding of findings) expect(out).toMatch(finding)
    expect(out).toMatch(/^THE TABLES DIFFER from a replay up to position \d+/m)
  })

  test('only so many rows as are asked for', async () => {
    await tamper('DELETE FROM ledger.skills_history')
    const { code, out } = await diff(['--rows', '1'])
    expect(code).toBe(1)
    expect(out.match(/^  - /gm)).toHaveLength(1)
    expect(out).toContain('  and 3 more\n')
  })

  test('a checkpoint that the log does not have', async () => {
    await tamper('UPDATE ledger.checkpoint SET position = position + 1000')
    expect(await diffHere()).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^THE TABLES ARE NOT OF THIS LOG: the tables stand at position \d+, and the log ends/),
    })
    await tamper('UPDATE ledger.checkpoint SET position = position - 1001')
    expect(await diffHere()).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^THE TABLES ARE NOT OF THIS LOG: the event at position \d+ is not/),
    })
  })

  test('beside a server too', async () => {
    await tamper(`UPDATE ledger.skills_history SET type = 'forged' WHERE name = 'two'`)
    const service = await serve(directory)
    try {
      expect(await beside(service)).toMatchObject({ code: 1, out: expect.stringMatching(/^ {2}\+ .*"type":"forged"/m) })
    } finally {
      await service.close()
    }
  })
})

describe('what cannot be compared has status 2 and says why', () => {
  const refused = async (message: RegExp, compare: () => Promise<Ended> = diffInside) => {
    const { code, out, err } = await compare()
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(message) })
    expect(err.trim().split('\n')).toHaveLength(1)
  }

  test('tables of another release, damaged ones and none', async () => {
    await tamper(`UPDATE ledger.checkpoint SET fingerprint = 'other'`)
    await refused(/built by another release/)
    rmSync(tables)
    await refused(/there are no tables yet/)
    cpSync(join(directory, 'FORMAT'), tables)
    await refused(/the tables cannot be read/)
  })

  test('a lost key', async () => {
    renameSync(join(directory, 'vault.key'), join(directory, 'lost.key'))
    await refused(/master key/, diff)
  })

  test('tables from before an erasure', async () => {
    for (const suffix of ['', '.wal']) cpSync(tables + suffix, join(place.path, `before.duckdb${suffix}`))
    const service = await serve(directory)
    await erase(service.log)
    await service.close()
    for (const suffix of ['', '.wal']) cpSync(join(place.path, `before.duckdb${suffix}`), tables + suffix)
    await refused(/stand at position \d+, before the erasure at \d+/)
  })

  test('data that is erased while the log is replayed', async () => {
    const live = join(place.path, 'meanwhile.duckdb')
    for (const suffix of ['', '.wal']) cpSync(tables + suffix, live + suffix)
    const service = await serve(directory)
    const reader = openLogReader(directory)
    let erased: Promise<void> | undefined
    const log = {
      ...reader,
      read: async (...page: Parameters<typeof reader.read>) => {
        await (erased ??= erase(service.log))
        return reader.read(...page)
      },
    }
    try {
      const temporary = mkdtempSync(join(place.path, 'diff-'))
      const compared = diffTables({ live, log, temporary, rowsShown: 1, onProgress: () => undefined })
      await expect(compared).rejects.toThrow(/stand at position \d+, before the erasure at \d+/)
    } finally {
      reader.close()
      await service.close()
    }
  })

  test('a projection that has stopped, with and without a server; what there is before it is compared', async () => {
    const service = await serve(directory)
    const model = streamId.parse(uuidv7())
    // Counted by more than a version can have in the tables.
    const data = { model, version: 3_000_000_000, rows: 0, requests: [], payload: null, statement: null, read_at: 1 }
    await service.log.submit(writes({ stream: `${model}/predictions`, event: { type: 'PredictionsServed', data } }))
    const { position } = await service.head()
    const stopped = {
      code: 2,
      out: expect.stringMatching(
        new RegExp(
          `^The tables equal a replay up to position ${position - 1}: .*\\nThey cannot follow the log to its head, position ${position}: The event at position ${position} cannot be projected`,
        ),
      ),
    }
    expect(await beside(service)).toMatchObject(stopped)
    await service.close()
    expect(await diffHere()).toMatchObject({ ...stopped, out: expect.stringMatching(/They cannot follow the log to its head/) })
  })
})
