import type { Event } from '@event-driven-io/emmett'
import { expect, test } from '@jest/globals'
import { Problem } from '../../../src/basics/errors.js'
import { limits } from '../../../src/basics/limits.js'
import { eventStore } from '../../../src/log/emmett/event-store.js'
import { startProcessor, type Processor } from '../../../src/log/emmett/processor.js'
import { recordedLog } from '../../../src/log/emmett/recorded-event.js'
import { origin, withLog, type OpenLog } from '../../support/log/log.js'

const issued = (amount: number): Event => ({ type: 'InvoiceIssued', data: { amount } })
const paid: Event = { type: 'InvoicePaid', data: {} }
const append = ({ log }: OpenLog, stream: string, ...events: Event[]) => eventStore(log, origin).appendToStream(stream, events)
const project = ({ ledger }: OpenLog, name: string) => ledger.execute({ type: 'CreateProject', data: { project: name } }, origin)
const head = async ({ log }: OpenLog) => BigInt((await log.head()).position)

/** A processor that notes which events it was given. */
const noting = (options: Partial<Processor> = {}) => {
  const seen: string[] = []
  const processor: Processor = {
    processorId: 'notes',
    eachMessage: ({ type, metadata }) => void seen.push(`${metadata.globalPosition} ${type}`),
    ...options,
  }
  return { seen, processor }
}

test('a processor is given what it can handle, of what was there and of what comes, each once and in order', () =>
  withLog(async (open) => {
    await append(open, 'invoice-1', issued(1), paid)
    await project(open, 'shop')
    const { seen, processor } = noting({ canHandle: ['InvoiceIssued', 'ProjectCreated'] })
    const processing = startProcessor(open.log, processor)
    await processing.reached(3n)
    expect(seen).toEqual(['1 InvoiceIssued', '3 ProjectCreated'])
    await append(open, 'invoice-2', paid)
    await append(open, 'invoice-2', issued(2), paid, issued(3))
    await project(open, 'other')
    await processing.reached(await head(open))
    expect(seen.slice(2)).toEqual(['5 InvoiceIssued', '7 InvoiceIssued', '8 ProjectCreated'])
    await processing.stop()
    await append(open, 'invoice-3', issued(4))
    expect(seen).toHaveLength(5)
    await expect(processing.reached(9n)).rejects.toThrow('the processor notes ended at position 8, before 9')
    await processing.ended
  }))

test('it starts at the first event, behind the last, or behind a position', () =>
  withLog(async (open) => {
    await append(open, 'invoice-1', issued(1), issued(2), issued(3))
    for (const [startFrom, first] of [
      ['BEGINNING', '1'],
      [undefined, '1'],
      ['END', '4'],
      [{ lastCheckpoint: 2n }, '3'],
    ] as const) {
      const { seen, processor } = noting(startFrom === undefined ? {} : { startFrom })
      const processing = startProcessor(open.log, processor)
      // Asked for before it has begun: what comes from now on belongs to everybody.
      if (startFrom === 'END') await append(open, 'invoice-1', issued(4))
      await processing.reached(await head(open))
      await processing.stop()
      expect(seen[0]).toBe(`${first} InvoiceIssued`)
    }
  }))

test('reached resolves for a processor that has nothing left to do when it starts', () =>
  withLog(async (open) => {
    await append(open, 'invoice-1', issued(1), issued(2))
    const checkpoints: NonNullable<Processor['checkpoints']> = {
      read: async () => ({ lastCheckpoint: 2n }),
      store: async () => ({ success: true, newCheckpoint: 2n }),
    }
    const starts: Partial<Processor>[] = [{ startFrom: 'END' }, { startFrom: { lastCheckpoint: 2n } }, { checkpoints }]
    for (const start of starts) {
      const { seen, processor } = noting(start)
      const processing = startProcessor(open.log, processor)
      await processing.reached(await head(open))
      expect([processing.position, seen]).toEqual([2n, []])
      await processing.stop()
    }
  }))

