import * as z from 'zod'
import type { StreamId } from '../../../events/common.js'
import { payloadsOf } from '../../../events/catalogue/references.js'
import { searchesStream } from '../../../events/records/searches.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import { LongWork } from '../../basics/long-work.js'
import type { Log } from '../../log/contract/log.js'
import { eventsOf } from '../../log/read/slices.js'
import { whole, type PlanPart } from './plan.js'

type ReadableLog = Pick<Log, 'readStream' | 'payload' | 'payloadState'>

const type = 'KnowledgeSearched'

/** Whether the stored text of an event may describe a search. */
export const recordsSearch = (text: string): boolean => text.includes(`"type":"${type}"`)

/** Whether an event is a search with a payload: its question, and what was said to a reranking model and by it. */
export const carriesWords = (event: Pick<Envelope, 'type' | 'data'>): boolean =>
  event.type === type && payloadsOf(type, event.data).length > 0

const recordOf = z.looseObject({ documents: z.array(z.string()) })

const documentsIn = (bytes: Buffer | undefined): string[] => {
  try {
    return recordOf.safeParse(JSON.parse(bytes?.toString() ?? 'null')).data?.documents ?? []
  } catch {
    return []
  }
}

/** Plans to erase the words of searches in a knowledge base that had passages of some documents. */
export const takeSearchesOf = async (
  log: ReadableLog,
  base: StreamId,
  goes: (id: string) => boolean,
  into: Pick<PlanPart, 'payloads'>,
): Promise<void> => {
  const work = new LongWork()
  for await (const event of eventsOf(log, searchesStream(base)))
    for (const hash of payloadsOf(event.type, event.data)) {
      const planned = await whole(log, hash, 0)
      if (planned && documentsIn(await log.payload(hash)).some(goes)) into.payloads.push(planned)
      await work.pause()
    }
}
