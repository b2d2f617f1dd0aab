import type { Event } from '@event-driven-io/emmett'
import { expect, test } from '@jest/globals'
import { growingWait } from '../../../src/basics/concurrency/growing-wait.js'
import { Problem } from '../../../src/basics/errors.js'
import { eventStore } from '../../../src/log/emmett/event-store.js'
import { startLastingProcessor, usualBounds, type FailedEvent, type ReactionBounds } from '../../../src/log/emmett/lasting-processor.js'
import { origin, withLog, type OpenLog } from '../../support/log/log.js'
import { until } from '../../support/until.js'

const issued = (amount: number): Event => ({ type: 'InvoiceIssued', data: { amount } })
const append = ({ log }: OpenLog, ...events: Event[]) => eventStore(log, origin).appendToStream('invoice-1', events)

/** A processor over invoices, which fails at some amounts the first time. It notes amounts and errors. */
const noting = ({ log }: OpenLog, after: number, ...failing: number[]) => {
  const seen: unknown[] = []
  const errors: unknown[] = []
  const processor = startLastingProcessor(log, {
    processorId: 'notes',
    canHandle: ['InvoiceIssued'],
    after,
    eachMessage: ({ data }) => {
      const { amount } = data as { amount: number }
      seen.push(amount)
      if (failing[0] === amount) throw new Error(`cut off at ${failing.shift()}`)
    },
    onFailed: (error) => errors.push(error),
  })
  return { seen, errors, processor }
}

/** A reaction to invoices that throws what `faultOf` gives for an amount. It notes what it was given, what it handled, and failures. */
const reacting = ({ log }: OpenLog, faultOf: (amount: number) => Error | undefined, bounds: Partial<ReactionBounds> = {}) => {
  const seen: number[] = []
  const handled: number[] = []
  const failed: (FailedEvent | undefined)[] = []
  const reaction = startLastingProcessor(log, {
    processorId: 'notes',
    canHandle: ['InvoiceIssued'],
    after: 0,
    eachMessage: ({ data }) => {
      const { amount } = data as { amount: number }
      seen.push(amount)
      const fault = faultOf(amount)
      if (fault) throw fault
      handled.push(amount)
    },
    onFailed: (_, one) => failed.push(one),
    bounds: { triesMax: 3, firstWaitMs: 1, maxWaitMs: 1, ...bounds },
  })
  return { seen, handled, failed, reaction }
}

test('an error starts it again with the event that it did not finish, and the events before are not seen again', () =>
  withLog(async (open) => {
    await append(open, issued(1), issued(2), issued(3))
    const { seen, errors, processor } = noting(open, 0, 2, 4)
    await until(() => seen.includes(3))
    await append(open, issued(4), issued(5))
    await until(() => seen.includes(5))
    expect(seen).toEqual([1, 2, 2, 3, 4, 4, 5])
    expect(errors).toEqual([new Error('cut off at 2'), new Error('cut off at 4')])
    await processor.stop()
  }))

test('an error before its first event does not take it back to the beginning of the log', () =>
  withLog(async (open) => {
    await append(open, issued(1), issued(2), issued(3))
    const head = open.log.head.bind(open.log)
    let failures = 1
    open.log.head = () => (failures-- > 0 ? Promise.reject(new TypeError('no head')) : head())
    const { seen, errors, processor } = noting(open, 2)
    await until(() => seen.length > 0)
    expect(seen).toEqual([3])
    expect(errors).toEqual([new TypeError('no head')])
    await processor.stop()
  }))

test('a stop ends it, also while it waits to start again', () =>
  withLog(async (open) => {
    const { seen, errors, processor } = noting(open, 0, 1)
    await append(open, issued(1))
    await until(() => errors.length > 0)
    await processor.stop()
    await append(open, issued(2))
    const later = noting(open, 1)
    await until(() => later.seen.length > 0)
    await later.processor.stop()
    expect(seen).toEqual([1])
  }))

test('an event whose reaction always fails is set aside after its tries, and later events come', () =>
  withLog(async (open) => {
    await append(open, issued(1), issued(2), issued(3))
    const { seen, failed, reaction } = reacting(open, (amount) => (amount === 2 ? new Error('always') : undefined))
    await until(() => seen.includes(3))
    expect(seen).toEqual([1, 2, 2, 2, 3])
    const about = { position: 2, type: 'InvoiceIssued' }
    expect(failed).toEqual([
      { ...about, tries: 1, isSetAside: false },
      { ...about, tries: 2, isSetAside: false },
      { ...about, tries: 3, isSetAside: true },
    ])
    expect(reaction.setAside).toBe(1)
    expect(reaction.warning()).toContain('the reaction "notes" set an event aside: position 2 (InvoiceIssued)')
    await reaction.stop()
  }))

test('an event that was set aside is tried again later, and handled once', () =>
  withLog(async (open) => {
    await append(open, issued(1), issued(2), issued(3))
    let isBroken = true
    const fault = (amount: number) => (amount === 2 && isBroken ? new Error('for now') : undefined)
    const { handled, failed, reaction } = reacting(open, fault, { againMs: 1 })
    // It fails once more after it was set aside.
    await until(() => handled.includes(3) && (failed.at(-1)?.tries ?? 0) > 3)
    isBroken = false
    await until(() => reaction.setAside === 0)
    await append(open, issued(4))
    await until(() => handled.includes(4))
    expect(handled).toEqual([1, 3, 2, 4])
    expect(reaction.warning()).toBeUndefined()
    await reaction.stop()
  }))

test('a log that is busy sets no event aside', () =>
  withLog(async (open) => {
    await append(open, issued(1), issued(2))
    let refusals = 10
    const busy = () => (refusals-- > 0 ? new Problem('storage_failed', 'Storage failed', 'for a moment') : undefined)
    const { handled, failed, reaction } = reacting(open, busy)
    await until(() => handled.includes(2))
    expect(handled).toEqual([1, 2])
    expect(failed.map((one) => [one?.position, one?.tries, one?.isSetAside])).toEqual(Array(10).fill([1, 0, false]))
    await reaction.stop()
  }))

test('when as many events are set aside as may be, the next one that fails waits until it is handled', () =>
  withLog(async (open) => {
    await append(open, issued(1), issued(2), issued(3))
    let isBroken = true
    const fault = (amount: number) => (amount === 1 || (amount === 2 && isBroken) ? new Error('no') : undefined)
    const { seen, handled, reaction } = reacting(open, fault, { setAsideMax: 1 })
    await until(() => seen.filter((amount) => amount === 2).length > 10)
    expect([reaction.setAside, handled]).toEqual([1, []])
    isBroken = false
    await until(() => handled.includes(3))
    expect([reaction.setAside, handled]).toEqual([1, [2, 3]])
    await reaction.stop()
  }))

test('the waits between tries grow up to a limit', () => {
  expect([1, 2, 3, 4, 9].map((tries) => growingWait(tries, usualBounds))).toEqual([1_000, 2_000, 4_000, 8_000, 60_000])
  expect(growingWait(5_000, usualBounds)).toBe(60_000)
})
