import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { decodeMatrix, encodeMatrix } from '../../../src/models/data/matrix-format.js'
import { MatrixBuilder, type Matrix } from '../../../src/models/data/matrix.js'
import type { ColumnDescriptor } from '../../../src/models/data/values.js'
import { readRows, writeRows } from '../../../src/models/data/rows-file.js'
import { inDirectory } from '../files/tables.js'
import { matrixOf, mixture } from './tables.js'

const identity = (matrix: Matrix) => createHash('sha256').update(encodeMatrix(matrix)).digest('hex')

const single = (type: ColumnDescriptor['type'], values: readonly unknown[]): Matrix =>
  matrixOf({ columns: [{ name: 'a', type }], rows: values.map((value) => [value]) })

describe('a file of rows', () => {
  it('is read in the chunks that were written, whatever line ends and separators their texts have', () =>
    inDirectory(async (directory) => {
      const texts = ['a\u2028b', 'c\u2029', '\u0085d', 'e\nf', 'g\r\n', 'Zoë'.repeat(50_000)]
      const columns = [{ name: 'a', type: 'VARCHAR' }]
      const select = () => Promise.resolve({ columns, chunks: Readable.from(texts.map((text) => Buffer.from(JSON.stringify([text])))) })
      const query = { sql: '', db: 'files', upTo: 0 }
      const rows = await writeRows(select, query, join(directory, 'rows'), new AbortController().signal)
      const { matrix } = await readRows(rows, 0)
      expect(matrix.columns.flatMap((column) => (column.type === 'text' ? column.dictionary : []))).toEqual([...texts].sort())
    }))
})

describe('the training matrix', () => {
  it('has the same bytes whatever order the rows come in', () => {
    const table = mixture(500, 1)
    const turned = { ...table, rows: [...table.rows].reverse() }
    expect(identity(matrixOf(turned, 5))).toBe(identity(matrixOf(table, 5)))
  })

  it('has other bytes for another seed and for another value', () => {
    const table = mixture(500, 1)
    const changed = { ...table, rows: [[1.25, 'north', true, null, null, 7], ...table.rows.slice(1)] }
    expect(new Set([identity(matrixOf(table, 5)), identity(matrixOf(table, 6)), identity(matrixOf(changed, 5))]).size).toBe(3)
  })

  it('keeps rows together while it sorts and shuffles them', () => {
    const rows = Array.from({ length: 100 }, (_, index) => [(index * 37) % 100, `t${(index * 37) % 100}`])
    const { columns } = matrixOf({
      columns: [
        { name: 'number', type: 'integer' },
        { name: 'text', type: 'text' },
      ],
      rows,
    })
    const [number, text] = columns
    if (number?.type !== 'integer' || text?.type !== 'text') throw new Error('types were lost')
    expect(Array.from(text.codes, (code) => text.dictionary[code])).toEqual(Array.from(number.numbers, (value) => `t${value}`))
    expect([...number.numbers]).not.toEqual([...number.numbers].sort((one, other) => one - other))
  })

  it('gives the same by columns as by rows', () => {
    const table = mixture(300, 2)
    const builder = new MatrixBuilder(table.columns)
    for (const from of [0, 100, 200]) {
      const chunk = table.rows.slice(from, from + 100)
      builder.addColumns(
        table.columns.map((_, index) => chunk.map((row) => row[index])),
        chunk.length,
      )
    }
    expect(identity(builder.build(0))).toBe(identity(matrixOf(table)))
  })

  it('comes back from its bytes as it was', () => {
    const matrix = matrixOf(mixture(500, 3), 9)
    expect(decodeMatrix(encodeMatrix(matrix))).toEqual(matrix)
  })

  it.each<[string, ColumnDescriptor['type'], unknown[], number]>([
    ['small whole numbers', 'integer', [1, -127, null], 1],
    ['whole numbers of two bytes', 'integer', [1, -128, null], 2],
    ['whole numbers of four bytes', 'integer', [1, 32768, null], 4],
    ['numbers of single precision', 'number', [0.5, 3.25, null], 4],
    ['large whole numbers', 'integer', [2147483649, 1, null], 8],
    ['numbers', 'number', [0.1, 3.25, null], 8],
    ['dates', 'date', ['2024-02-29', '1969-12-31', null], 2],
    ['timestamps', 'timestamp', ['2024-02-29T12:00:00.123Z', null, null], 8],
    ['booleans', 'boolean', [true, false, null], 1],
  ])('stores %s exactly in as few bytes as they need', (_, type, values, bytes) => {
    const matrix = single(type, values)
    const stored = encodeMatrix(matrix)
    expect(decodeMatrix(stored)).toEqual(matrix)
    expect(stored.length).toBe(encodeMatrix(single(type, [])).length + 3 * bytes)
  })

  it('takes -0 and 0 for the same value and not-a-number for missing', () => {
    expect(identity(single('number', [-0, NaN]))).toBe(identity(single('number', [null, 0])))
  })

  it('takes the infinity of dates for missing, as that of numbers', () => {
    for (const type of ['date', 'timestamp'] as const)
      expect(identity(single(type, ['2024-02-29', 'infinity', '-infinity']))).toBe(identity(single(type, ['2024-02-29', null, null])))
  })

  it('refuses a value that does not fit, by row and column', () => {
    expect(() => single('number', [1, 'x'])).toThrow('Row 1, column "a": "x" is not usable as number')
  })

  it('refuses more columns than the limit, and two of one name', () => {
    const columns = Array.from({ length: limits.trainingMaxColumns + 1 }, (_, index): ColumnDescriptor => ({
      name: `c${index}`,
      type: 'number',
    }))
    expect(() => new MatrixBuilder(columns)).toThrow('Training takes at most 2000 columns')
    expect(
      () =>
        new MatrixBuilder([
          { name: 'a', type: 'text' },
          { name: 'A', type: 'text' },
        ]),
    ).toThrow('two columns named "A"')
  })

  it('refuses more rows than the limit', () => {
    const builder = new MatrixBuilder([{ name: 'a', type: 'boolean' }])
    expect(() => builder.addColumns([[]], limits.trainingMaxRows + 1)).toThrow('Training takes at most 1000000 rows')
  })

  it.each([
    ['bytes of something else', new TextEncoder().encode('PARQUET or something')],
    ['a cut file', encodeMatrix(single('number', [1, 2])).subarray(0, -1)],
    ['a file that goes on', new Uint8Array([...encodeMatrix(single('number', [1, 2])), 0])],
  ])('refuses %s', (_, bytes) => {
    expect(() => decodeMatrix(bytes)).toThrow('The training matrix cannot be read')
  })
})
