import { expect, test } from '@jest/globals'
import { opened, undoAll, undoTogether } from '../../src/basics/undo.js'

test('every step is carried out, the last one first, and all errors are told', async () => {
  const done: string[] = []
  const step = (name: string, error?: Error) => async () => {
    await Promise.resolve()
    done.push(name)
    if (error !== undefined) throw error
  }
  const [full, gone] = [new Error('the disk is full'), new Error('it is gone')]
  const told: unknown = await undoAll([step('a'), step('b', full), step('c'), step('d', gone), () => done.push('e')]).catch(
    (error: unknown) => error,
  )
  expect(done).toEqual(['e', 'd', 'c', 'b', 'a'])
  expect(told).toMatchObject({ errors: [gone, full], message: '2 steps failed: it is gone; the disk is full' })
})

test('steps that do well say nothing', async () => {
  await expect(undoAll([() => 1, async () => Promise.resolve(2)])).resolves.toBeUndefined()
})

test('steps at the same time are all begun at once, each is waited for, and all errors are told', async () => {
  const done: string[] = []
  const [early, late] = [new Error('the disk is full'), new Error('it is gone')]
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const undoing = undoTogether([
    () => {
      throw early
    },
    () => held.then(() => done.push('b')),
    async () => {
      done.push('c')
      release()
      await held
      throw late
    },
  ]).catch((error: unknown) => error)
  expect(await undoing).toMatchObject({ errors: [early, late], message: '2 steps failed: the disk is full; it is gone' })
  expect(done).toEqual(['c', 'b'])
})

test('parts are closed once, however often they are stopped, with what was opened later', async () => {
  const done: string[] = []
  const { stop, open } = await opened((undo) => {
    undo(() => done.push('a'))
    return { open: () => undo(() => done.push('b')) }
  })
  open()
  await Promise.all([stop(), stop()])
  await stop()
  expect(done).toEqual(['b', 'a'])
})

test('an error of opening comes with the errors of closing what was open already', async () => {
  const [gone, full] = [new Error('it is gone'), new Error('the disk is full')]
  const opening = (close: () => void): Promise<unknown> =>
    opened((undo) => {
      undo(close)
      throw gone
    })
  await expect(opening(() => undefined)).rejects.toBe(gone)
  const both = opening(() => {
    throw full
  })
  await expect(both).rejects.toMatchObject({
    message: 'it is gone; and not all could be undone: 1 steps failed: the disk is full',
    errors: [gone, { errors: [full] }],
  })
})