test('with checkpoints it goes on where it was, and sees again what it was cut off in', () =>
  withLog(async (open) => {
    let kept: bigint | null = null
    const checkpoints: NonNullable<Processor['checkpoints']> = {
      read: async ({ processorId }) => ({ lastCheckpoint: processorId === 'notes' ? kept : 99n }),
      store: async ({ message }) => ({ success: true, newCheckpoint: (kept = message.metadata.globalPosition) }),
    }
    await append(open, 'invoice-1', issued(1), paid, issued(2))
    const { seen, processor } = noting({ checkpoints, canHandle: ['InvoiceIssued'] })
    const broken = startProcessor(open.log, {
      ...processor,
      eachMessage: (event, context) => {
        if (event.data['amount'] === 2) throw new Error('cut off')
        return processor.eachMessage(event, context)
      },
    })
    await expect(broken.ended).rejects.toThrow('cut off')
    expect([seen, kept]).toEqual([['1 InvoiceIssued'], 1n])
    const again = startProcessor(open.log, processor)
    await again.reached(3n)
    expect([seen, kept]).toEqual([['1 InvoiceIssued', '3 InvoiceIssued'], 3n])
    await again.stop()
  }))

test('it stops when it says so, and when what it was to stop after has come', () =>
  withLog(async (open) => {
    await append(open, 'invoice-1', issued(1), issued(2), issued(3))
    const after = noting({ stopAfter: ({ data }) => data['amount'] === 2 })
    await startProcessor(open.log, after.processor).ended
    expect(after.seen).toEqual(['1 InvoiceIssued', '2 InvoiceIssued'])
    const stopping = startProcessor(open.log, { processorId: 'stops', eachMessage: () => ({ type: 'STOP' }) })
    await stopping.ended
    expect(stopping.position).toBe(1n)
  }))

test('one message at a time, and what is under way is finished before a stop', () =>
  withLog(async (open) => {
    let [working, most, done] = [0, 0, 0]
    let goOn: () => void = () => undefined
    const isStopping = new Promise<void>((resolve) => (goOn = resolve))
    const processing = startProcessor(open.log, {
      processorId: 'slow',
      eachMessage: async () => {
        most = Math.max(most, ++working)
        await isStopping
        working--
        done++
      },
    })
    await append(open, 'invoice-1', issued(1), issued(2), issued(3))
    while (working === 0) await new Promise((resolve) => setImmediate(resolve))
    const stopped = processing.stop()
    goOn()
    await stopped
    expect([working, most, done]).toEqual([0, 1, 1])
  }))

test('commits without an event for it are not read at all', () =>
  withLog(async (open) => {
    const { seen, processor } = noting({ canHandle: ['InvoicePaid'] })
    await project(open, 'shop')
    let reads = 0
    const { log } = open
    const counted = { id: log.id, head: () => log.head(), onCommitted: log.onCommitted.bind(log), readAll: async (...asked: Parameters<typeof log.readAll>) => { reads++; return log.readAll(...asked) } } // prettier-ignore
    const processing = startProcessor(counted, processor)
    await processing.reached(1n)
    const before = reads
    for (let i = 0; i < 20; i++) await project(open, `p${i}`)
    expect([processing.position, reads]).toEqual([21n, before])
    await append(open, 'invoice-1', paid)
    await processing.reached(22n)
    expect(seen).toEqual(['22 InvoicePaid'])
    await processing.stop()
  }))

test('a log that cannot be read for a moment is read again', () =>
  withLog(async (open) => {
    await append(open, 'invoice-1', issued(1))
    const { log } = open
    let failures = 1
    const readAll = log.readAll.bind(log)
    log.readAll = (...asked) =>
      failures-- > 0 ? Promise.reject(new Problem('storage_failed', 'Storage failed', 'for a moment')) : readAll(...asked)
    const { seen, processor } = noting()
    const processing = startProcessor(log, processor)
    await processing.reached(1n)
    expect(seen).toEqual(['1 InvoiceIssued'])
    await processing.stop()
  }))

test('the log is read by position and type, in slices that let others work in between', () =>
  withLog(async (open) => {
    const count = limits.eventSliceMaxEvents * 3
    await append(open, 'invoice-1', ...Array.from({ length: count }, (_, i) => issued(i)))
    await append(open, 'invoice-1', paid)
    const positions = async (options: Parameters<typeof recordedLog>[1]) => {
      const found: number[] = []
      for await (const { metadata } of recordedLog(open.log, options)) found.push(Number(metadata.globalPosition))
      return found
    }
    let turns = 0
    const ticking = setInterval(() => turns++)
    expect(await positions({})).toHaveLength(count + 1)
    clearInterval(ticking)
    expect(turns).toBeGreaterThan(0)
    expect(await positions({ after: 3n, until: 6n })).toEqual([4, 5, 6])
    expect(await positions({ types: ['InvoicePaid'] })).toEqual([count + 1])
    expect(await positions({ after: 10_000n })).toEqual([])
    expect(await positions({ until: 10_000n, after: BigInt(count) })).toEqual([count + 1])
  }))
