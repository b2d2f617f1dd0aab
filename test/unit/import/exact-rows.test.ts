import { expect, test } from '@jest/globals'
import { exactRows } from '../../../src/import/exact-rows.js'

const rowsOf = (data: string) => [...exactRows(`{"type":"table","data":${data},"column_names":["a","b"]}`)]

test('every cell is as it was written: no number is rounded, and 1.0 stays apart from 1', () => {
  expect(rowsOf('[[9007199254740993,1.0],[1e300,-0.10]]')).toEqual([
    ['9007199254740993', '1.0'],
    ['1e300', '-0.10'],
  ])
})

test('texts may hold brackets, commas, quotes and line breaks; values may be lists and objects', () => {
  const texts = ['"],[\\"\\\\"', '"a\\nb, c"']
  expect(rowsOf(`[ [ ${texts.join(' , ')} ] ]`)).toEqual([texts])
  expect(rowsOf('[[{"x": [1, {"y": "]"}]}, [[2], null]], [null, true]]')).toEqual([
    ['{"x": [1, {"y": "]"}]}', '[[2], null]'],
    ['null', 'true'],
  ])
})

test('no rows, rows without cells, and an answer without rows', () => {
  expect(rowsOf('[]')).toEqual([])
  expect(rowsOf('[[],[]]')).toEqual([[], []])
  expect(() => [...exactRows('{"type":"ok"}')]).toThrow('no rows')
})

test('the last of two members with the name data counts, as it does for a parser', () => {
  expect([...exactRows('{"data":[[1]],"data":[[2]]}')]).toEqual([['2']])
})

test('a long text is read', () => {
  const long = `"${'\\"x'.repeat(1_000_000)}"`
  expect(rowsOf(`[[${long},1]]`)).toEqual([[long, '1']])
})
