import { describe, expect, test } from '@jest/globals'
import { ServerClock } from '../../../src/log/shared/server-clock.js'

describe("PostgreSQL's clock", () => {
  const clockAt = () => {
    let elapsed = 1_000
    const clock = new ServerClock(() => elapsed)
    return {
      now: () => clock.now(),
      pass: (ms: number) => void (elapsed += ms),
      /** A question that takes so long, answered with the server's time halfway. */
      ask: (serverMs: number, tookMs: number) => {
        const sent = clock.tick()
        elapsed += tookMs
        clock.note(sent, serverMs)
      },
    }
  }

  test('goes on with the time that passes here, from the answer that came quickest', () => {
    const clock = clockAt()
    clock.ask(5_000_000, 2)
    expect(clock.now()).toBe(5_000_001)
    clock.pass(500)
    expect(clock.now()).toBe(5_000_501)
    // A slow answer says less: its time may be off by half of what it took.
    clock.ask(5_000_600, 400)
    expect(clock.now()).toBe(5_000_901)
  })

  test('believes an answer that no error explains: the server’s clock was set', () => {
    const clock = clockAt()
    clock.ask(5_000_000, 2)
    clock.ask(9_000_000, 100)
    expect(clock.now()).toBe(9_000_050)
  })

  test('is this machine’s until the server was asked', () => {
    const before = Date.now()
    const told = clockAt().now()
    expect(told).toBeGreaterThan(before - 1_000)
    expect(told).toBeLessThan(Date.now() + 1_000)
  })
})
