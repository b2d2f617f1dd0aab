import { describe, test } from '@jest/globals'
import { given } from '../../support/log/given.js'
import { officeCreated, salesCreated, secret, shop, shopCreated, stockCreated } from './samples.js'

const creation = (skill: string, more = {}) => ({
  type: 'CreateSkill' as const,
  data: { project: 'shop', skill, type: 'sql', params: { a: 1 }, ...more },
})
const update = (skill: string, changes: object) => ({ type: 'UpdateSkill' as const, data: { project: 'shop', skill, ...changes } })
const put = (skill: string, changes: object) => ({ type: 'PutSkill' as const, data: { project: 'shop', skill, ...changes } })
const created = (name: string, params = {}) => ({ type: 'SkillCreated' as const, data: { project: shop, name, type: 'sql', params } })

describe('CreateSkill', () => {
  test('makes a skill', () =>
    given(shopCreated)
      .when(creation('Sales'))
      .then(created('Sales', { a: 1 })))
  test('refuses a name in another case, and a project that is not there', () => {
    given(shopCreated, salesCreated()).when(creation('SALES')).refuses('already_exists')
    given().when(creation('Sales')).refuses('not_found', 'Project')
  })
  test('the same name in another project is another skill', () =>
    given(shopCreated, salesCreated(), officeCreated)
      .when(creation('Sales', { project: '3' }))
      .then({ ...created('Sales', { a: 1 }), data: { ...created('Sales', { a: 1 }).data, project: officeCreated.stream as never } }))
  test('a project named by its id is searched for clashes, too', () =>
    void given(shopCreated, salesCreated())
      .when(creation('sales', { project: '1' }))
      .refuses('already_exists'))
  test('IF NOT EXISTS does nothing when it is there', () =>
    given(shopCreated, salesCreated())
      .when(creation('sales', { unlessExists: true }))
      .then())
  test('a number is free as a name, whatever has it as id', () =>
    given(shopCreated, salesCreated())
      .when(creation('2', { unlessExists: true }))
      .then(created('2', { a: 1 })))
  test('null params are left out, a mask in the place of a secret is refused, elsewhere it is a text', () => {
    given(shopCreated)
      .when(creation('x', { params: { a: null, b: [null] } }))
      .then(created('x', { b: [null] }))
    given(shopCreated)
      .when(creation('x', { params: { o: [{ apiKey: '******' }] } }))
      .refuses('wrong_arguments', 'o[0].apiKey')
    given(shopCreated)
      .when(creation('x', { params: { note: '******' } }))
      .then(created('x', { note: '******' }))
  })
})

describe('lists of names', () => {
  const said = 'tables: must be a list of names'
  test.each([[[]], [['']], [[null]], [[{}]], [['cars', null]], [''], [{}]])('that cannot be read are refused: %j', (tables) => {
    const params = { database: 'files', tables }
    given(shopCreated).when(creation('x', { params })).refuses('wrong_arguments', said)
    given(shopCreated)
      .when(put('x', { type: 'sql', params }))
      .refuses('wrong_arguments', said)
    given(shopCreated, salesCreated({ database: 'files', tables: ['cars'] }))
      .when(update('sales', { params: { tables } }))
      .refuses('wrong_arguments', said)
    // A skill of an unknown type grants nothing, and its params may mean something else.
    given(shopCreated)
      .when(creation('x', { type: 'weather', params }))
      .then({ type: 'SkillCreated', data: { project: shop, name: 'x', type: 'weather', params } })
  })
  test.each([
    ['sql', { database: 'files', tables: ['cars'], models: [] }],
    ['sql', { database: 'files', knowledge_bases: ' , ' }],
    ['model', { models: [] }],
    ['knowledge_base', { source: '' }],
  ])('that are empty are taken where they grant nothing: %s %j', (type, params) =>
    given(shopCreated)
      .when(creation('x', { type, params }))
      .then({ type: 'SkillCreated', data: { project: shop, name: 'x', type, params } }),
  )
  test('of a skill from before can be mended', () =>
    given(shopCreated, salesCreated({ database: 'files', tables: [''] }))
      .when(update('sales', { params: { tables: ['cars'] } }))
      .then({ type: 'SkillUpdated', data: { params: { database: 'files', tables: ['cars'] } } }))
})

