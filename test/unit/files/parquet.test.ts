import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import { DuckDBInstance } from '@duckdb/node-api'
import { StagingFile } from '../../../src/files/tables/staging-file.js'
import { limits } from '../../../src/basics/limits.js'
import { inDirectory, load, problemOf, types } from './tables.js'

const parquet = (select: string, options = ''): Promise<Buffer> =>
  inDirectory(async (directory) => {
    const file = join(directory, 'x.parquet')
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    await connection.run(`COPY (${select}) TO '${file}' (FORMAT parquet${options})`)
    connection.closeSync()
    instance.closeSync()
    return readFile(file)
  })

describe('Parquet', () => {
  test('is read with its types, whatever it is called', async () => {
    const bytes = await parquet("SELECT i::INTEGER AS i, 'x' || i AS s, [i::INTEGER] AS l, i::DECIMAL(9,2) AS d FROM range(3) t(i)")
    for (const name of ['a.parquet', 'a.dat']) {
      const table = await load(bytes, name)
      expect(types(table)).toEqual(['i INTEGER', 's VARCHAR', 'l INTEGER[]', 'd DECIMAL(9,2)'])
      expect(table.rowCount).toBe(3)
    }
  })

  test('names are made usable and different', async () => {
    const table = await load(await parquet('SELECT 1 AS "a\nb", 2 AS " ", 3 AS "A b"'), 'a.parquet')
    expect(table.columns.map(({ name }) => name)).toEqual(['a b', 'column_2', 'A b_1'])
    expect(table.renamed).toHaveLength(3)
  })

  test.each([
    ['damage to a page', (bytes: Buffer) => bytes.fill(0xff, 4, 40)],
    ['a missing end', (bytes: Buffer) => bytes.subarray(0, bytes.length - 10)],
    ['a missing middle', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 100), bytes.subarray(60_000)])],
  ])('%s is found', async (_, damage) => {
    const bytes = await parquet('SELECT hash(i) AS h FROM range(10000) t(i)')
    expect((await problemOf(load(damage(bytes), 'a.parquet'))).code).toBe('bad_file')
  })

  test('what is not Parquet is refused without a word of this machine', async () => {
    const problem = await problemOf(load('PAR1 no', 'a.parquet'))
    expect(problem.code).toBe('bad_file')
    expect(problem.detail).not.toContain('/')
  })
})

describe('a table that a small file stands for', () => {
  /** A text whose rows come from the list of an ENUM: DuckDB writes that as it is, and would compare all other texts byte by byte. */
  const long = `'${'x'.repeat(4_000_000)}'`
  test.each([
    ['rows', 'tableMaxRows', `SELECT 1 AS a FROM range(${limits.tableMaxRows + 1})`],
    ['text', 'tableMaxTextBytes', `SELECT a FROM (SELECT ${long}::ENUM(${long}) AS a), range(2200)`],
  ])('is refused for its %s', async (_, limit, select) => {
    const bytes = await parquet(select, ', COMPRESSION zstd, ROW_GROUP_SIZE 2048')
    expect(bytes.length).toBeLessThan(8_000_000)
    expect(await problemOf(load(bytes, 'a.parquet'))).toMatchObject({ code: 'too_large', extras: { limit, hint: expect.any(String) } })
  })

  test('is refused by its cells where only a few rows have more than one value', async () => {
    const wide = Object.fromEntries(Array.from({ length: limits.fileMaxColumns }, (_, i) => [`c${i}`, 1]))
    const text = `${JSON.stringify(wide)}\n${'{"c0":1}\n'.repeat(limits.tableMaxCells / limits.fileMaxColumns)}`
    expect(await problemOf(load(text, 'a.json'))).toMatchObject({ code: 'too_large', extras: { limit: 'tableMaxCells' } })
  })

  // An upload of 1 GiB has no more than 8 GiB of text, so the limit is lower here.
  test.each([
    ['CSV', 'a.csv', 'a\n', '1234567\n'],
    ['JSON', 'a.json', '', '{"a":"xxxxxxx"}\n'],
  ])('is refused for its text as %s', async (_, name, head, row) => {
    const lowered = jest.replaceProperty(limits, 'tableMaxTextBytes', 10_000)
    try {
      expect((await load(head + row.repeat(500), name)).rowCount).toBe(500)
      const problem = await problemOf(load(head + row.repeat(2_000), name))
      expect(problem).toMatchObject({ code: 'too_large', extras: { limit: 'tableMaxTextBytes' } })
    } finally {
      lowered.restore()
    }
  })

  test('is refused at the first row beyond the limit while it is read', () =>
    inDirectory((directory) => {
      const staging = new StagingFile(join(directory, 'rows'))
      for (let row = 0; row < limits.tableMaxRows; row++) staging.endRow()
      expect(() => staging.endRow()).toThrow(`more than ${limits.tableMaxRows} rows`)
      staging.close()
      return Promise.resolve()
    }))
})

describe('formats', () => {
  test.each([
    ['a ZIP archive or spreadsheet', 'PK\x03\x04rest'],
    ['gzip', '\x1f\x8brest'],
    ['a PDF', '%PDF-1.7'],
  ])('%s is refused with a hint', async (_, text) => {
    expect((await problemOf(load(Buffer.from(text, 'latin1'), 'a.csv'))).extras['hint']).toBeDefined()
  })

  test('text without a known extension is told by its first character', async () => {
    expect(types(await load(' [{"a":1}]', 'upload'))).toEqual(['a BIGINT'])
    expect(types(await load('a\n1\n', ''))).toEqual(['a BIGINT'])
  })

  test('a table of as many columns as the limit allows is read in little memory', async () => {
    const row = (cell: (column: number) => string) => Array.from({ length: limits.fileMaxColumns }, (_, column) => cell(column)).join(',')
    const body = `${row((column) => (column % 2 === 0 ? `x${column}` : `${column}`))}\n`.repeat(300)
    const table = await load(`${row((column) => `c${column}`)}\n${body}`)
    expect([table.rowCount, table.columns.length]).toEqual([300, limits.fileMaxColumns])
    const problem = await problemOf(load(`${row((column) => `c${column}`)},more\n`))
    expect(problem.detail).toContain(`more than ${limits.fileMaxColumns} fields`)
  })

  test('the same bytes give the same Parquet bytes', async () => {
    const csv = `a,b,c\n${Array.from({ length: 150_000 }, (_, i) => `${i},x${i % 7},${i / 8}`).join('\n')}`
    const [one, two] = [await load(csv), await load(csv)]
    expect(one.sha256).toBe(two.sha256)
    expect(one.parquet.equals(two.parquet)).toBe(true)
    expect(one.bytes).toBe(one.parquet.length)
  })
})
