import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { pino } from 'pino'
import { SqlProcess } from '../../src/sql-process/sql-process.js'
import { isProblem, type Problem } from '../../src/basics/errors.js'
import { readConfig } from '../../src/setup/config.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { startService } from '../../src/main.js'
import { pathsUnder } from '../support/directories.js'
import { temporaryDirectory } from '../support/service.js'
import { until } from '../support/until.js'
import { large, slow } from './statements/heavy.js'

const mebibyte = 1024 * 1024
const directory = temporaryDirectory()
let sqlProcess: SqlProcess
let log: Database.Database
let before: string[]

const filesNow = () => pathsUnder(directory.path)

beforeAll(async () => {
  const service = await startService(readConfig({ PORT: '0', DATA_DIR: directory.path }), pino({ level: 'silent' }))
  await service.close()
  // The server has the log open, always: the process for SQL may not write beside it, and SQLite reads no log in WAL mode otherwise.
  log = new Database(dataPaths(directory.path).log)
  log.pragma('user_version')
  // Small, so that each statement meets its limit soon. The time holds before a statement begins; each has less for its execution.
  const limits = { timeoutMs: 2_000, cancelGraceMs: 200, memoryMaxBytes: 500 * mebibyte, memorySampleMs: 20 }
  sqlProcess = await SqlProcess.start({ dataDirectory: directory.path, limits })
  await answered('SELECT 1')
  before = filesNow()
})
afterAll(async () => {
  await sqlProcess.stop()
  log.close()
  directory.remove()
})

const ask = async (sql: string, timeoutMs = 600): Promise<string> => {
  const { rows } = await sqlProcess.query({ sql, db: 'mindsdb', defaultProject: 'mindsdb', upTo: 0, timeoutMs }, {})
  let text = ''
  for await (const chunk of rows) if (chunk.length > 0) text = chunk.toString()
  return text
}

const refusal = async (sql: string, timeoutMs?: number): Promise<Problem> => {
  try {
    await ask(sql, timeoutMs)
  } catch (error) {
    if (isProblem(error)) return error
    throw error
  }
  throw new Error('it was answered')
}

const passing: ReadonlySet<string> = new Set(['query_limit', 'analytics_unavailable'])

/** What a statement answers. A process that has just begun, or begins, may need more than the little time that each has here. */
const answered = async (sql: string): Promise<string> => {
  let answer = ''
  await until(async () => {
    try {
      answer = await ask(sql)
      return true
    } catch (error) {
      if (!isProblem(error) || !passing.has(error.code)) throw error
      return false
    }
  })
  return answer
}

const bounded = async (sql: string, timeoutMs?: number) => {
  let problem = await refusal(sql, timeoutMs)
  // A machine that has no time for the process says nothing of the query.
  while (problem.code === 'analytics_unavailable') problem = await refusal(sql, timeoutMs)
  expect(['query_limit', 'query_failed', 'bad_statement']).toContain(problem.code)
  expect(problem.detail).not.toContain(directory.path)
  expect(await answered('SELECT sum(range)::INTEGER FROM range(5)')).toBe('[10]')
}

describe('a query that takes too long ends, and the next one is answered', () => {
  test.each(slow)('%s', async (sql) => {
    // The time of its execution alone: the process may be slow to begin it.
    await bounded(sql, 200)
    expect(sqlProcess.status().ready).toBe(true)
  })
})

describe('a query that takes too much memory ends, and the next one is answered', () => {
  test.each(large)('%s', (sql) => bounded(sql))
})

test('no file is left of them', () => {
  expect(filesNow().filter((name) => !before.includes(name) && name !== 'tables/analytics.duckdb.wal')).toEqual([])
})
