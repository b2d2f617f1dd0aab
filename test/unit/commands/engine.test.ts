import { describe, test } from '@jest/globals'
import { given } from '../../support/log/given.js'
import { secret, stream7 } from './samples.js'

const create = (engine: string, handler: string, more = {}) => ({
  type: 'CreateEngine' as const,
  data: { engine, handler, parameters: {}, ...more },
})
const drop = (engine: string, ifExists = false) => ({ type: 'DeleteEngine' as const, data: { engine, ifExists } })
const mine = { stream: stream7, event: { type: 'EngineCreated' as const, data: { name: 'Mine', handler: 'lightwood', parameters: {} } } }

describe('engines', () => {
  test("a name of one's own keeps its case, its handler none", () =>
    given()
      .when(create('Mine', 'LightWood', { parameters: { api_key: secret } }))
      .then({ type: 'EngineCreated', data: { name: 'Mine', handler: 'lightwood', parameters: { api_key: secret } } }))

  test('a name that is taken is refused, or left as it is', () => {
    given(mine).when(create('MINE', 'lightwood')).refuses('already_exists', 'MINE')
    given(mine)
      .when(create('MINE', 'lightwood', { unlessExists: true }))
      .then()
  })

  test('a name of ours is there already, and stays', () => {
    given().when(create('Lightwood', 'lightwood')).then()
    given().when(create('lightwood', 'auto')).then()
    given().when(create('linear', 'boosted_trees')).refuses('already_exists', 'linear')
    given()
      .when(create('linear', 'boosted_trees', { unlessExists: true }))
      .then()
    given().when(drop('lightwood', true)).refuses('refused_statement', 'lightwood')
  })

  test('an unknown handler is refused with the known ones', () => {
    given().when(create('mine', 'openai')).refuses('not_found', 'auto, boosted_trees, linear, forecast, onnx, constant, lightwood')
    given().when(create('lightwood', 'files')).refuses('not_found', 'auto, boosted_trees, linear, forecast, onnx, constant, lightwood')
  })

  test('what is there is dropped, once', () => {
    given(mine).when(drop('mine')).then({ type: 'EngineDeleted', data: {} })
    given().when(drop('mine')).refuses('not_found', 'mine')
    given().when(drop('mine', true)).then()
  })
})
