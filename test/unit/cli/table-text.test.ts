import { expect, test } from '@jest/globals'
import { tableText } from '../../../src/cli/terminal/table-text.js'

test('a table is as wide as its widest cells, with what is missing named', () => {
  expect(
    tableText(
      ['a', 'name'],
      [
        [1, 'x'],
        [22, null],
      ],
    ),
  ).toEqual(['a  | name', '---+-----', '1  | x', '22 | NULL'])
})

test('a table may have more rows than a function has arguments', () => {
  const rows = Array.from({ length: 300_000 }, (_, row) => [row])
  expect(tableText(['n'], rows).at(-1)).toBe('299999')
})

test('a table that is too wide gives way in its widest cells, and is turned on its side where that is not enough', () => {
  const long = 'x'.repeat(50)
  const cut = tableText(['a', 'b'], [[long, 1]], 30)
  expect(Math.max(...cut.map((line) => line.length))).toBe(30)
  expect(cut[2]).toMatch(/^x+… \| 1$/)
  const columns = Array.from({ length: 9 }, (_, i) => `column number ${i}`)
  expect(tableText(columns, [columns], 80).slice(0, 2)).toEqual(['-- row 1', 'column number 0 | column number 0'])
})

test('a cell neither steers the terminal nor breaks the columns', () => {
  expect(
    tableText(
      ['a', 'b'],
      [
        ['\x1b[2J', 'two\nlines'],
        ['日本', 'x'],
      ],
    ),
  ).toEqual(['a       | b', '--------+----------', '\\x1b[2J | two lines', '日本    | x'])
})
