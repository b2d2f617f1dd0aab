import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { FrameReader, type Frame } from '../../../src/connections/contract/frames.js'
import type { QueryLimits } from '../../../src/connections/contract/requests.js'
import type { Cursor, DatabaseSession } from '../../../src/connections/engines/contract/engine.js'
import { Answer } from '../../../src/connections/process/answer.js'
import { HeldBytes } from '../../../src/connections/process/held-bytes.js'
import { Pool } from '../../../src/connections/process/pool.js'
import type { SelectRequest } from '../../../src/sql/contract/select.js'
import { ConnectedDatabases } from '../../../src/sql/facade/connected-databases.js'

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask', 'performance', 'hrtime'] })
})
afterEach(() => {
  jest.useRealTimers()
})

/** Lets the clock go on, and everything happen that was waiting for it. */
const pass = async (milliseconds: number): Promise<void> => {
  jest.advanceTimersByTime(milliseconds)
  await setImmediate()
}

const silence = new Promise<never>(() => undefined)

/** An answer of a session whose statement opens as a test says. */
const answerOf = (open: () => Promise<Cursor>, firstRowMs: number = limits.connectionFirstRowTimeoutMs) => {
  const seen = { cancelled: 0, destroyed: 0 }
  const session = {
    ...{ isLost: false, isAtomic: true, received: 0 },
    open: (_: unknown, onSend: (statement: string) => void) => {
      onSend('SELECT 1')
      return open()
    },
    cancel: async () => void (seen.cancelled += 1),
    destroy: () => void (seen.destroyed += 1),
  } as unknown as DatabaseSession
  const socket = new PassThrough()
  const frames: Frame[] = []
  const reader = new FrameReader()
  socket.on('data', (chunk: Buffer) => frames.push(...reader.push(chunk)))
  const limit = { rows: 10, bytes: 1_000, timeMs: limits.connectionStatementTimeoutMs, firstRowMs }
  const request = { query: { native: 'SELECT 1' }, limit, onSend: () => undefined }
  const pool = new Pool(async () => session)
  const answer = new Answer(socket as unknown as Socket, pool, request, new HeldBytes(limits.connectionsReadMaxBytes))
  return { seen, frames, outcome: answer.send() }
}

describe('a database that stays silent', () => {
  test('before the first row: the statement is cancelled at its time, and the error names the limit', async () => {
    const { seen, frames, outcome } = answerOf(() => silence)
    await setImmediate()
    await pass(limits.connectionFirstRowTimeoutMs - 1)
    expect(seen).toEqual({ cancelled: 0, destroyed: 0 })
    await pass(1)
    await pass(1)
    expect(seen.cancelled).toBe(1)
    // It waits a little, because the session may end by itself now.
    await pass(limits.connectionCancelWaitMs)
    expect(await outcome).toMatchObject({ ending: 'cut', sent: 'SELECT 1', rows: 0 })
    await setImmediate()
    expect(seen.destroyed).toBe(1)
    expect(frames).toMatchObject([
      { error: { code: 'query_limit', detail: expect.stringContaining('(connectionFirstRowTimeoutMs)') as unknown } },
    ])
  })

  test('in a training: it may be silent until the time of the whole statement is over', async () => {
    let firstRowMs: number | undefined
    const state = { name: 'pg', engine: 'postgres', parameters: {} }
    const databases = new ConnectedDatabases({
      log: { resources: { byStream: async () => ({ stream: 'pg', version: 1, state }) } },
      connections: {
        open: async (_: unknown, __: unknown, most?: Partial<QueryLimits>) => {
          firstRowMs = most?.firstRowMs
          return { socket: '', ticket: '', ended: silence, leave: () => undefined }
        },
      },
    } as unknown as ConstructorParameters<typeof ConnectedDatabases>[0])
    const question = { connection: '00000000-0000-4000-8000-000000000000', open: { native: 'SELECT 1' } }
    await databases.answer(question, { purpose: 'training' } as unknown as SelectRequest)
    const { seen, frames, outcome } = answerOf(() => silence, firstRowMs)
    await setImmediate()
    await pass(limits.connectionStatementTimeoutMs - 1)
    expect(seen).toEqual({ cancelled: 0, destroyed: 0 })
    await pass(1)
    await pass(1)
    expect(seen.cancelled).toBe(1)
    await pass(limits.connectionCancelWaitMs)
    expect(await outcome).toMatchObject({ ending: 'cut' })
    expect(frames).toMatchObject([{ error: { detail: expect.stringContaining('(connectionStatementTimeoutMs)') as unknown } }])
  })

  test('between two rows: the answer ends at the time of a step, and so does the session', async () => {
    const columns = [{ name: 'a', type: { type: 'BIGINT' } }] as const
    const cursor: Cursor = { columns, sent: 'SELECT 1', next: () => silence, close: async () => false }
    const { seen, frames, outcome } = answerOf(async () => cursor)
    await setImmediate()
    await pass(limits.connectionStallTimeoutMs - 1)
    expect(seen.destroyed).toBe(0)
    await pass(1)
    expect(await outcome).toMatchObject({ ending: 'cut', sent: 'SELECT 1', rows: 0 })
    await setImmediate()
    expect(seen.destroyed).toBeGreaterThan(0)
    expect(frames).toMatchObject([
      { sent: 'SELECT 1' },
      { error: { code: 'query_limit', detail: expect.stringContaining('(connectionStallTimeoutMs)') as unknown } },
    ])
  })
})
