import type { Event } from '@event-driven-io/emmett'
import { expect, test } from '@jest/globals'
import { eventStore } from '../../../src/log/emmett/event-store.js'
import { startLastingProcessor } from '../../../src/log/emmett/lasting-processor.js'
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
