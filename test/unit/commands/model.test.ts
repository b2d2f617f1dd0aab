import { describe, expect, test } from '@jest/globals'
import type { LedgerEvent } from '../../../events/catalogue/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import type { ModelVersion } from '../../../events/model.js'
import { modelDecider } from '../../../src/commands/model.js'
import { limits } from '../../../src/basics/limits.js'
import type { NewEvent } from '../../../src/log/contract/log.js'
import { given } from '../../support/log/given.js'
import { stream } from '../../support/log/log.js'
import {
  activated,
  churn,
  churnHad,
  failed,
  monthlyCreated,
  request,
  requested,
  result,
  secret,
  shop,
  shopCreated,
  started,
  trained,
} from './samples.js'

const mine = stream(11)
const at = (where: StreamId, event: LedgerEvent): NewEvent => ({ stream: where, event })
const target = { project: 'shop', model: 'CHURN' }
const creation = (more = {}) => ({ type: 'CreateModel' as const, data: { ...target, request, ...more } })
const retrain = (changes = {}) => ({ type: 'RetrainModel' as const, data: { ...target, request: { seed: 8, activate: true, ...changes } } })
const complete = [requested(1), activated(1), started(1), trained(1)]
const had = (...events: Parameters<typeof churnHad>) => given(shopCreated, ...churnHad(...events))

describe('CreateModel', () => {
  test('names it, asks for version 1, and makes that the one that answers', () =>
    given(shopCreated)
      .when(creation())
      .then(
        { type: 'ModelCreated', data: { project: shop, name: 'CHURN' } },
        { type: 'ModelTrainingRequested', data: { ...request, version: 1 } },
        { type: 'ModelVersionActivated', data: { version: 1 } },
      ))
  test('refuses a taken name, also of a view, and a project that is not there', () => {
    had(...complete)
      .when(creation())
      .refuses('already_exists')
    given(shopCreated, monthlyCreated)
      .when(creation({ model: 'MONTHLY' }))
      .refuses('already_exists')
    given().when(creation()).refuses('not_found')
  })
  test('IF NOT EXISTS does nothing; OR REPLACE is a retraining with everything new', () => {
    had(...complete)
      .when(creation({ unlessExists: true }))
      .then()
    had(...complete)
      .when(creation({ orReplace: true, request: { ...request, target: 'z' } }))
      .then(requested(2, { target: 'z' }))
    had(requested(1), activated(1))
      .when(creation({ orReplace: true }))
      .refuses('not_ready')
  })
  test('a number is free as a name, whatever has it as id', () =>
    had(...complete)
      .when(creation({ model: '2', orReplace: true }))
      .then(
        { type: 'ModelCreated', data: { project: shop, name: '2' } },
        { type: 'ModelTrainingRequested', data: { ...request, version: 1 } },
        { type: 'ModelVersionActivated', data: { version: 1 } },
      ))
  test('a mask in the place of a new secret is refused', () =>
    void given(shopCreated)
      .when(creation({ request: { ...request, using: { api_key: '******' } } }))
      .refuses('wrong_arguments', 'api_key'))
  test('refuses an option that the engine does not have, and a value that it cannot use', () => {
    given(shopCreated)
      .when(creation({ request: { ...request, using: { confidense: 0.8 } } }))
      .refuses('wrong_arguments', '"confidense" is not an option of the engine auto')
    given(shopCreated)
      .when(creation({ request: { ...request, using: { confidence: '0.8' } } }))
      .refuses('wrong_arguments', '"confidence" is "0.8", expected a number between 0.001 and 0.999')
  })
})

test('what an engine needs is asked for with the statement, also where no option is said', () => {
  given(shopCreated)
    .when(creation({ request: { ...request, engine: 'forecast' } }))
    .refuses('wrong_arguments', '"order_by" is missing')
  had(...complete)
    .when(retrain({ engine: 'forecast' }))
    .refuses('wrong_arguments', '"order_by" is missing')
  given(shopCreated)
    .when(creation({ request: { ...request, using: { group_by: 'a', time_column: 'b' } } }))
    .refuses('wrong_arguments', 'group_by and time_column both')
})

