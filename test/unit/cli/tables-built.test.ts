import { expect, test } from '@jest/globals'
import { untilTablesBuilt } from '../../../src/cli/access/tables-built.js'

/** A server whose tables are in these states, one after the other, and stay in the last. */
const serverIn = (...states: readonly object[]) => {
  const left = [...states]
  return { get: async () => ({ status: 503, body: { sql: left.length > 1 ? left.shift() : left[0] } }), left }
}
const out = () => {
  const said: string[] = []
  return { said, progress: (text: string) => void said.push(text) }
}

test('a command waits until the tables are built, and says how far they are', async () => {
  const { said, progress } = out()
  const building = (position: number) => ({ state: 'building', reason: `The tables are being built: ${position} of 9 events.` })
  const server = serverIn(building(3), building(6), { state: 'following' })
  await untilTablesBuilt(server, progress)
  expect(said).toEqual(['The tables are being built: 3 of 9 events.', 'The tables are being built: 6 of 9 events.'])
  expect(server.left).toEqual([{ state: 'following' }])
})

test('nothing is waited for where the tables stopped, or a server of another release does not say', async () => {
  for (const state of [{ state: 'stopped', reason: 'at event 7' }, { ready: false }]) {
    const { said, progress } = out()
    await untilTablesBuilt(serverIn(state), progress)
    expect(said).toEqual([])
  }
})
