import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { limits } from '../../src/basics/limits.js'
import { recordedAhead, TrustedClock } from '../../src/basics/trusted-clock.js'
import { temporaryDirectory } from '../support/service.js'

const hour = 3_600_000
const day = 24 * hour
const began = Date.parse('2026-01-01T00:00:00Z')

let place: ReturnType<typeof temporaryDirectory>
/** The true time, how far the clock of the machine is off, and how long the machine has been up. */
let machine: { time: number; off: number; up: number }
let recordedAt: number | undefined
beforeEach(() => {
  place = temporaryDirectory()
  machine = { time: began, off: 0, up: 50 * day }
  recordedAt = began
})
afterEach(() => place.remove())

const file = () => join(place.path, 'clock.json')
const wall = () => machine.time + machine.off
const open = () => new TrustedClock({ file: file(), recordedAt: () => recordedAt, now: wall, uptimeMs: () => machine.up })
const pass = (ms: number) => {
  machine.time += ms
  machine.up += ms
}

test('a clock that goes on with the machine is believed, also over a stop of the service', () => {
  const clock = open()
  pass(90 * day)
  expect(clock.now()).toBe(wall())
  clock.stop()
  pass(90 * day)
  const again = open()
  expect(again.now()).toBe(wall())
  expect(again.warning()).toBeUndefined()
})

test('a jump of more than a year is not believed, and told, until it has lasted a week; nor by a restart of the service', () => {
  const clock = open()
  pass(hour)
  machine.off = 400 * day
  expect(clock.now()).toBe(machine.time)
  expect(clock.warning()).toBe('the clock went 400 days ahead; nothing is erased because of that for another 7 days')
  pass(6 * day)
  expect(clock.now()).toBe(machine.time)
  clock.stop()
  recordedAt = wall()
  const again = open()
  expect(again.now()).toBe(machine.time)
  pass(2 * day)
  expect(again.now()).toBe(wall())
  expect(again.warning()).toBeUndefined()
})

test('a jump that is set right in time leaves nothing behind, and the next one is waited for anew', () => {
  const clock = open()
  machine.off = 400 * day
  pass(6 * day)
  expect(clock.now()).toBe(machine.time)
  machine.off = 0
  expect(clock.now()).toBe(machine.time)
  expect(clock.warning()).toBeUndefined()
  machine.off = 300 * day
  pass(6 * day)
  expect(clock.now()).toBe(machine.time)
  machine.off = 20 * day
  pass(2 * day)
  expect(clock.now()).toBe(machine.time)
})

test('a short jump is believed when it has lasted as long as it is wide', () => {
  const clock = open()
  machine.off = 2 * hour
  expect(clock.now()).toBe(machine.time)
  pass(hour)
  expect(clock.now()).toBe(machine.time)
  pass(hour)
  expect(clock.now()).toBe(wall())
  machine.off += limits.clockJumpMinMs
  expect(clock.now()).toBe(wall())
})

test('it is never later than the clock: one that went back is believed at once', () => {
  const clock = open()
  machine.off = -3 * day
  expect(clock.now()).toBe(wall())
  pass(hour)
  machine.off = 0
  expect(clock.now()).toBe(wall())
})

test('a machine that was off, for nobody knows how long, is believed after as long, at most a week', () => {
  open().stop()
  machine.time += 2 * day
  machine.up = 60_000
  const clock = open()
  expect(clock.now()).toBe(began)
  pass(2 * day)
  expect(clock.now()).toBe(wall())
})

test('without a note of what was believed the newest event says it, and an empty log believes the clock', () => {
  const clock = open()
  clock.stop()
  machine.off = 400 * day
  for (const spoil of [() => rmSync(file()), () => writeFileSync(file(), '{"trusted":')]) {
    spoil()
    expect(open().now()).toBe(began)
  }
  rmSync(file())
  recordedAt = undefined
  expect(open().now()).toBe(wall())
})

test('a note that cannot be kept keeps nobody from anything', () => {
  const clock = open()
  place.remove()
  clock.stop()
  expect(clock.now()).toBe(wall())
})

test('recorded times that are ahead of the clock are told', () => {
  recordedAt = began + 400 * day
  expect(open().warning()).toBe('the newest recorded time is 400 days ahead of the clock')
  expect(recordedAhead(began + limits.clockJumpMinMs, began)).toBeUndefined()
})
