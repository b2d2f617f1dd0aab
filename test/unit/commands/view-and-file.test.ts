import { describe, expect, test } from '@jest/globals'
import { projectTables } from '../../../src/commands/rules/taken-names.js'
import { catalogue } from '../../../src/sql/relations/catalogue.js'
import { given } from '../../support/log/given.js'
import { churnHad, content, monthlyCreated, otherHash, request, shop, shopCreated, tableCreated } from './samples.js'

const query = { query: 'SELECT 2', database: 'files' }
const target = { project: 'shop', view: 'MONTHLY' }
const created = { type: 'ViewCreated' as const, data: { project: shop, name: 'MONTHLY', ...query } }
const updated = { type: 'ViewUpdated' as const, data: query }

describe('views', () => {
  test('CREATE makes one; a name in another case is taken; IF NOT EXISTS does nothing then', () => {
    given(shopCreated)
      .when({ type: 'CreateView', data: { ...target, ...query } })
      .then(created)
    given(shopCreated, monthlyCreated)
      .when({ type: 'CreateView', data: { ...target, ...query } })
      .refuses('already_exists')
    given(shopCreated, monthlyCreated)
      .when({ type: 'CreateView', data: { ...target, ...query, unlessExists: true } })
      .then()
    given()
      .when({ type: 'CreateView', data: { ...target, ...query } })
      .refuses('not_found')
  })
  test('a view and a model never share a name', () => {
    given(shopCreated, ...churnHad())
      .when({ type: 'CreateView', data: { ...query, project: 'shop', view: 'CHURN' } })
      .refuses('already_exists')
    given(shopCreated, ...churnHad())
      .when({ type: 'PutView', data: { ...query, project: 'shop', view: 'CHURN' } })
      .refuses('already_exists')
  })
  test('no view or model is called as a table of every project', () => {
    expect([...projectTables].sort()).toEqual(catalogue.project.map(({ name }) => name).sort())
    given(shopCreated)
      .when({ type: 'CreateView', data: { ...query, project: 'shop', view: 'Skills' } })
      .refuses('already_exists')
    given(shopCreated)
      .when({ type: 'PutView', data: { ...query, project: 'shop', view: 'jobs_history' } })
      .refuses('already_exists')
    given(shopCreated)
      .when({ type: 'CreateModel', data: { project: 'shop', model: 'MODELS', request } })
      .refuses('already_exists')
  })
  test('PUT makes or updates, PATCH only updates', () => {
    given(shopCreated)
      .when({ type: 'PutView', data: { ...target, ...query } })
      .then(created)
    given(shopCreated, monthlyCreated)
      .when({ type: 'PutView', data: { ...target, ...query } })
      .then(updated)
    given(shopCreated, monthlyCreated)
      .when({ type: 'UpdateView', data: { ...target, ...query } })
      .then(updated)
    given(shopCreated)
      .when({ type: 'UpdateView', data: { ...target, ...query } })
      .refuses('not_found')
  })
  test('DROP deletes; IF EXISTS does nothing when it is not there', () => {
    given(shopCreated, monthlyCreated).when({ type: 'DeleteView', data: target }).then({ type: 'ViewDeleted', data: {} })
    given(shopCreated)
      .when({ type: 'DeleteView', data: { ...target, ifExists: true } })
      .then()
    given(shopCreated).when({ type: 'DeleteView', data: target }).refuses('not_found')
  })
})

describe('files', () => {
  const other = { ...content, content: otherHash }
  test('an upload makes one; a name in another case is taken', () => {
    given()
      .when({ type: 'CreateFile', data: { file: 'Table', content } })
      .then({ type: 'FileCreated', data: { name: 'Table', ...content } })
    given(tableCreated)
      .when({ type: 'CreateFile', data: { file: 'TABLE', content } })
      .refuses('wrong_arguments')
  })
  test('replacing keeps the file, or makes it', () => {
    given(tableCreated)
      .when({ type: 'ReplaceFile', data: { file: 'TABLE', content: other } })
      .then({ type: 'FileReplaced', data: other })
    given()
      .when({ type: 'ReplaceFile', data: { file: 'T', content } })
      .then({ type: 'FileCreated', data: { name: 'T', ...content } })
  })
  test('replacing with what was made from other rows than are there now is refused', () => {
    given(tableCreated)
      .when({ type: 'ReplaceFile', data: { file: 'TABLE', base: content.content, content: other } })
      .then({ type: 'FileReplaced', data: other })
    given(tableCreated)
      .when({ type: 'ReplaceFile', data: { file: 'TABLE', base: other.content, content: other } })
      .refuses('version_mismatch')
    given()
      .when({ type: 'ReplaceFile', data: { file: 'T', base: content.content, content: other } })
      .refuses('version_mismatch')
  })
  test('a file named by a year never stands for the file that has it as id', () => {
    given(tableCreated)
      .when({ type: 'ReplaceFile', data: { file: '1', content: other } })
      .then({ type: 'FileCreated', data: { name: '1', ...other } })
    given(tableCreated)
      .when({ type: 'DeleteFile', data: { file: '1' } })
      .refuses('wrong_arguments')
  })
  test('deleting; IF EXISTS does nothing when it is not there', () => {
    given(tableCreated)
      .when({ type: 'DeleteFile', data: { file: 'TABLE' } })
      .then({ type: 'FileDeleted', data: {} })
    given()
      .when({ type: 'DeleteFile', data: { file: 't', ifExists: true } })
      .then()
    given()
      .when({ type: 'DeleteFile', data: { file: 't' } })
      .refuses('wrong_arguments')
  })
})