describe('CancelTraining', () => {
  const cancel = (version: number | null = null) => ({ type: 'CancelTraining' as const, data: { ...target, version } })
  const error = 'the training was cancelled; RETRAIN starts it again'
  test('fails the version that waits or runs, which may be named', () => {
    had(requested(1), activated(1))
      .when(cancel())
      .then({ type: 'ModelTrainingFailed', data: { version: 1, error } })
    had(...complete, requested(2), started(2))
      .when(cancel(2))
      .then({ type: 'ModelTrainingFailed', data: { version: 2, error } })
  })
  test('is refused where nothing waits or runs', () => {
    had(...complete)
      .when(cancel())
      .refuses('not_ready', 'version 1 of Churn is not being trained: it has status complete')
    had(...complete, requested(2), started(2))
      .when(cancel(1))
      .refuses('not_ready', 'complete')
    had(...complete)
      .when(cancel(7))
      .refuses('not_found')
    given(shopCreated).when(cancel()).refuses('not_found')
  })
})

describe('RetrainModel', () => {
  test('takes over what is not said anew', () =>
    had(requested(1, { using: { confidence: 0.8 } }), activated(1), trained(1))
      .when(retrain({ tag: 'second', activate: false }))
      .then(requested(2, { using: { confidence: 0.8 }, tag: 'second', activate: false, seed: 8 })))
  test('takes over of the options what the engine has', () =>
    had(requested(1, { using: { k: 1, confidence: 0.8, constructor: 1 } }), activated(1), trained(1))
      .when(retrain({ engine: 'CONSTANT' }))
      .then(requested(2, { engine: 'constant', using: { confidence: 0.8 }, seed: 8 })))
  describe('under a name of the users’ own for an engine', () => {
    const named = (handler: string) => at(mine, { type: 'EngineCreated', data: { name: 'Mine', handler, parameters: {} } })
    const dropped = at(mine, { type: 'EngineDeleted', data: {} })
    const past = (...events: Parameters<typeof churnHad>) => churnHad(requested(1, { engine: 'Mine' }), activated(1), trained(1), ...events)
    test('looks at options though the statement does not name the engine', () => {
      given(shopCreated, named('constant'), ...past())
        .when(retrain({ using: { exclude: 'a' } }))
        .refuses('wrong_arguments', '"exclude" is not an option of the engine constant')
      given(shopCreated, named('constant'), ...past())
        .when(retrain({ using: { confidence: 0.8 } }))
        .then(requested(2, { engine: 'Mine', using: { confidence: 0.8 }, seed: 8 }))
    })
    test('is refused once the name was taken back', () =>
      void given(shopCreated, named('constant'), ...past(), dropped)
        .when(retrain())
        .refuses('not_found', 'no engine "Mine"'))
    test('imports a file where that is what the name stands for, and refuses one where it is not', () => {
      const importing = creation({ request: { ...request, engine: 'mine', query: '', using: { file: 'rent' } } })
      given(shopCreated, named('onnx'))
        .when(importing)
        .then(
          { type: 'ModelCreated', data: { project: shop, name: 'CHURN' } },
          { type: 'ModelTrainingRequested', data: { ...importing.data.request, engine: 'Mine', version: 1 } },
          { type: 'ModelVersionActivated', data: { version: 1 } },
        )
      given(shopCreated, named('linear')).when(importing).refuses('wrong_arguments', 'engine Mine does not import files')
      given(shopCreated, named('onnx'))
        .when(creation({ request: { ...request, engine: 'mine', using: { file: 'rent' } } }))
        .refuses('wrong_arguments', 'it does not learn from rows')
    })
    test('a model of rows is made an imported one, and goes on without their query', () =>
      given(shopCreated, named('onnx'), ...churnHad(requested(1), activated(1), trained(1)))
        .when(retrain({ engine: 'mine', using: { file: 'rent' } }))
        .then(requested(2, { engine: 'Mine', query: '', using: { file: 'rent' }, seed: 8 })))
  })
  test('who said that rows are not to be kept says it for the versions after, until somebody says otherwise', () => {
    const events = [requested(1, { keep_training_data: false }), activated(1), trained(1)]
    had(...events)
      .when(retrain())
      .then(requested(2, { keep_training_data: false, seed: 8 }))
    had(...events)
      .when(retrain({ keep_training_data: true }))
      .then(requested(2, { keep_training_data: true, seed: 8 }))
    had(...events)
      .when(creation({ orReplace: true }))
      .then(requested(2))
  })
  test('of a model of series keeps what it is where other options are said, and says anew what is said', () => {
    const using = { order_by: 'day', group_by: ['shop'], horizon: 7, confidence: 0.8 }
    const series = () => had(requested(1, { engine: 'forecast', using }), activated(1), trained(1))
    series()
      .when(retrain({ using: { horizon: 14 } }))
      .then(requested(2, { engine: 'forecast', using: { order_by: 'day', group_by: ['shop'], horizon: 14 }, seed: 8 }))
    series()
      .when(retrain({ using: { horizon: 0 } }))
      .refuses('wrong_arguments', '"horizon" is 0')
    series()
      .when(creation({ request: { ...request, engine: 'forecast', using: { order_by: 'day', horizon: 3 } }, orReplace: true }))
      .then(requested(2, { engine: 'forecast', using: { order_by: 'day', horizon: 3 } }))
  })
  test('of series and of tables takes over no option of the other that means something else there', () => {
    had(requested(1, { using: { group_by: 'house', confidence: 0.8 } }), activated(1), trained(1))
      .when(retrain({ engine: 'forecast', using: { order_by: 'day', horizon: 14 } }))
      .then(requested(2, { engine: 'forecast', using: { order_by: 'day', horizon: 14 }, seed: 8 }))
    const using = { order_by: 'day', group_by: ['shop'], horizon: 7, confidence: 0.8 }
    had(requested(1, { engine: 'forecast', using }), activated(1), trained(1))
      .when(retrain({ engine: 'linear' }))
      .then(requested(2, { engine: 'linear', using: { confidence: 0.8 }, seed: 8 }))
    had(requested(1, { using: { group_by: 'house', confidence: 0.8 } }), activated(1), trained(1))
      .when(retrain({ engine: 'linear' }))
      .then(requested(2, { engine: 'linear', using: { group_by: 'house', confidence: 0.8 }, seed: 8 }))
  })
  test('a mask sent back in USING keeps the secret', () => {
    const using = (token: unknown) => ({ file: 'rent', example: { token, age: 3 } })
    had(requested(1, { engine: 'onnx', query: '', using: using(secret) }), activated(1), trained(1))
      .when(retrain({ using: using('******') }))
      .then(requested(2, { engine: 'onnx', query: '', using: using(secret), seed: 8 }))
  })
  test('of a model whose trainings all failed keeps whether rows are recorded, unless it is created as a new one', () => {
    const off = { type: 'ModelRecordingChanged' as const, data: { recording: 'off' as const } }
    const activatedNext = { type: 'ModelVersionActivated' as const, data: { version: 2 } }
    const failedModel = () => had(requested(1), activated(1), off, failed(1))
    failedModel()
      .when(creation({ orReplace: true }))
      .then(requested(2), activatedNext)
    failedModel()
      .when(creation())
      .then(requested(2), activatedNext, { type: 'ModelRecordingChanged', data: { recording: 'all' } })
  })
  test('is refused while a version is generating or training, not after one failed', () => {
    had(requested(1), activated(1)).when(retrain()).refuses('not_ready', 'generating')
    had(requested(1), activated(1), started(1)).when(retrain()).refuses('not_ready', 'training')
    had(requested(1), activated(1), failed(1))
      .when(retrain())
      .then(requested(2, { seed: 8 }))
  })
  test('the number of a deleted version is not given again', () =>
    had(...complete, requested(2), trained(2), { type: 'ModelVersionDeleted', data: { version: 2 } })
      .when(retrain())
      .then(requested(3, { seed: 8 })))
  test('there is a highest number of versions', () => {
    const version: ModelVersion = { version: 1, ...request, status: 'complete', error: null, result: null }
    const versions = Array.from({ length: limits.modelMaxVersions }, () => version)
    const recording = 'all' as const
    const state = { project: shop, name: 'Churn', active: 1, latest: limits.modelMaxVersions, recording, versions }
    const common = { id: 2, version: 9, created_at: '', updated_at: '' }
    const facts = {
      project: { kind: 'project' as const, stream: shop, state: { name: 'Shop' }, ...common },
      model: { kind: 'model' as const, stream: churn, state, ...common },
      ...{ asView: undefined, asModel: undefined, asAgent: undefined, asKnowledgeBase: undefined },
      engine: undefined,
    }
    expect(() => modelDecider.decide(retrain(), facts)).toThrow(`has ${limits.modelMaxVersions} versions`)
  })
  test('is refused for a model that is not there', () => void given(shopCreated).when(retrain()).refuses('not_found'))
})

