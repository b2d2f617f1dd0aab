import { unreachable } from '../../../events/common.js'
import { instant } from '../../../events/stored/envelope.js'
import { readInstant } from '../../basics/times.js'
import type { BlobStore } from '../../files/blob-store.js'
import type { Log } from '../../log/contract/log.js'
import { recordedAt } from '../../log/read/bisect.js'
import { planAnswer, planConversation } from './answers.js'
import { planFile, planMatrix } from './blobs.js'
import { planDocuments } from './documents.js'
import { emptyPlan, type Plan, type PlanPart } from './plan.js'
import { planPrediction, planRequest } from './predictions.js'
import type { NamedSubject } from './subjects.js'
import { addOldSecrets, planSecrets } from './secrets.js'

/** A time after everything that a log has now: its newest event may be ahead of the clock. */
const timeAfterAll = async (log: Pick<Log, 'head' | 'now' | 'readAll'>): Promise<string> => {
  const { position } = await log.head()
  const newest = position === 0 ? undefined : await recordedAt(log, position)
  return instant(Math.max(log.now(), newest === undefined ? 0 : Date.parse(newest)) + 1)
}

/** The time before which an erasure takes everything, in the format of events. A later time would include what is recorded meanwhile. */
export const timeBefore = async (log: Pick<Log, 'head' | 'now' | 'readAll'>, said: string): Promise<string> => {
  const [time, end] = [readInstant(said, 'before', log.now()), await timeAfterAll(log)]
  return time < end ? time : end
}

/** Plans the erasure of everything before a time: the given parts, the kept answers with rows, and secrets that no resource has now. */
export const planBefore = async (log: Log, time: string, parts: readonly PlanPart[]): Promise<Plan> => {
  const plan = {
    ...emptyPlan('before', time),
    payloads: parts.flatMap(({ payloads }) => payloads),
    replies: await log.hasRepliesWithRows(Date.parse(time)),
    already: parts.reduce((sum, { already }) => sum + already, 0),
  }
  await addOldSecrets(log, time, plan)
  return plan
}

/** Plans the erasure of a subject. @throws Problem if nothing has this name */
export const planOf = async ({ what, of }: NamedSubject, log: Log, blobs: BlobStore): Promise<Plan> => {
  switch (what) {
    case 'prediction':
      return planPrediction(log, of)
    case 'answer':
      return planAnswer(log, of)
    case 'conversation':
      return planConversation(log, of)
    case 'request':
      return planRequest(log, of)
    case 'file':
      return planFile(log, blobs, of)
    case 'matrix':
      return planMatrix(log, blobs, of)
    case 'secrets':
      return planSecrets(log, of.kind, of.name, of.project)
    case 'documents':
      return planDocuments(log, of)
    default:
      return unreachable(what)
  }
}
