import { unreachable } from '../../events/common.js'
import { instant } from '../../events/stored/envelope.js'
import { readInstant } from '../basics/times.js'
import type { BlobStore } from '../files/blob-store.js'
import type { Log } from '../log/contract/log.js'
import { planAnswer, planConversation, planOlderAnswers } from './answers.js'
import { planFile, planMatrix } from './blobs.js'
import { planDocuments } from './documents.js'
import { emptyPlan, type Plan } from './plan.js'
import { planOlderRows, planPrediction, planRequest } from './predictions.js'
import type { Subject } from './request.js'
import { addOldSecrets, planSecrets } from './secrets.js'

const planBefore = async (log: Log, of: string, asked: number): Promise<Plan> => {
  // A time to come would include all that is recorded meanwhile, so that a plan that is made again would find more each time.
  const [said, now] = [readInstant(of, 'before', asked), instant(asked + 1)]
  const time = said < now ? said : now
  const [rows, answers] = [await planOlderRows(log, time, 0), await planOlderAnswers(log, time, 0)]
  const payloads = [...rows.payloads, ...answers.payloads]
  const plan = { ...emptyPlan('before', time), payloads, already: rows.already + answers.already }
  await addOldSecrets(log, time, plan)
  return plan
}

/**
 * Plans the erasure of a subject. `asked` is the time of the request, in milliseconds since 1970.
 *
 * @throws Problem if nothing has this name
 */
export const planOf = async ({ what, of }: Subject, asked: number, log: Log, blobs: BlobStore): Promise<Plan> => {
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
      return planBefore(log, of, asked)
    default:
      return unreachable(what)
  }
}
