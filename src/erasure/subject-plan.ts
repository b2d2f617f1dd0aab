import { unreachable } from '../../events/common.js'
import { instant } from '../../events/stored/envelope.js'
import { readInstant } from '../basics/times.js'
import type { BlobStore } from '../files/blob-store.js'
import type { Log } from '../log/contract/log.js'
import { recordedAt } from '../log/read/bisect.js'
import { planAnswer, planConversation, planOlderAnswers } from './answers.js'
import { planFile, planMatrix } from './blobs.js'
import { planDocuments } from './documents.js'
import { emptyPlan, type Plan } from './plan.js'
import { planOlderRows, planPrediction, planRequest } from './predictions.js'
import type { Subject } from './subjects.js'
import { addOldSecrets, planSecrets } from './secrets.js'

/** A time after everything that a log has now: its newest event may be ahead of the clock. */
export const timeAfterAll = async (log: Pick<Log, 'head' | 'now' | 'readAll'>): Promise<string> => {
  const { position } = await log.head()
  const newest = position === 0 ? undefined : await recordedAt(log, position)
  return instant(Math.max(log.now(), newest === undefined ? 0 : Date.parse(newest)) + 1)
}

const planBefore = async (log: Log, of: string, end: string): Promise<Plan> => {
  const said = readInstant(of, 'before', log.now())
  // A later time would include all that is recorded meanwhile, so that a plan that is made again would find more each time.
  const time = said < end ? said : end
  const [rows, answers] = [await planOlderRows(log, time, 0), await planOlderAnswers(log, time, 0)]
  const payloads = [...rows.payloads, ...answers.payloads]
  const plan = { ...emptyPlan('before', time), payloads, replies: rows.replies, already: rows.already + answers.already }
  await addOldSecrets(log, time, plan)
  return plan
}

/**
 * Plans the erasure of a subject. Data recorded at `end` or later stays, if it is erased by its age.
 *
 * @throws Problem if nothing has this name
 */
export const planOf = async ({ what, of }: Subject, end: string, log: Log, blobs: BlobStore): Promise<Plan> => {
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
    case 'before':
      return planBefore(log, of, end)
    default:
      return unreachable(what)
  }
}
