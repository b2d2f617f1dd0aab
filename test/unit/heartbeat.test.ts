import { expect, test } from '@jest/globals'
import { Heartbeat } from '../../src/sql-process/heartbeat.js'

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

const beat = (heartbeat: Heartbeat, times: number) => {
  for (let n = 0; n < times; n++) heartbeat.beat()
}

test('a process is silent when as many signs of life in turn were asked for in vain, until it gives one', () => {
  const child = subject()
  const heartbeat = new Heartbeat(child, 3)
  beat(heartbeat, 10)
  expect(heartbeat.isSilent).toBe(false)
  child.answers = false
  beat(heartbeat, 3)
  expect(heartbeat.isSilent).toBe(false)
  beat(heartbeat, 1)
  expect(heartbeat.isSilent).toBe(true)
  child.answers = true
  beat(heartbeat, 2)
  expect(heartbeat.isSilent).toBe(false)
})

test('one that has not said anything yet is waited for longer', () => {
  const child = subject()
  child.answers = false
  const heartbeat = new Heartbeat(child, 3)
  beat(heartbeat, 36)
  expect(heartbeat.isSilent).toBe(false)
  beat(heartbeat, 1)
  expect(heartbeat.isSilent).toBe(true)
})
