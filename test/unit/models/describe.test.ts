import { describe, expect, it } from '@jest/globals'
import { modelKind, type Model, type ModelEvent } from '../../../events/model.js'
import { describeModelPlace, type ModelPlace } from '../../../src/sql/facade/describe-model.js'
import { churn, requested, shop, started, trained } from '../commands/samples.js'

const placeOf = (version: number, attribute: string): ModelPlace => {
  const events: ModelEvent[] = [
    { type: 'ModelCreated', data: { project: shop, name: 'Churn' } },
    ...[requested(1), started(1), trained(1), requested(2), started(2)],
  ]
  const state = events.reduce<Model | undefined>(modelKind.evolve, undefined)
  const of = state?.versions.find((each) => each.version === version)
  if (!state || !of) throw new Error('no such version')
  const model = { kind: 'model' as const, stream: churn, state, id: 2, version: 5, created_at: '', updated_at: '' }
  return { project: 'Shop', model, version: of, attribute }
}

describe('DESCRIBE of a model', () => {
  it('says in jobs how far a training is, whichever version is named', () => {
    const rows = describeModelPlace(placeOf(1, 'JOBS'), '1', () => ({ phase: 'folds', done: 12, total: 545 }))
    expect(rows.map(({ version, status, current_phase, done, total }) => [version, status, current_phase, done, total])).toEqual([
      [2, 'training', 'folds', 12, 545],
      [1, 'complete', null, null, null],
    ])
  })

  it('refuses what only a trained version has, and says where to look', () => {
    expect(() => describeModelPlace(placeOf(2, 'metrics'), '1')).toThrow(
      expect.objectContaining({ code: 'not_ready', extras: { hint: 'DESCRIBE Churn.jobs says how far its training is.' } }),
    )
  })
})