describe('UpdateSkill', () => {
  test('the event carries what results: keys replace, null removes, the rest stays', () =>
    given(shopCreated, salesCreated({ a: 1, b: { c: 1 }, d: 4 }))
      .when(update('sales', { params: { a: null, b: { e: 2 }, f: 5 } }))
      .then({ type: 'SkillUpdated', data: { params: { b: { e: 2 }, d: 4, f: 5 } } }))
  test('a mask sent back keeps the secret at its place', () => {
    given(shopCreated, salesCreated({ api_key: secret, list: [{ token: secret }] }))
      .when(update('sales', { params: { api_key: '******', list: [{ token: '******' }, { b: 1 }] } }))
      .then({ type: 'SkillUpdated', data: { params: { api_key: secret, list: [{ token: secret }, { b: 1 }] } } })
    given(shopCreated, salesCreated({ url: secret }))
      .when(update('sales', { params: { url: '******' } }))
      .then({ type: 'SkillUpdated', data: { params: { url: secret } } })
  })
  test('a mask where no secret stands is refused', () => {
    given(shopCreated, salesCreated({ api_key: secret }))
      .when(update('sales', { params: { token: '******' } }))
      .refuses('wrong_arguments', 'token is a mask')
    given(shopCreated, salesCreated({ list: [{ token: secret }] }))
      .when(update('sales', { params: { list: [{ a: 1 }, { token: '******' }] } }))
      .refuses('wrong_arguments', 'list[1].token')
  })
  test('params named like members of every object are params', () =>
    given(shopCreated, salesCreated())
      .when(update('sales', { params: { constructor: 1, toString: { valueOf: 2 } } }))
      .then({ type: 'SkillUpdated', data: { params: { constructor: 1, toString: { valueOf: 2 } } } }))
  test('type and name in one command are two events', () =>
    given(shopCreated, salesCreated())
      .when(update('2', { type: 'kb', name: 'sold' }))
      .then({ type: 'SkillUpdated', data: { type: 'kb' } }, { type: 'SkillRenamed', data: { name: 'sold' } }))
  test('to another case of itself, to its own name, to a taken one', () => {
    given(shopCreated, salesCreated())
      .when(update('sales', { name: 'SALES' }))
      .then({ type: 'SkillRenamed', data: { name: 'SALES' } })
    given(shopCreated, salesCreated())
      .when(update('sales', { name: 'Sales' }))
      .then()
    given(shopCreated, salesCreated(), stockCreated)
      .when(update('sales', { name: 'STOCK' }))
      .refuses('already_exists')
    given(shopCreated, salesCreated())
      .when(update('stock', { name: 'x' }))
      .refuses('not_found')
  })
  test('a number that another skill has as id is free as a name', () =>
    given(shopCreated, salesCreated(), stockCreated)
      .when(update('sales', { name: '3' }))
      .then({ type: 'SkillRenamed', data: { name: '3' } }))
  test('a name wins over an id', () =>
    given(shopCreated, salesCreated(), stockCreated, { stream: stockCreated.stream, event: { type: 'SkillRenamed', data: { name: '2' } } })
      .when(update('2', { type: 'kb', name: 'stock' }))
      .then({ type: 'SkillUpdated', data: { type: 'kb' } }, { type: 'SkillRenamed', data: { name: 'stock' } }))
})

describe('PutSkill', () => {
  test('makes what is not there, and then needs everything', () => {
    given(shopCreated)
      .when(put('Sales', { type: 'sql', params: {} }))
      .then(created('Sales'))
    given(shopCreated)
      .when(put('Sales', { params: {} }))
      .refuses('missing_field', 'type')
    given(shopCreated)
      .when(put('Sales', { type: 'sql' }))
      .refuses('missing_field', 'params')
  })
  test('updates what is there', () =>
    given(shopCreated, salesCreated({ a: 1 }))
      .when(put('sales', { params: { b: 2 } }))
      .then({ type: 'SkillUpdated', data: { params: { a: 1, b: 2 } } }))
})

describe('DeleteSkill', () => {
  const remove = (skill: string, more = {}) => ({ type: 'DeleteSkill' as const, data: { project: 'shop', skill, ...more } })
  test('deletes by name or id', () => {
    given(shopCreated, salesCreated()).when(remove('SALES')).then({ type: 'SkillDeleted', data: {} })
    given(shopCreated, salesCreated()).when(remove('2')).then({ type: 'SkillDeleted', data: {} })
  })
  test('IF EXISTS does nothing when it is not there', () => {
    given(shopCreated)
      .when(remove('sales', { ifExists: true }))
      .then()
    given(shopCreated).when(remove('sales')).refuses('not_found')
    given()
      .when(remove('sales', { ifExists: true }))
      .refuses('not_found', 'Project')
  })
  test('an id of another kind or another project is not a skill', () => {
    given(shopCreated, salesCreated()).when(remove('1')).refuses('not_found')
    given(shopCreated, salesCreated(), officeCreated)
      .when(remove('2', { project: 'office' }))
      .refuses('not_found')
  })
})
