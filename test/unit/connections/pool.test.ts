import { EventEmitter, once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { Pools } from '../../../src/connections/process/pools.js'
import { Pool } from '../../../src/connections/process/pool.js'
import type { DatabaseSession, Surroundings } from '../../../src/connections/engines/contract/engine.js'

const never = new AbortController().signal

const sessions = () => {
  const all: (DatabaseSession & { isLost: boolean; destroyed: boolean })[] = []
  const connect = async (): Promise<DatabaseSession> => {
    const session = {
      ...{
        isAtomic: true,
        isLost: false,
        destroyed: false,
        received: 0,
        check: () => Promise.resolve(),
        tables: () => Promise.reject(new Error()),
      },
      ...{
        columns: () => Promise.reject(new Error()),
        everyColumn: () => Promise.reject(new Error()),
        open: () => Promise.reject(new Error()),
        cancel: () => Promise.resolve(),
      },
      destroy: () => {
        session.destroyed = true
      },
    }
    all.push(session)
    return session
  }
  return { all, connect }
}

describe('a pool', () => {
  test('gives a clean session again, and closes one that is not', async () => {
    const { all, connect } = sessions()
    const pool = new Pool(connect)
    const one = await pool.acquire(never)
    pool.release(one, true)
    expect(await pool.acquire(never)).toBe(one)
    pool.release(one, false)
    expect(all[0]?.destroyed).toBe(true)
    expect(await pool.acquire(never)).not.toBe(one)
  })

  test('passes over sessions that were lost while nobody used them', async () => {
    const { all, connect } = sessions()
    const pool = new Pool(connect)
    pool.release(await pool.acquire(never), true)
    if (all[0]) all[0].isLost = true
    await pool.acquire(never)
    expect(all).toHaveLength(2)
    pool.close()
  })

  test('has a bound, and who waits gets the next session that comes back, in order', async () => {
    const { all, connect } = sessions()
    const pool = new Pool(connect)
    const held = await Promise.all(Array.from({ length: limits.connectionPoolMaxConnections }, () => pool.acquire(never)))
    const order: number[] = []
    const first = pool.acquire(never).then((session) => {
      order.push(1)
      return session
    })
    const second = pool.acquire(never).then((session) => {
      order.push(2)
      return session
    })
    for (const session of held.slice(0, 1)) pool.release(session, true)
    expect(await first).toBe(held[0])
    // One that is closed makes room for a new one.
    for (const session of held.slice(1, 2)) pool.release(session, false)
    expect(all).toContain(await second)
    expect([order, all.length]).toEqual([[1, 2], limits.connectionPoolMaxConnections + 1])
  })

  test('who does not wait for a connection to open leaves at once, and the next one has it', async () => {
    const { all, connect } = sessions()
    const open = new EventEmitter()
    const pool = new Pool(async () => {
      await once(open, 'open')
      return connect()
    })
    const leave = new AbortController()
    const waiting = pool.acquire(leave.signal)
    leave.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    expect(pool.isIdle).toBe(false)
    open.emit('open')
    await setImmediate()
    expect(pool.isIdle).toBe(true)
    expect(await pool.acquire(never)).toBe(all[0])
  })

  test('who does not wait any more leaves the queue', async () => {
    const { connect } = sessions()
    const pool = new Pool(connect)
    const held = await Promise.all(Array.from({ length: limits.connectionPoolMaxConnections }, () => pool.acquire(never)))
    const leave = new AbortController()
    const waiting = pool.acquire(leave.signal)
    leave.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    for (const session of held) pool.release(session, true)
    expect(pool.isIdle).toBe(true)
    pool.close()
  })

  test('a connection that fails is told, and does not count', async () => {
    let fails = true
    const { connect } = sessions()
    const pool = new Pool(async () => {
      if (fails) throw new Error('refused')
      return connect()
    })
    for (let i = 0; i < 10; i++) await expect(pool.acquire(never)).rejects.toThrow('refused')
    fails = false
    await pool.acquire(never)
    expect(pool.isIdle).toBe(false)
  })
})

describe('a pool, over time', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask', 'performance', 'hrtime'] })
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  test('closes a session that nobody uses any more', async () => {
    const { all, connect } = sessions()
    const pool = new Pool(connect)
    const one = await pool.acquire(never)
    pool.release(one, true)
    jest.advanceTimersByTime(limits.connectionIdleMaxMs - 1)
    expect(await pool.acquire(never)).toBe(one)
    // One that is used is not idle.
    jest.advanceTimersByTime(limits.connectionIdleMaxMs)
    expect(all[0]?.destroyed).toBe(false)
    pool.release(one, true)
    jest.advanceTimersByTime(limits.connectionIdleMaxMs)
    expect([all[0]?.destroyed, pool.isIdle]).toEqual([true, true])
    expect(await pool.acquire(never)).not.toBe(one)
  })

  test('refuses who waits too long, and who comes while too many wait', async () => {
    const { connect } = sessions()
    const pool = new Pool(connect)
    const held = await Promise.all(Array.from({ length: limits.connectionPoolMaxConnections }, () => pool.acquire(never)))
    const waiting = Promise.allSettled(Array.from({ length: limits.connectionQueueMaxRequests }, () => pool.acquire(never)))
    await expect(pool.acquire(never)).rejects.toMatchObject({ code: 'busy', detail: expect.stringContaining('connectionQueueMaxRequests') })
    jest.advanceTimersByTime(limits.connectionQueueWaitMs - 1)
    // One of them is still in time.
    for (const session of held.slice(0, 1)) pool.release(session, true)
    jest.advanceTimersByTime(1)
    const [first, ...others] = await waiting
    expect(first).toEqual({ status: 'fulfilled', value: held[0] })
    for (const other of others)
      expect(other).toMatchObject({ reason: { code: 'busy', detail: expect.stringContaining('connectionQueueWaitMs') as unknown } })
  })
})

test('statements under way do not keep a question about tables waiting, and get none of its session', async () => {
  const { all, connect } = sessions()
  const pools = new Pools({} as Surroundings, connect)
  const connection = { id: 'pg', version: 1, engine: 'postgres', parameters: {} }
  const question = await pools.forQuestion(connection).acquire(never)
  pools.forQuestion(connection).release(question, true)
  const busy = await Promise.all(
    Array.from({ length: limits.connectionPoolMaxConnections }, () => pools.forStatement(connection).acquire(never)),
  )
  expect(all).toHaveLength(limits.connectionPoolMaxConnections)
  const waiting = pools.forStatement(connection).acquire(never)
  const asked = pools.forQuestion(connection)
  const session = await asked.acquire(never)
  expect(busy).not.toContain(session)
  asked.release(session, true)
  const [first] = busy
  if (first) pools.forStatement(connection).release(first, true)
  expect(await waiting).toBe(first)
  pools.forget(connection.id)
  expect(session).toMatchObject({ destroyed: true })
})
