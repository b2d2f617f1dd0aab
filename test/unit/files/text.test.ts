import { describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { load, problemOf, types } from './tables.js'

const prose = '# Lamp\r\n\r\nHold its button, says "the manual",\nfor ten seconds; then wait.\n\n| a | b |\n'

describe('a text', () => {
  test.each([
    ['manual.md', 'md'],
    ['Manual.MARKDOWN', 'markdown'],
    ['manual.txt', 'txt'],
  ])('is a table of one row, to the byte: %s', async (name, format) => {
    const table = await load(prose, name)
    expect(types(table)).toEqual(['content VARCHAR', 'source_file VARCHAR', 'file_format VARCHAR'])
    expect(table.rows).toEqual([[prose, name, format]])
    expect(table).toMatchObject({ rowCount: 1, warnings: [], skipped: { count: 0 } })
  })

  test.each(['NA', '2020-12-31', '12', '  padded  ', 'null', '""', '{"a": 1}'])('stays text: %s', async (text) =>
    expect((await load(text, 'a.md')).rows).toEqual([[text, 'a.md', 'md']]),
  )

  test('of another encoding is read, and the result says so', async () => {
    expect(await load(Buffer.from('M\xfcller\x92s\n', 'latin1'), 'a.txt')).toMatchObject({
      rows: [['Müller’s\n', 'a.txt', 'txt']],
      warnings: ['The text is not UTF-8; it was read as Windows-1252.'],
    })
    expect((await load(Buffer.from('\ufeffİstanbul', 'utf16le'), 'a.md')).rows[0]?.[0]).toBe('İstanbul')
  })

  test.each<[string, string | Buffer, RegExp]>([
    ['empty.md', '', /empty/],
    ['blank.txt', ' \n\n', /no text/],
    ['nul.md', 'a\0b', /NUL/],
    ['paper.txt', '%PDF-1.7\nx', /pdftotext/],
    ['long.md', Buffer.alloc(limits.fileRowMaxBytes + 1, 'a'), /several files/],
  ])('that is none is refused: %s', async (name, bytes, message) => {
    const { detail, extras } = await problemOf(load(bytes, name))
    expect(`${detail} ${String(extras['hint'])}`).toMatch(message)
  })
})

describe('a file that is named .txt', () => {
  test.each([
    ['commas', 'a,b\n1,2\n3,4\n'],
    ['tabs', 'a\tb\r\n1\t2\r\n'],
    ['a line for spreadsheets', 'sep=;\na;b\n1;2\n'],
    ['one row without a line end', 'a,b\n1,2'],
  ])('is a table if its rows are: %s', async (_, text) => expect(types(await load(text, 'a.txt'))).toEqual(['a BIGINT', 'b BIGINT']))

  test('is a table with a bad row if nearly all rows fit', async () => {
    const rows = Array.from({ length: 30 }, (_, i) => `${i},${i}`)
    expect((await problemOf(load(['a,b', ...rows, '1,2,3'].join('\n'), 'a.txt'))).detail).toMatch(/3 fields/)
  })

  test.each([
    'one line, with a comma',
    'Dear Ann, dear Bob,\nthank you.\nYours, sincerely, Eve\n',
    'name\nAnn\nBob\n',
    'Dear Ann, dear Bob,\nthank you',
  ])('is a text otherwise: %j', async (text) => expect((await load(text, 'a.txt')).rows).toEqual([[text, 'a.txt', 'txt']]))
})
