import { expect, test } from '@jest/globals'
import { databaseOf } from '../../../src/commands/rules/data-source.js'
import { origin, withLog, writes } from '../../support/log/log.js'

test('an earlier name of the own project means the project, unless something has that name now', () =>
  withLog(async ({ log, ledger }) => {
    const create = (project: string) => ledger.execute({ type: 'CreateProject', data: { project } }, origin)
    await create('shop')
    const { stream } = (await log.resources.one('project', 'shop'))!
    await log.submit(writes({ stream, event: { type: 'ProjectRenamed', data: { name: 'depot' } } }))
    const own = (await log.resources.byStream('project', stream))!
    const found = (database: string) => databaseOf(log, { database }, own)
    expect([await found(''), await found('Shop'), await found('files')]).toEqual(['depot', 'depot', 'files'])
    expect(await found('crm')).toBe('crm')
    await create('shop')
    expect(await found('shop')).toBe('shop')
  }))
