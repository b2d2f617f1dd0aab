import { expect, test } from '@jest/globals'
import { Pulse } from '../../src/sql-process/pulse.js'

/** A process that answers at once, or not. */
const subject = () => {
  const child = {
    heardAt: 0,
    answers: true,
    ping: () => {
      if (child.answers) child.heardAt = performance.now()
    },
  }
  return child
}

const beat = (pulse: Pulse, times: number) => {
  for (let n = 0; n < times; n++) pulse.beat()
}

test('a process is silent when as many signs of life in turn were asked for in vain, until it gives one', () => {
  const child = subject()
  const pulse = new Pulse(child, 3)
  beat(pulse, 10)
  expect(pulse.isSilent).toBe(false)
  child.answers = false
  beat(pulse, 3)
  expect(pulse.isSilent).toBe(false)
  beat(pulse, 1)
  expect(pulse.isSilent).toBe(true)
  child.answers = true
  beat(pulse, 2)
  expect(pulse.isSilent).toBe(false)
})

test('one that has not said anything yet is waited for longer', () => {
  const child = subject()
  child.answers = false
  const pulse = new Pulse(child, 3)
  beat(pulse, 36)
  expect(pulse.isSilent).toBe(false)
  beat(pulse, 1)
  expect(pulse.isSilent).toBe(true)
})