describe('what a training says', () => {
  const at = { stream: churn, version: 1 }
  const completes = (version = 1) => ({ type: 'CompleteTraining' as const, data: { stream: churn, version, result: result(version) } })

  test('starts once', () => {
    had(requested(1)).when({ type: 'StartTraining', data: at }).then(started(1))
    had(requested(1), started(1)).when({ type: 'StartTraining', data: at }).then()
  })
  test('completes, and is activated when that was asked and another answers', () => {
    had(requested(1), activated(1), started(1)).when(completes()).then(trained(1))
    had(...complete, requested(2), started(2))
      .when(completes(2))
      .then(trained(2), activated(2))
    had(...complete, requested(2, { activate: false }), started(2))
      .when(completes(2))
      .then(trained(2))
  })
  test('fails, with a reason', () =>
    had(requested(1), started(1))
      .when({ type: 'FailTraining', data: { ...at, error: 'no rows' } })
      .then(failed(1)))
  test('says nothing any more when it ended already', () => {
    had(...complete)
      .when(completes())
      .then()
    had(...complete)
      .when({ type: 'FailTraining', data: { ...at, error: 'late' } })
      .then()
    had(requested(1), failed(1)).when(completes()).then()
  })
  test('says nothing any more when its version or model is gone, though the name lives on', () => {
    had(...complete, requested(2), { type: 'ModelVersionDeleted', data: { version: 2 } })
      .when(completes(2))
      .then()
    const gone = [...churnHad(requested(1), { type: 'ModelDeleted', data: {} })]
    given(shopCreated, ...gone)
      .when(completes())
      .then()
    const another = { stream: monthlyCreated.stream, event: { type: 'ModelCreated' as const, data: { project: shop, name: 'Churn' } } }
    given(shopCreated, ...gone, another, { stream: another.stream, event: requested(1) })
      .when(completes())
      .then()
  })
})

