import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals'
import { MissingKeyError, OtherRowsError } from '../../../projections/problem.js'
import { Replay } from '../../../projections/replay.js'
import { Bench, skill } from '../../support/sql-process/bench.js'
import { serveReady } from '../../support/observe/ready.js'
import { until } from '../../support/until.js'
import { MemoryLog, streamOf } from '../../support/log/memory-log.js'
import { rowsOf } from '../../support/log/states.js'

/** More than one row group of DuckDB's: rows beyond 122,880 are moved into a table, and not appended to it. */
const manyRows = 130_000

const hash = (n: number) => String(n).padStart(64, '0')

const predictions = (rows: number, payload: string) => ({
  stream: `${streamOf(7)}/predictions`,
  type: 'PredictionsServed',
  data: { model: streamOf(7), version: 1, rows, requests: [{ request: 'a', rows }], payload, statement: null, read_at: 0 },
})

const outcomes = (rows: number, payload: string) => ({
  stream: `${streamOf(7)}/predictions`,
  type: 'OutcomesReported',
  data: { model: streamOf(7), rows, predictions: [{ position: 1, version: 1, request: 'a', rows: [...Array(rows).keys()] }], payload },
})

const erasure = (payload: string) => ({
  stream: 'erasures',
  type: 'DataErased',
  data: { what: 'prediction', subject: 'a', reason: null, payloads: [{ hash: payload, replacement: null }], blobs: [] },
})

const keep = (log: MemoryLog, payload: string, rows: number, rowOf: (row: number) => string) =>
  log.payloads.set(payload, Buffer.from(`[${Array.from({ length: rows }, (_, row) => rowOf(row)).join(',')}]`))

const predict = (log: MemoryLog, rows: number, payload: string) => {
  keep(log, payload, rows, (row) => `{"request":"a","row":${row},"input":{},"output":{}}`)
  return predictions(rows, payload)
}

const report = (log: MemoryLog, rows: number, payload: string) => {
  keep(log, payload, rows, (row) => `{"position":1,"request":"a","row":${row},"truth":1,"probability":null}`)
  return outcomes(rows, payload)
}

describe('rows that were added to a table in a file are shown', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rows-'))
  let tables: Replay | undefined
  afterEach(() => tables?.close())
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const open = async (log: MemoryLog, name: string) => {
    const database = await DuckDBInstance.create(join(directory, name))
    tables = await Replay.open({ events: log, payloads: log, database })
    const shown = async (what: string) => {
      const connection = await database.connect()
      const rows = await rowsOf(connection, `SELECT count(*) AS n FROM ${what}`)
      connection.closeSync()
      return rows[0]?.['n']
    }
    return { tables, shown }
  }

  test('once, also when the check after the commit fails', async () => {
    const log = new MemoryLog()
    for (let n = 1; n <= 4; n++) log.append(skill(n))
    const { tables, shown } = await open(log, 'check.duckdb')
    const prepare = jest.spyOn(DuckDBConnection.prototype, 'prepare').mockRejectedValueOnce(new Error('Binder Error: no check'))
    await expect(tables.catchUp()).rejects.toThrow('no check')
    prepare.mockRestore()
    expect([tables.position, await tables.catchUp()]).toEqual([4, 4])
    await tables.check()
    expect([await shown('ledger.events'), await shown('ledger.skills_history')]).toEqual([4, 4])
  })

  test('up to an event whose payload has a key that is still to come, and the rest with the key', async () => {
    const log = new MemoryLog()
    for (const payload of [hash(1), hash(2), hash(3)]) log.append(predict(log, 10, payload))
    const { tables, shown } = await open(log, 'keys.duckdb')
    const read = log.payload.bind(log)
    log.payload = (named) => {
      if (named === hash(2)) throw new MissingKeyError('next')
      return read(named)
    }
    await expect(tables.catchUp()).rejects.toThrow(MissingKeyError)
    expect([tables.position, await shown('ledger.predictions')]).toEqual([1, 10])
    log.payload = read
    expect(await tables.catchUp()).toBe(3)
    expect(await shown('ledger.predictions')).toBe(30)
  })

  test('after a batch that filled more than a row group, and by the batches after it', async () => {
    const log = new MemoryLog()
    log.append(predict(log, manyRows, hash(1)))
    const { tables, shown } = await open(log, 'batches.duckdb')
    await tables.catchUp()
    for (const payload of [hash(2), hash(3)]) {
      log.append(predict(log, 10, payload))
      await tables.catchUp()
    }
    expect(await shown('ledger.predictions')).toBe(manyRows + 20)
    expect(await shown('ledger.predictions WHERE position > 1')).toBe(20)
  })

  test('when an erasure that takes no rows away came in the same catch-up', async () => {
    const log = new MemoryLog()
    log.append(report(log, manyRows, hash(1)), erasure(hash(9)), report(log, 10, hash(2)))
    const { tables, shown } = await open(log, 'erasure.duckdb')
    await tables.catchUp()
    log.append(report(log, 10, hash(3)))
    await tables.catchUp()
    expect(await shown('ledger.outcomes')).toBe(manyRows + 20)
  })
})

