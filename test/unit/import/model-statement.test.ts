import { describe, expect, test } from '@jest/globals'
import { databaseOf, modelStatement } from '../../../src/import/model-statement.js'
import { parseStatement } from '../../../src/sql/statements/parse.js'

const databases = new Map([
  ['files', new Set(['homes'])],
  ['shop', new Set(['cheap', 'homes'])],
])

describe('the database of a query', () => {
  test('is the first that has all of its tables', () => {
    expect(databaseOf('SELECT * FROM homes', databases)).toBe('files')
    expect(databaseOf('SELECT * FROM `Homes` JOIN cheap ON true', databases)).toBe('shop')
    expect(databaseOf('SELECT * FROM (SELECT * FROM cheap) AS c', databases)).toBe('shop')
  })

  test('is said by the query itself where names are qualified', () => {
    expect(databaseOf('SELECT * FROM files.homes', databases)).toBe('')
  })

  test('is nobody’s guess', () => {
    expect(databaseOf('SELECT * FROM elsewhere', databases)).toBeUndefined()
  })
})

const row = { name: 'rent', project: 'shop', version: 1, engine: 'lightwood', predict: 'price', select_data_query: 'SELECT * FROM homes' }

describe('the statement', () => {
  test('is read as what was asked for, whatever the options hold', () => {
    const using = { preset: 'it\'s \\d "fast"\n', weights: { a: [1, true, null] } }
    const timeseries = { is_timeseries: true, order_by: 'day', group_by: ['a b', 'c'], window: 7, horizon: 2 }
    const options = { __mdb_sql_task: null, target: 'the price', using, timeseries_settings: timeseries }
    const statement = modelStatement({ ...row, training_options: JSON.stringify(options) }, 'files')
    expect(parseStatement(statement ?? '')).toEqual({
      kind: 'create_model',
      target: { project: 'shop', name: 'rent' },
      ifNotExists: false,
      replace: false,
      training: {
        source: { database: 'files', query: 'SELECT * FROM homes' },
        predict: ['the price'],
        orderBy: [{ column: 'day', descending: false }],
        groupBy: ['a b', 'c'],
        window: 7,
        horizon: 2,
        using: { engine: 'lightwood', ...using },
      },
    })
  })

  test('has no FROM where nothing was selected, and no database where the query says it', () => {
    const training_options = { target: 'answer' }
    expect(modelStatement({ ...row, engine: 'openai', select_data_query: null, training_options }, '')).toBe(
      'CREATE MODEL `shop`.`rent` PREDICT `answer` USING `engine` = "openai"',
    )
    expect(modelStatement({ ...row, engine: null, select_data_query: 'SELECT * FROM files.homes', training_options }, '')).toBe(
      'CREATE MODEL `shop`.`rent` FROM (SELECT * FROM files.homes) PREDICT `answer`',
    )
  })

  test('is not made of options that cannot be read, or of names that cannot be quoted', () => {
    expect(modelStatement({ ...row, training_options: "{'target': None}" }, 'files')).toBeUndefined()
    expect(modelStatement({ ...row, name: 'a`b', training_options: '{}' }, 'files')).toBeUndefined()
  })
})
