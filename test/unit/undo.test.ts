import { expect, test } from '@jest/globals'
import { undoAll } from '../../src/basics/undo.js'

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
