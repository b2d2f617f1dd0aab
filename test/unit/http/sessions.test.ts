import { createHash } from 'node:crypto'
import { expect, jest, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../../src/basics/limits.js'
import { Sessions, StoreAwayError, type SessionStore } from '../../../src/http/login/sessions.js'

/** The shared sessions in memory, with a failure of every question while the test sets one. */
const storeOf = () => {
  const actors = new Map<string, string>()
  const state: { failure: Error | undefined; asked: number } = { failure: undefined, asked: 0 }
  const answer = async <T>(value: T): Promise<T> => {
    state.asked += 1
    if (state.failure) throw state.failure
    return value
  }
  const store: SessionStore = {
    proofOf: (beginning) => createHash('sha256').update('the key of all nodes').update(beginning).digest(),
    add: async (login, actor) => {
      await answer(undefined)
      actors.set(login, actor)
    },
    actorOf: (login) => answer(actors.get(login)),
    remove: async (login) => {
      await answer(undefined)
      actors.delete(login)
    },
  }
  return { store, state }
}

const user = { username: 'me', password: 'secret' }
const gone = () => new StoreAwayError('connect ECONNREFUSED')
const refused = { code: 'behind', title: 'Logins away' }

/** Sessions of one process, whose clock the test moves, and of others that share their store. */
const sessionsOf = (readsLocally: boolean) => {
  const { store, state } = storeOf()
  const time = { ms: 1_000 }
  const elapsed = () => time.ms
  const pass = (ms: number) => (time.ms += ms)
  const another = () => new Sessions(user, { store, readsLocally, elapsed })
  return { sessions: another(), another, state, pass }
}
const enter = (sessions: Sessions) => sessions.login('me', 'secret', '127.0.0.1')

test('with local reads a session that was valid outlives its store for a bounded time, and counts again when the store is back', async () => {
  const { sessions, another, state, pass } = sessionsOf(true)
  const token = await enter(sessions)
  const unseen = await enter(another())
  state.failure = gone()
  pass(limits.sessionLookMs + 1)
  expect(await sessions.actorOf(token)).toBe('me')
  await expect(sessions.actorOf(unseen)).rejects.toMatchObject(refused)
  await expect(another().actorOf(token)).rejects.toMatchObject(refused)
  pass(limits.sessionAwayMaxMs - limits.sessionLookMs - 1)
  expect(await sessions.actorOf(token)).toBe('me')
  pass(limits.sessionLookMs + 1)
  await expect(sessions.actorOf(token)).rejects.toMatchObject(refused)
  await expect(sessions.actorOf(token)).rejects.toMatchObject(refused)
  state.failure = undefined
  expect(await sessions.actorOf(token)).toBe('me')
  state.failure = gone()
  pass(limits.sessionAwayMaxMs)
  expect(await sessions.actorOf(token)).toBe('me')
})

test('while the store is away only one request of a session asks it in a while', async () => {
  const { sessions, state, pass } = sessionsOf(true)
  const token = await enter(sessions)
  state.failure = gone()
  pass(limits.sessionLookMs + 1)
  state.asked = 0
  for (let n = 0; n < 5; n++) expect(await sessions.actorOf(token)).toBe('me')
  expect(state.asked).toBe(1)
})

test('a session that ended at another node meanwhile ends when the store is back', async () => {
  const { sessions, another, state, pass } = sessionsOf(true)
  const token = await enter(sessions)
  state.failure = gone()
  pass(limits.sessionLookMs + 1)
  expect(await sessions.actorOf(token)).toBe('me')
  state.failure = undefined
  await another().logout(token)
  pass(limits.sessionLookMs + 1)
  expect(await sessions.actorOf(token)).toBeUndefined()
})

test('a logout here is kept while the store is away', async () => {
  const { sessions, state } = sessionsOf(true)
  const token = await enter(sessions)
  state.failure = gone()
  await expect(sessions.logout(token)).rejects.toMatchObject(refused)
  await expect(sessions.actorOf(token)).rejects.toMatchObject(refused)
})

test('without local reads, or when the store answers with an error, a session that cannot be looked up is refused', async () => {
  const newest = sessionsOf(false)
  const token = await enter(newest.sessions)
  newest.state.failure = gone()
  newest.pass(limits.sessionLookMs + 1)
  await expect(newest.sessions.actorOf(token)).rejects.toMatchObject(refused)

  const local = sessionsOf(true)
  const other = await enter(local.sessions)
  local.state.failure = new Error('permission denied for table logins')
  local.pass(limits.sessionLookMs + 1)
  await expect(local.sessions.actorOf(other)).rejects.toMatchObject(refused)
  local.state.failure = gone()
  await expect(local.sessions.actorOf(other)).rejects.toMatchObject(refused)
  local.state.failure = undefined
  expect(await local.sessions.actorOf(other)).toBe('me')
})

test('only tokens that a node made are looked up', async () => {
  const { sessions, another, state } = sessionsOf(false)
  const token = await enter(another())
  const beginning = token.slice(0, 24)
  const madeUp = [`pat_${'x'.repeat(43)}`, `${beginning}${'x'.repeat(47 - beginning.length)}`, token.replace(/.$/, '!'), '']
  state.asked = 0
  for (const one of madeUp) {
    expect(await sessions.actorOf(one)).toBeUndefined()
    await sessions.logout(one)
  }
  expect(state.asked).toBe(0)
  expect(await sessions.actorOf(token)).toBe('me')
  expect(state.asked).toBe(1)
})

test('failed logins count until a minute after the first of them, also while more come', async () => {
  const sessions = new Sessions(user)
  const clock = jest.spyOn(performance, 'now')
  try {
    for (let i = 0; i < 2 * limits.loginMaxFailuresPerMinute; i++) {
      clock.mockReturnValue(1_000 + i * 50_000)
      // The counts look at the clock at most once in a millisecond.
      await sleep(5)
      await expect(sessions.login('me', 'wrong', '127.0.0.1')).rejects.toMatchObject({ code: 'unauthorized' })
    }
  } finally {
    clock.mockRestore()
  }
})
