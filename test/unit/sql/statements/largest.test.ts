import { expect, test } from '@jest/globals'
import { statements } from '../../../../bench/largest/statements.js'
import { limits } from '../../../../src/basics/limits.js'
import { parseStatement } from '../../../../src/sql/statements/parse.js'
import { showable } from '../../../../src/sql/statements/statement.js'

const small = 0.001
const texts = Object.entries(statements).flatMap(([kind, made]) => Object.entries(made).map(([name, make]) => [name, kind, make] as const))
/** These are read as far as it takes to see that they are none. */
const broken = new Set(['SELECT of a broken text', 'SELECT of lines', 'SELECT of emoji', 'SELECT of settings in a text'])

test.each(texts.filter(([name]) => !broken.has(name)))('the text that is largest for %s is a statement of the kind %s', (_, kind, make) =>
  expect(parseStatement(make(small)).kind).toBe(kind),
)

test('everything that SHOW lists has a text', () => {
  const shown = Object.values(statements.show).flatMap((make) => {
    const statement = parseStatement(make(small))
    return statement.kind === 'show' ? [statement.what] : []
  })
  expect(showable.filter((what) => !shown.includes(what))).toEqual([])
})

const many = (count: number, part: (n: number) => string) => Array.from({ length: count }, (_, n) => part(n)).join(', ')
const name = (n: number) => `files.n${n}`
const setting = (n: number) => `k${n} = 1`
const member = (n: number) => `"k${n}": 1`
const { dropMaxNames: names, objectMaxKeys: keys } = limits

test.each([
  ['DROP VIEW', 'dropMaxNames', (more: number) => `DROP VIEW ${many(names + more, name)}`],
  ['DROP TABLE', 'dropMaxNames', (more: number) => `DROP TABLE ${many(names + more, name)}`],
  ['CREATE SKILL', 'objectMaxKeys', (more: number) => `CREATE SKILL s USING ${many(keys + more, setting)}`],
  ['CREATE DATABASE', 'objectMaxKeys', (more: number) => `CREATE DATABASE d ENGINE = 'x', PARAMETERS = {${many(keys + more, member)}}`],
])('%s takes as many as %s says, and no more', (_, limit, make) => {
  expect(() => parseStatement(make(0))).not.toThrow()
  expect(() => parseStatement(make(1))).toThrow(limit)
})
