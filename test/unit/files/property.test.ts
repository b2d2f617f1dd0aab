import { expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { load } from './tables.js'

const fieldText = fc.string({
  unit: fc.constantFrom('a', 'é', '1', ' ', ',', ';', '"', '\n', '\r', '\t', '|', '.', '漢', "'", '\\', '#'),
  maxLength: 6,
})
const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
const isBare = (text: string) => text !== '' && !/[",\r\n]/.test(text) && text.trim() !== ''

test('every table comes back from CSV field by field', async () => {
  const table = fc.tuple(fc.constantFrom('\n', '\r\n'), fc.array(fc.tuple(fieldText, fieldText, fieldText), { minLength: 1, maxLength: 8 }))
  await fc.assert(
    fc.asyncProperty(table, fc.boolean(), async ([end, rows], quoteAll) => {
      const write = (text: string) => (isBare(text) && !quoteAll ? text : quote(text))
      // The last row keeps each column text, so that values are compared as they were written.
      const all = [...rows, ['text', 'text', 'text']]
      const csv = ['one,two,three', ...all.map((row) => row.map(write).join(','))].join(end)
      const { rows: read } = await load(csv)
      expect(read).toEqual(all.map((row) => row.map((text) => (text === '' ? null : text))))
    }),
    { numRuns: 60 },
  )
})

test('every table comes back from JSON lines, empty text and missing values apart', async () => {
  const record = fc.record({ a: fc.option(fieldText), b: fieldText, 'c d': fc.array(fieldText, { maxLength: 2 }) }, { requiredKeys: [] })
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 8 }), fc.boolean(), async (records, asArray) => {
      const all = [{ a: 'text', b: 'text', 'c d': ['x'] }, ...records]
      const text = asArray ? JSON.stringify(all, undefined, 1) : all.map((row) => JSON.stringify(row)).join('\n')
      const { rows } = await load(text, 'a.json')
      expect(rows).toEqual(all.map((row) => [row.a ?? null, row.b ?? null, row['c d'] === undefined ? null : JSON.stringify(row['c d'])]))
    }),
    { numRuns: 40 },
  )
})

test('whatever the bytes are, they are read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('a.csv', 'a.json', 'a.parquet', 'a.md', 'a.txt'),
      async (bytes, name) => {
        await load(bytes, name, 'skip').catch((error: unknown) =>
          expect(error).toMatchObject({ name: 'Problem', status: expect.any(Number) }),
        )
      },
    ),
    { numRuns: 100 },
  )
})
