import { describe, test } from '@jest/globals'
import type { JsonObject } from '../../../events/common.js'
import { reservedDatabases } from '../../../src/commands/project.js'
import { given } from '../../support/log/given.js'
import { secret, shopCreated, slackCreated, stream7 } from './samples.js'

const creation = (database: string, more = {}) => ({
  type: 'CreateDatabase' as const,
  data: { database, engine: 'Slack', parameters: { a: 1 }, ...more },
})
const update = (changes: object) => ({ type: 'UpdateDatabase' as const, data: { database: 'slack', ...changes } })

describe('CreateDatabase', () => {
  test('makes a connection; engines are written without case', () =>
    given()
      .when(creation('Slack'))
      .then({ type: 'DatabaseCreated', data: { name: 'Slack', engine: 'slack', parameters: { a: 1 } } }))
  test('refuses a taken name, a project of that name, a reserved one, an unknown engine', () => {
    given(slackCreated()).when(creation('SLACK')).refuses('already_exists')
    given(shopCreated).when(creation('SHOP')).refuses('already_exists')
    given(shopCreated)
      .when(creation('SHOP', { unlessExists: true }))
      .refuses('already_exists')
    for (const name of reservedDatabases) given().when(creation(name.toUpperCase())).refuses('already_exists')
    given()
      .when(creation('x', { engine: 'carrier pigeon' }))
      .refuses('wrong_arguments', 'carrier pigeon')
  })
  test('IF NOT EXISTS does nothing when it is there', () =>
    given(slackCreated())
      .when(creation('slack', { unlessExists: true }))
      .then())
})

describe('UpdateDatabase and PutDatabase', () => {
  test('parameters merge, null removes, a mask keeps the secret', () =>
    given(slackCreated({ token: secret, a: 1, b: 2 }))
      .when(update({ parameters: { token: '******', a: null } }))
      .then({ type: 'DatabaseUpdated', data: { parameters: { token: secret, b: 2 } } }))
  test('a secret that is kept is not sent to another address', () => {
    const named = { host: 'db.example', port: 5432, user: 'u', password: secret }
    const other = { $secret: 'e'.repeat(64) }
    for (const [before, parameters] of [
      [named, { host: 'evil.example' }],
      [named, { port: 5433 }],
      [named, { HOST: 'evil.example' }],
      [named, { host: null }],
      [named, { host: 'evil.example', password: '******' }],
      [named, { url: 'postgres://evil.example' }],
      [named, { connection_string: other }],
      [{ url: secret }, { host: 'evil.example' }],
      [{ url: secret, ssl: { key: other } }, { url: 'postgres://evil.example' }],
      [{ token: secret }, { api_url: 'https://evil.example' }],
    ] as const)
      for (const command of [update({ parameters }), { type: 'PutDatabase' as const, data: { database: 'slack', parameters } }])
        given(slackCreated(before)).when(command).refuses('wrong_arguments', 'was given for another')
    given(slackCreated(named))
      .when({ type: 'PutDatabase', data: { database: 'slack', replace: true, parameters: { ...named, host: 'evil', password: '******' } } })
      .refuses('wrong_arguments', 'password was given for another host, and this change would send it to the new one')
  })
  test('another address comes with its secret, or without any', () => {
    const named = { host: 'db.example', password: secret }
    const other = { $secret: 'e'.repeat(64) }
    for (const parameters of [{ host: 'new', password: other }, { host: 'new', password: null }, { host: 'db.example' }, { user: 'other' }])
      given(slackCreated(named))
        .when(update({ parameters }))
        .then({
          type: 'DatabaseUpdated',
          data: { parameters: Object.fromEntries(Object.entries({ ...named, ...parameters }).filter(([, value]) => value !== null)) },
        })
    given(slackCreated({ url: secret }))
      .when(update({ parameters: { url: other } }))
      .then({ type: 'DatabaseUpdated', data: { parameters: { url: other } } })
  })
  test('renames, also to another case of itself', () => {
    given(slackCreated())
      .when(update({ name: 'chat' }))
      .then({ type: 'DatabaseRenamed', data: { name: 'chat' } })
    given(slackCreated())
      .when(update({ name: 'SLACK' }))
      .then({ type: 'DatabaseRenamed', data: { name: 'SLACK' } })
    given(slackCreated())
      .when(update({ name: 'Slack' }))
      .then()
  })
  test('refuses the name of a project, of another connection, and a reserved one', () => {
    const other = { stream: stream7, event: { type: 'DatabaseCreated' as const, data: { name: 'Chat', engine: 'slack', parameters: {} } } }
    given(slackCreated(), other)
      .when(update({ name: 'CHAT' }))
      .refuses('already_exists')
    given(slackCreated(), shopCreated)
      .when(update({ name: 'shop' }))
      .refuses('already_exists')
    for (const name of reservedDatabases) given(slackCreated()).when(update({ name })).refuses('already_exists')
    given().when(update({})).refuses('not_found')
  })
  test('PUT makes what is not there, and then needs an engine', () => {
    given()
      .when({ type: 'PutDatabase', data: { database: 'S', engine: 'slack' } })
      .then({ type: 'DatabaseCreated', data: { name: 'S', engine: 'slack', parameters: {} } })
    given()
      .when({ type: 'PutDatabase', data: { database: 'S' } })
      .refuses('missing_field')
    given(slackCreated({ a: 1 }))
      .when({ type: 'PutDatabase', data: { database: 'slack', parameters: { b: 2 } } })
      .then({ type: 'DatabaseUpdated', data: { parameters: { a: 1, b: 2 } } })
  })
  test('an engine that is another is changed, one that is the same is not, and an unknown one is refused', () => {
    const put = (data: { engine: string; parameters?: JsonObject }) => ({
      type: 'PutDatabase' as const,
      data: { database: 'slack', ...data },
    })
    given(slackCreated({ a: 1 }))
      .when(put({ engine: 'Postgres' }))
      .then({ type: 'DatabaseUpdated', data: { engine: 'postgres' } })
    given(slackCreated({ a: 1 }))
      .when(put({ engine: 'postgres', parameters: { b: 2 } }))
      .then({ type: 'DatabaseUpdated', data: { engine: 'postgres', parameters: { a: 1, b: 2 } } })
    given(slackCreated())
      .when(put({ engine: 'SLACK' }))
      .then()
    given(slackCreated())
      .when(put({ engine: 'carrier pigeon' }))
      .refuses('wrong_arguments')
  })
})

describe('DeleteDatabase', () => {
  test('deletes; IF EXISTS does nothing when it is not there', () => {
    given(slackCreated())
      .when({ type: 'DeleteDatabase', data: { database: 'SLACK' } })
      .then({ type: 'DatabaseDeleted', data: {} })
    given()
      .when({ type: 'DeleteDatabase', data: { database: 'slack', ifExists: true } })
      .then()
    given()
      .when({ type: 'DeleteDatabase', data: { database: 'slack' } })
      .refuses('not_found')
  })
})
