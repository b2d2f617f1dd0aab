import type { Event } from '@event-driven-io/emmett'
import { catalogue } from '../../../events/catalogue/catalogue.js'
import type { JsonObject } from '../../../events/common.js'
import { storedTypeIn, unfitData, unfitStream, unfitType, type ForeignEvent } from '../../../events/foreign.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'

const tooLarge = (detail: string) => new Problem('too_large', 'Too large', detail, { hint: 'Append less at once.' })

/** @throws Problem 400 that says what is wrong with the event */
const check = (stream: string, { type, data, metadata }: Event & { metadata?: unknown }): void => {
  if (catalogue.has(type))
    throw wrong(`${type} is an event of the service: only its commands write one`, 'Give an event of your own another type.')
  const unfit = unfitType(stream, type) ?? unfitData(data)
  if (unfit !== undefined) throw wrong(`${type}: ${unfit}`)
  if (metadata !== undefined) throw wrong(`${type}: metadata of your own cannot be kept`, 'Put it into data.')
}

/**
 * Turns foreign events into the form that is stored. It works on a copy, so that nothing changes while they wait in the queue.
 *
 * @example await toAppend('invoice-7', [{ type: 'InvoiceIssued', data: { amount: 10 } }])
 * @throws Problem 400 when an event has one of our types, belongs to one of our streams or is not JSON; 413 when there are too many
 */
export const toAppend = async (stream: string, events: readonly Event[]): Promise<ForeignEvent[]> => {
  const unfit = unfitStream(stream)
  if (unfit !== undefined) throw wrong(unfit)
  if (events.length > limits.appendMaxEvents) throw tooLarge(`an append has at most ${limits.appendMaxEvents} events`)
  const stored: ForeignEvent[] = []
  const work = new LongWork()
  let bytes = 0
  for (const event of events) {
    check(stream, event)
    const text = JSON.stringify(event.data)
    bytes += Buffer.byteLength(text)
    if (bytes > limits.appendMaxBytes) throw tooLarge(`the events of an append have at most ${limits.appendMaxBytes} bytes together`)
    stored.push({ type: storedTypeIn(stream, event.type), data: JSON.parse(text) as JsonObject })
    await work.pause()
  }
  return stored
}
