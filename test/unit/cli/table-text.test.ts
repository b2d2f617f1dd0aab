import { expect, test } from '@jest/globals'
import { tableText } from '../../../src/cli/table-text.js'

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
