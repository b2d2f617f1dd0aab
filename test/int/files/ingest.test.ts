import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { DuckDBInstance } from '@duckdb/node-api'
import { Ingester, type IngestLimits } from '../../../src/files/ingest/ingest.js'
import { until } from '../../support/until.js'
import { inDirectory, problemOf, readRows } from '../../unit/files/tables.js'
import { isRunning } from '../../support/processes.js'

const ingest = (ingester: Ingester, name: string, write: (file: string) => Promise<unknown>) =>
  inDirectory(async (workDirectory) => {
    const source = join(workDirectory, name)
    await write(source)
    const result = await ingester.ingest({ source, originalName: name, workDirectory })
    return { ...result, left: (await readdir(workDirectory)).sort(), rows: await readRows(result.parquetFile) }
  })

const limited = (limits: Partial<IngestLimits>) => new Ingester(limits)

/** Some kilobytes that hold hundreds of megabytes of text. */
const writeBomb = async (file: string, rows = 80) => {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '3GB' })
  const connection = await instance.connect()
  await connection.run(
    `COPY (SELECT repeat(i::VARCHAR, 4000000) AS x FROM range(100, ${100 + rows}) t(i)) TO '${file}' (FORMAT parquet, COMPRESSION zstd)`,
  )
  connection.closeSync()
  instance.closeSync()
}

/** A file that nobody writes: reading it never ends, however long a busy machine lets the reader go on. */
const writeEndless = async (file: string) => execFileSync('mkfifo', [file])

const childOf = (parent: number | undefined): number | undefined => {
  const pid = Number(
    spawnSync('pgrep', ['-P', String(parent)])
      .stdout.toString()
      .split('\n', 1)[0],
  )
  return pid > 0 ? pid : undefined
}

describe('a file is read in a process of its own', () => {
  test('which leaves the Parquet file and nothing else', async () => {
    const table = await ingest(new Ingester(), 'a.csv', (file) => writeFile(file, 'a,b\n1,x\n2,y\n'))
    expect(table.rows).toEqual([
      ['1', 'x'],
      ['2', 'y'],
    ])
    expect(table).toMatchObject({
      rowCount: 2,
      columns: [
        { name: 'a', type: 'BIGINT' },
        { name: 'b', type: 'VARCHAR' },
      ],
      left: ['a.csv', 'out.parquet'],
    })
  })

  test('whose refusal is the same problem as without it', async () => {
    const problem = await problemOf(ingest(new Ingester(), 'a.csv', (file) => writeFile(file, 'a,b\n1\n')))
    expect([problem.code, problem.status, problem.extras['line']]).toEqual(['bad_file', 400, 2])
  })

  test('so that a small file that holds a large one harms no other', async () => {
    const ingester = limited({ memoryMaxBytes: 300 * 1024 * 1024 })
    const small = () => ingest(ingester, 'a.csv', (file) => writeFile(file, 'a\n1\n'))
    const [problem, table] = await Promise.all([problemOf(ingest(ingester, 'bomb.parquet', writeBomb)), small()])
    expect(problem.code).toBe('too_large')
    expect(table.rowCount).toBe(1)
    expect((await small()).rowCount).toBe(1)
  })

  test('which is killed when it needs more memory than its limit', async () => {
    const starved = limited({ memoryMaxBytes: 20 * 1024 * 1024 })
    const problem = await problemOf(ingest(starved, 'a.csv', writeEndless))
    expect([problem.code, problem.detail]).toEqual(['too_large', 'The file needs more than 20971520 bytes of memory to be read.'])
  })

  test('which is killed when it takes too long', async () => {
    const problem = await problemOf(ingest(limited({ timeoutMs: 20 }), 'a.csv', writeEndless))
    expect([problem.code, problem.detail]).toEqual(['too_large', 'The file took longer than 20 ms to read.'])
  })

  test('which ends when the service does, whatever it is doing', () =>
    inDirectory(async (workDirectory) => {
      const source = join(workDirectory, 'bomb.parquet')
      await writeBomb(source, 30)
      const ingest = new URL('../../../src/files/ingest/ingest.js', import.meta.url).href
      const request = JSON.stringify({ source, originalName: 'bomb.parquet', workDirectory })
      // It reads the file again and again: one reading could be over before a busy machine shows its process.
      const work = `const ingester = new Ingester(); for (;;) await ingester.ingest(${request}).catch(() => undefined)`
      const service = spawn(process.execPath, ['-e', `import('${ingest}').then(async ({ Ingester }) => { ${work} })`])
      let child: number | undefined
      await until(() => existsSync(join(workDirectory, 'out.parquet')))
      await until(() => (child = childOf(service.pid)) !== undefined)
      service.kill('SIGKILL')
      await until(() => !isRunning(child ?? 0))
    }))

  test('of which only a few run at once, and all get their turn', async () => {
    const ingester = limited({ concurrentMax: 1 })
    const tables = await Promise.all(
      [1, 2, 3].map((rows) => ingest(ingester, 'a.csv', (file) => writeFile(file, `a\n${'1\n'.repeat(rows)}`))),
    )
    expect(tables.map(({ rowCount }) => rowCount)).toEqual([1, 2, 3])
  })
})

describe('published tables load with all their rows', () => {
  const data = 'node_modules/vega-datasets/data'
  test.each([
    ['seattle-weather.csv', 1_461, 'date DATE, precipitation DOUBLE, temp_max DOUBLE, temp_min DOUBLE, wind DOUBLE, weather VARCHAR'],
    ['airports.csv', 3_376, 'iata VARCHAR, name VARCHAR, city VARCHAR, state VARCHAR, country VARCHAR, latitude DOUBLE, longitude DOUBLE'],
    ['zipcodes.csv', 42_049, 'zip_code VARCHAR, latitude DOUBLE, longitude DOUBLE, city VARCHAR, state VARCHAR, county VARCHAR'],
    ['unemployment.tsv', 3_218, 'id BIGINT, rate DOUBLE'],
    [
      'cars.json',
      406,
      'Name VARCHAR, Miles_per_Gallon DOUBLE, Cylinders BIGINT, Displacement DOUBLE, Horsepower BIGINT, Weight_in_lbs BIGINT, Acceleration DOUBLE, Year DATE, Origin VARCHAR',
    ],
    ['flights-200k.json', 200_000, 'delay BIGINT, distance BIGINT, time DOUBLE'],
    ['flights-3m.parquet', 3_000_000, 'date TIMESTAMP, delay BIGINT, distance BIGINT, origin VARCHAR, destination VARCHAR'],
  ])('%s', (name, rowCount, columns) =>
    inDirectory(async (workDirectory) => {
      const table = await new Ingester().ingest({ source: join(data, name), originalName: name, workDirectory })
      expect([table.rowCount, table.columns.map((column) => `${column.name} ${column.type}`).join(', ')]).toEqual([rowCount, columns])
      expect((await readFile(table.parquetFile)).length).toBe(table.bytes)
    }),
  )
})
