import { describe, expect, test } from '@jest/globals'
import { CommandHandler, getInMemoryEventStore } from '@event-driven-io/emmett'
import { evolve, kinds } from '../../../events/catalogue/catalogue.js'
import type { Skill, SkillEvent } from '../../../events/skill.js'
import { deciders } from '../../../src/commands/deciders.js'
import { handlers } from '../../../src/commands/dispatch.js'
import { rollbackKinds, rollbackTypeOf } from '../../../src/commands/rollback.js'
import { skillDecider } from '../../../src/commands/skill.js'
import { shop, shopCreated } from './samples.js'

describe('deciders', () => {
  test('each command is decided by one kind', () => {
    const types = Object.values(deciders).flatMap(({ commands }) => Object.keys(commands))
    expect(types).toEqual([...new Set(types)])
    for (const [kind, { commands }] of Object.entries(deciders))
      for (const type of Object.keys(commands))
        expect(handlers[type as keyof typeof handlers].subject).toBe(kinds.find((known) => known === kind))
  })

  test('each kind whose decider says the way back has a command for it; models and projects have none', () => {
    for (const kind of rollbackKinds) expect(handlers[rollbackTypeOf(kind)].subject).toBe(kind)
    expect(rollbackKinds).toEqual(expect.arrayContaining(['skill', 'file', 'job']))
    expect(rollbackKinds).not.toEqual(expect.arrayContaining(['model']))
    expect(rollbackKinds).not.toEqual(expect.arrayContaining(['project']))
  })

  test('a decider folds as the catalogue of events does, from nothing', () => {
    expect(skillDecider.initialState()).toBeUndefined()
    const created = { type: 'SkillCreated', data: { project: shop, name: 'Sales', type: 'sql', params: {} } } as const
    expect(skillDecider.evolve(skillDecider.initialState(), created)).toEqual(evolve('skill', undefined, created))
  })

  test("a decider's parts are what emmett's command handler takes", async () => {
    const { initialState, evolve: fold, decide } = skillDecider
    const handle = CommandHandler<Skill | undefined, SkillEvent>({ initialState, evolve: fold })
    const project = { kind: 'project', stream: shop, id: 1, version: 1, created_at: '', updated_at: '', state: { name: 'Shop' } } as const
    const data = { project: 'Shop', skill: 'Sales', type: 'sql', params: {} }
    const facts = { project, skill: undefined, clash: undefined }
    const { newState } = await handle(
      getInMemoryEventStore(),
      'skill-1',
      () => decide({ type: 'CreateSkill', data }, facts) as SkillEvent[],
    )
    expect(newState).toMatchObject({ project: shopCreated.stream, name: 'Sales' })
  })
})
