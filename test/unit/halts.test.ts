import { expect, test } from '@jest/globals'
import { Halts } from '../../src/basics/halts.js'
import { limits } from '../../src/basics/limits.js'

/** Clocks that a test moves. */
const haltsAt = () => {
  const time = { monotonic: 0, wall: 1_000_000 }
  const halts = new Halts({ monotonic: () => time.monotonic, wall: () => time.wall })
  halts.stop()
  const pass = (monotonic: number, wall = monotonic): number => {
    time.monotonic += monotonic
    time.wall += wall
    return halts.count
  }
  return pass
}

test('a gap of either clock is a halt, and a busy while or a clock that is set back is none', () => {
  const pass = haltsAt()
  expect(pass(limits.sharedPollIntervalMs)).toBe(0)
  expect(pass(limits.sharedHaltMs - 1)).toBe(0)
  // SIGSTOP: both go on. A machine that sleeps: the wall clock alone.
  expect(pass(limits.sharedHaltMs)).toBe(1)
  expect(pass(5, 3_600_000)).toBe(2)
  expect(pass(5, -3_600_000)).toBe(2)
  expect(pass(limits.sharedHaltMs, -3_600_000)).toBe(3)
  expect(pass(limits.sharedPollIntervalMs)).toBe(3)
})