describe('versions', () => {
  const activate = (version: number) => ({ type: 'ActivateModelVersion' as const, data: { ...target, version } })
  const remove = (version: number) => ({ type: 'DeleteModelVersion' as const, data: { ...target, version } })
  test('only a complete one is activated; the active one again is nothing', () => {
    had(...complete, requested(2), trained(2))
      .when(activate(2))
      .then(activated(2))
    had(...complete)
      .when(activate(1))
      .then()
    had(...complete, requested(2))
      .when(activate(2))
      .refuses('not_ready', 'generating')
    had(...complete, requested(2), failed(2))
      .when(activate(2))
      .refuses('not_ready', 'error')
    had(...complete)
      .when(activate(9))
      .refuses('not_found', 'no version 9')
  })
  test('any but the active one is deleted', () => {
    had(...complete, requested(2), trained(2))
      .when(remove(2))
      .then({ type: 'ModelVersionDeleted', data: { version: 2 } })
    had(...complete, requested(2), trained(2), activated(2))
      .when(remove(2))
      .refuses('not_empty', 'active version')
    had(...complete)
      .when(remove(2))
      .refuses('not_found')
  })
})

describe('DeleteModel', () => {
  test('deletes all of it; IF EXISTS does nothing when it is not there', () => {
    had(...complete)
      .when({ type: 'DeleteModel', data: target })
      .then({ type: 'ModelDeleted', data: {} })
    given(shopCreated)
      .when({ type: 'DeleteModel', data: { ...target, ifExists: true } })
      .then()
    given(shopCreated).when({ type: 'DeleteModel', data: target }).refuses('not_found')
  })
})
