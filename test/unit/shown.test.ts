import { expect, test } from '@jest/globals'
import { withoutPaths } from '../../src/basics/shown.js'

test.each([
  ['cannot open "/var/data/x.duckdb": no such file', 'cannot open "a file": no such file'],
  ['/var/a/b is full', 'a file is full'],
  ['directory=/home/ada/.cache/x', 'directory=a file'],
  ['IO Error:/srv/x/y', 'IO Error:a file'],
  ['at file:///srv/lib/a.js', 'at file://a file'],
])('the path in %s is left out', (message, without) => {
  expect(withoutPaths(message)).toBe(without)
})

test.each(['"12/03/2024", expected format is (YYYY-MM-DD)', "'a/b/c'", "'http://shop.example/a/b.css'", '1/2/3', '</title>'])(
  '%s is no path, and stays',
  (message) => {
    expect(withoutPaths(message)).toBe(message)
  },
)
