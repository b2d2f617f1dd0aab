import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../support/cli.js'
import { isEngineSetting } from '../../../src/sql/statements/client/duckdb-settings.js'
import { functionLists, isRefusedPattern } from '../../../src/sql/engine/guard/function-lists.js'

const installed = async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const reader = await connection.runAndReadAll('SELECT DISTINCT lower(function_name) FROM duckdb_functions()')
  connection.closeSync()
  return reader.getRows().map(([name]) => String(name))
}

test('every function of the installed DuckDB is classified', async () => {
  const known = (name: string) =>
    functionLists.values.has(name) || functionLists.rows.has(name) || functionLists.refused.has(name) || isRefusedPattern(name)
  expect((await installed()).filter((name) => !known(name))).toEqual([])
})

test('no list names a function that does not exist', async () => {
  // unnest is part of the grammar, and listed with the functions of both places.
  const there = new Set([...(await installed()), 'unnest'])
  for (const list of Object.values(functionLists)) expect([...list].filter((name) => !there.has(name))).toEqual([])
})

test('nothing refused is allowed', () => {
  expect([...functionLists.refused].filter((name) => functionLists.values.has(name) || functionLists.rows.has(name))).toEqual([])
})

test('the editor of the console proposes only functions that are answered', () => {
  const source = readFileSync(join(repository, 'src/console/pages/query/writing/functions.ts'), 'utf8')
  const [, proposed = ''] = /`([^`]*)`/.exec(source) ?? []
  const names = proposed.split(/\s+/).filter((name) => name !== '')
  expect(names.length).toBeGreaterThan(100)
  expect(names.filter((name) => !functionLists.values.has(name))).toEqual([])
})

test('every setting of the installed DuckDB is known, and what clients set for themselves is none of them', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const names = (await connection.runAndReadAll('SELECT name FROM duckdb_settings()')).getRows().flat().map(String)
  connection.closeSync()
  expect(names.filter((name) => !isEngineSetting(name))).toEqual([])
  expect(['names', 'autocommit', 'sql_mode', 'character_set_results', 'time_zone', 'net_write_timeout'].filter(isEngineSetting)).toEqual([])
})
