import { Vault } from '../../vault/vault.js'
import type { Connection } from '../storage/schema.js'
import { compareResources } from './compare-resources.js'
import { Findings, inOrder, type Finding } from './findings.js'
import { MeaningWalk } from './meaning-walk.js'
import { PayloadCheck, type PayloadCounts } from './payload-check.js'

/**
 * The result of the walk over the meaning of the events: what is wrong in the events themselves, and in what follows from them.
 * `blobs` are those that must exist, with the event that names each.
 */
export type Meaning = {
  events: Finding[]
  following: Finding[]
  payloads: PayloadCounts
  blobs: [hash: string, position: number][]
  recordedAt: string
}

/** Checks what the events say, as this connection sees them, and everything that follows from it in the log's file. */
export const checkMeaning = async (
  db: Connection,
  masterKeys: readonly Uint8Array[],
  onProgress: (position: number) => void,
): Promise<Meaning> => {
  const events = new Findings()
  const following = new Findings()
  const named = new Findings()
  const payloads = new PayloadCheck(
    db,
    named,
    masterKeys.map((key) => new Vault(key)),
  )
  const walk = new MeaningWalk(db, events, payloads)
  await walk.walk(onProgress)
  compareResources(db, walk.resources, following)
  payloads.finish()
  return {
    events: events.all,
    following: [...following.all, ...inOrder(named.all)],
    payloads: payloads.counts,
    blobs: [...walk.blobs],
    recordedAt: walk.recordedAt,
  }
}
