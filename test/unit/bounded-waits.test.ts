import { expect, jest, test } from '@jest/globals'
import { getEventListeners } from 'node:events'
import { abortWith, withDeadline } from '../../src/basics/concurrency/bounded-waits.js'

const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length

test('a controller aborts with the first of some signals, and for its reason', () => {
  const [ends, gone, stopping] = [new AbortController(), new AbortController(), new AbortController()]
  abortWith(ends, [gone.signal, stopping.signal])
  stopping.abort('stopped')
  gone.abort('left')
  expect(ends.signal.reason).toBe('stopped')
  const late = new AbortController()
  abortWith(late, [new AbortController().signal, gone.signal])
  expect(late.signal.reason).toBe('left')
})

test('a signal that outlives some work keeps nothing of it', async () => {
  const any = jest.spyOn(AbortSignal, 'any')
  try {
    const [ends, stopping] = [new AbortController(), new AbortController()]
    const release = abortWith(ends, [stopping.signal])
    expect(listeners(stopping)).toBe(1)
    release()
    expect(await withDeadline(60_000, stopping.signal, () => Promise.resolve(listeners(stopping)))).toBe(1)
    await expect(withDeadline(60_000, stopping.signal, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(listeners(stopping)).toBe(0)
    expect(any).not.toHaveBeenCalled()
    stopping.abort()
    expect(ends.signal.aborted).toBe(false)
  } finally {
    any.mockRestore()
  }
})