/** What DuckDB does to a table when the second INSERT of a transaction adds nothing, with no row more in the end. */
const hideWhatComes = [
  `BEGIN`,
  `CREATE TEMP TABLE more AS SELECT s.* FROM ledger.skills_history AS s, range(${manyRows})`,
  `INSERT INTO ledger.skills_history SELECT * FROM more`,
  `INSERT INTO ledger.skills_history SELECT * FROM more WHERE id % 7 = 8`,
  `COMMIT`,
  `DELETE FROM ledger.skills_history WHERE rowid > 0`,
]

describe('a process whose tables do not show what was added to them is replaced, says so, and the next one shows it', () => {
  let bench: Bench
  afterEach(() => bench.close())
  const shown = () => bench.ask('SELECT count(*)::INTEGER FROM ledger.skills_history WHERE id > 0')
  /** The answer of `GET /ready`. */
  const ready = async () => {
    const serving = await serveReady(bench)
    try {
      return await serving.ready()
    } finally {
      await serving.stop()
    }
  }

  test('when DuckDB hides the rows of a batch: they are in its file', async () => {
    bench = await Bench.open({ checkIntervalMs: 60_000 })
    bench.log.append(skill(1))
    expect(await shown()).toEqual([[1]])
    await bench.ask(hideWhatComes.join(';'))
    expect(await shown()).toEqual([[1]])
    bench.log.append(skill(2))
    expect(await shown()).toEqual([[2]])
    const { losses, rebuilds, lastError } = bench.sqlProcess.status()
    expect({ losses, rebuilds, lastError }).toMatchObject({
      losses: { other_rows: 1 },
      rebuilds: { count: 0 },
      lastError: 'ledger.skills_history shows 0 rows where 1 were added.',
    })
    expect(await ready()).toMatchObject({ status: 200, body: { sql: { ready: true, state: 'following', other_rows: 1 } } })
  })

  test('when rows have gone from its file: the tables are built anew', async () => {
    bench = await Bench.open({ checkIntervalMs: 200 })
    bench.log.append(skill(1), skill(2), skill(3))
    expect(await shown()).toEqual([[3]])
    // If the process ends before its answer has left, the statement runs again: then on the new tables, which stay as they are. If the
    // process ends in the middle of the answer, the statement has done its work.
    await bench.askUncut('DELETE FROM ledger.skills_history WHERE id = 2 AND (SELECT begun_at FROM ledger.checkpoint) = 0')
    await until(() => bench.sqlProcess.status().losses.other_rows === 1)
    expect(await shown()).toEqual([[3]])
    const { rebuilds, lastError, stopped } = bench.sqlProcess.status()
    expect({ rebuilds, lastError, stopped }).toMatchObject({
      rebuilds: { count: 1, last: { reason: 'other rows' } },
      lastError: 'ledger.skills_history shows 2 rows where 3 were added.',
      stopped: undefined,
    })
    expect(await ready()).toMatchObject({ status: 200, body: { sql: { ready: true, state: 'following', other_rows: 1 } } })
  })
})

test('tables that lost rows while nobody had them open are not continued', async () => {
  const log = new MemoryLog()
  log.append(skill(1), skill(2))
  const database = await DuckDBInstance.create(':memory:')
  const tables = await Replay.open({ events: log, payloads: log, database })
  await tables.catchUp()
  const connection = await database.connect()
  await connection.run('DELETE FROM ledger.events WHERE position = 1')
  await expect(tables.check()).rejects.toThrow(new OtherRowsError('ledger.events', 2, 1))
  tables.close()
  await expect(Replay.open({ events: log, payloads: log, database })).rejects.toThrow('The tables have to be rebuilt: other rows.')
})
