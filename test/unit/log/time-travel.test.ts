import { expect, test } from '@jest/globals'
import type { Resources } from '../../../src/log/contract/log.js'
import { TimeTravel, type ResourcesAt } from '../../../src/log/read/time-travel.js'
import { origin, withLog } from '../../support/log/log.js'

test('what refers to the resources of a page is found without reading them once more', () =>
  withLog(async ({ log, ledger }) => {
    await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
    for (let n = 0; n < 30; n++)
      await ledger.execute({ type: 'CreateSkill', data: { project: 'shop', skill: `s${n}`, type: 'sql', params: {} } }, origin)
    const skills = ['s3', 's7'].map((name) => ({ name, params: {} }))
    const agent = { project: 'shop', agent: 'helper', model_name: 'm', provider: null, skills, params: {} }
    await ledger.execute({ type: 'CreateAgent', data: agent }, origin)
    const { position } = await log.head()
    let reads = 0
    const byStream: Resources['byStream'] = (...asked) => {
      reads++
      return log.resources.byStream(...asked)
    }
    const list: ResourcesAt = async ({ kind = 'skill', page = { after: 0, limit: 1_000 } }) =>
      (await log.resources.list(kind))
        .filter(({ id }) => id > page.after)
        .map(({ stream, id, state }) => ({ stream, kind, id, name: state.name, project: 'project' in state ? state.project : '' }))
    const past = new TimeTravel({
      resources: { ...log.resources, byStream },
      readStream: (...asked) => log.readStream(...asked),
      versionAt: (...asked) => log.versionAt(...asked),
    })
    const then = past.at(position, list)
    const shop = await then.one('project', 'shop')
    const page = await then.page('skill', shop, 0, 100)
    expect(page).toHaveLength(30)
    const before = reads
    const users = new Map<string, string[]>()
    for (const { stream, state } of page)
      users.set(
        state.name,
        (await then.linkedPage('agent', stream, 0, 10)).map((found) => found.state.name),
      )
    expect([users.get('s3'), users.get('s7'), users.get('s8')]).toEqual([['helper'], ['helper'], []])
    // The one agent is read, once.
    expect(reads - before).toBe(1)
  }))
