import { describe, test } from '@jest/globals'
import { reservedDatabases } from '../../../src/commands/project.js'
import { given } from '../../support/log/given.js'
import { stream } from '../../support/log/log.js'
import { churnHad, helperCreated, officeCreated, salesCreated, shop, shopCreated, slackCreated } from './samples.js'

const defaultProject = 'mindsdb'

describe('CreateProject', () => {
  test('makes a project', () =>
    given()
      .when({ type: 'CreateProject', data: { project: 'Shop' } })
      .then({ type: 'ProjectCreated', data: { name: 'Shop' } }))
  test('refuses a name in another case', () =>
    void given(shopCreated)
      .when({ type: 'CreateProject', data: { project: 'SHOP' } })
      .refuses('already_exists'))
  test('refuses the name of a connection, also with IF NOT EXISTS', () => {
    given(slackCreated())
      .when({ type: 'CreateProject', data: { project: 'slack' } })
      .refuses('already_exists')
    given(slackCreated())
      .when({ type: 'CreateProject', data: { project: 'slack', unlessExists: true } })
      .refuses('already_exists')
  })
  test.each(reservedDatabases)(
    'refuses %s, which SQL keeps for itself',
    (project) =>
      void given()
        .when({ type: 'CreateProject', data: { project: project.toUpperCase() } })
        .refuses('already_exists'),
  )
  test('IF NOT EXISTS does nothing when it is there', () =>
    given(shopCreated)
      .when({ type: 'CreateProject', data: { project: 'shop', unlessExists: true } })
      .then())
  test('a number is free as a name, whatever has it as id', () =>
    given(shopCreated)
      .when({ type: 'CreateProject', data: { project: '1', unlessExists: true } })
      .then({ type: 'ProjectCreated', data: { name: '1' } }))
})

describe('RenameProject', () => {
  const rename = (project: string, name: string) => ({ type: 'RenameProject' as const, data: { project, name, defaultProject } })
  test('renames', () =>
    given(shopCreated)
      .when(rename('shop', 'Store'))
      .then({ type: 'ProjectRenamed', data: { name: 'Store' } }))
  test('to another case of itself', () =>
    given(shopCreated)
      .when(rename('Shop', 'SHOP'))
      .then({ type: 'ProjectRenamed', data: { name: 'SHOP' } }))
  test('to its own name is nothing', () => given(shopCreated).when(rename('shop', 'Shop')).then())
  test('refuses a taken, a reserved and the default name', () => {
    given(shopCreated, officeCreated).when(rename('shop', 'OFFICE')).refuses('already_exists')
    given(shopCreated, slackCreated()).when(rename('shop', 'slack')).refuses('already_exists')
    given(shopCreated).when(rename('shop', 'Files')).refuses('already_exists')
    given().when(rename('shop', 'x')).refuses('not_found')
    given(shopCreated)
      .when({ type: 'RenameProject', data: { project: 'shop', name: 'x', defaultProject: 'SHOP' } })
      .refuses('not_empty')
  })
})

describe('DeleteProject', () => {
  const remove = (project: string, more = {}) => ({ type: 'DeleteProject' as const, data: { project, defaultProject, ...more } })
  test('deletes an empty one, by name or id', () => {
    given(shopCreated).when(remove('SHOP')).then({ type: 'ProjectDeleted', data: {} })
    given(shopCreated).when(remove('1')).then({ type: 'ProjectDeleted', data: {} })
  })
  test('refuses while something is in it, whichever way it is named', () => {
    given(shopCreated, salesCreated()).when(remove('shop')).refuses('not_empty', 'skill Sales')
    given(shopCreated, ...churnHad(), helperCreated())
      .when(remove('1'))
      .refuses('not_empty', 'model Churn, agent Helper')
  })
  test('of much that is in it only the first is named', () => {
    const many = Array.from({ length: 25 }, (_, n) => ({
      stream: stream(100 + n),
      event: { type: 'SkillCreated' as const, data: { project: shop, name: `s${n}`, type: 'sql', params: {} } },
    }))
    given(shopCreated, ...many)
      .when(remove('shop'))
      .refuses('not_empty', 'skill s19 and 5 more')
  })
  test('what is in another project does not count', () =>
    given(shopCreated, officeCreated, salesCreated()).when(remove('office')).then({ type: 'ProjectDeleted', data: {} }))
  test('IF EXISTS does nothing when it is not there', () => {
    given()
      .when(remove('shop', { ifExists: true }))
      .then()
    given().when(remove('shop')).refuses('not_found')
  })
  test('refuses the default project', () =>
    void given(shopCreated)
      .when(remove('shop', { defaultProject: 'shop' }))
      .refuses('not_empty'))
})
