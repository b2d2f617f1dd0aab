import * as z from 'zod'
import { kinds, type Kind } from '../../../events/catalogue/catalogue.js'
import { unreachable, sha256, streamId, text } from '../../../events/common.js'
import { instant } from '../../../events/stored/envelope.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { readInstant } from '../../basics/times.js'
import type { BlobStore } from '../../files/blob-store.js'
import type { Log } from '../../log/contract/log.js'
import { recordedAt } from '../../log/read/bisect.js'
import { planAnswer, planConversation } from './answers.js'
import { planFile, planMatrix } from './blobs.js'
import { planDocuments } from './documents.js'
import { emptyPlan, type Plan, type PlanPart } from './plan.js'
import { planPrediction, planRequest } from './predictions.js'
import { addOldSecrets, planSecrets } from './secrets.js'

const before = z.iso.datetime({ offset: true }).or(z.iso.date())

/** The targets of an erasure; a request names exactly one. */
const subjects = {
  prediction: z
    .int()
    .positive()
    .describe(
      'The position of an event PredictionsServed: all rows that it kept, and the truths of them; or of OutcomesReported: its truths',
    ),
  answer: z
    .union([z.int().positive(), z.uuid()])
    .describe(
      'An answer of an agent, by its id or by the position of its event, with the comments on it, the searches of its queries, and the evaluations that asked it again; by its position also a search',
    ),
  conversation: streamId.describe('All messages and answers of a conversation'),
  request: text
    .min(1)
    .describe(
      'The id of a request (X-Request-Id): its own rows in all events, and their truths; the answers of agents that it got, and its searches',
    ),
  file: z
    .strictObject({
      name: text.min(1),
      version: z.int().positive().exactOptional().describe('Only this content: VERSION in information_schema.files_history'),
      content: sha256.exactOptional().describe('Only this content'),
    })
    .describe('A file by name; a deleted file by its id or stream'),
  matrix: z
    .strictObject({ project: text.min(1), model: text.min(1), version: z.int().positive() })
    .describe('The rows that a training kept'),
  secrets: z
    .strictObject({ kind: z.enum(kinds as [Kind, ...Kind[]]), name: text.min(1), project: text.min(1).exactOptional() })
    .describe('Every secret that a resource ever had'),
  documents: z
    .strictObject({
      project: text.min(1),
      knowledge_base: text.min(1).describe('By name; a deleted one by its id or stream'),
      ids: z.array(text.min(1)).min(1).max(limits.erasedMaxPerEvent).exactOptional().describe('Only these documents; else all'),
    })
    .describe('Documents of a knowledge base, in every version that ever existed, with their vectors and their part of the index'),
  before: before.describe(
    'A time: rows of predictions that were recorded before it with their truths; answers of agents, searches and messages to chatbots from before it, with all that came of them; and secrets from before it that no resource has now',
  ),
}

const options = {
  reason: text.max(limits.erasureReasonMaxChars).nullish().describe('Kept in the event'),
  shared: z.boolean().nullish().describe('Erases a content or matrix even if something else names it'),
  dry_run: z.boolean().nullish().describe('Shows the plan of the erasure, and erases nothing'),
}

const names = Object.keys(subjects) as (keyof typeof subjects)[]

/** The body of an erasure request. */
export const erasureBody = z
  .strictObject({
    prediction: subjects.prediction.exactOptional(),
    answer: subjects.answer.exactOptional(),
    conversation: subjects.conversation.exactOptional(),
    request: subjects.request.exactOptional(),
    file: subjects.file.exactOptional(),
    matrix: subjects.matrix.exactOptional(),
    secrets: subjects.secrets.exactOptional(),
    documents: subjects.documents.exactOptional(),
    before: subjects.before.exactOptional(),
    ...options,
  })
  .meta({ oneOf: names.map((name) => ({ required: [name] })) })

type Body = z.infer<typeof erasureBody>
type SubjectName = keyof typeof subjects

/** The target of the erasure, under its name. */
export type Subject = { [N in SubjectName]: { what: N; of: z.infer<(typeof subjects)[N]> } }[SubjectName]
/** A target that has a name. All before a time has none. */
type NamedSubject = Exclude<Subject, { what: 'before' }>
export type ErasureRequest = { subject: Subject; reason: string | null; shared: boolean; dryRun: boolean }

/** The request in a body. @throws Problem when it names no subject, or several */
export const erasureRequest = (body: Body): ErasureRequest => {
  const given = names.filter((name) => body[name] !== undefined)
  const [what] = given
  if (what === undefined || given.length > 1)
    throw wrong(`an erasure names one of ${names.join(', ')}; this one names ${given.length === 0 ? 'none' : given.join(' and ')}`)
  const { reason, shared, dry_run } = body
  return { subject: { what, of: body[what] } as Subject, reason: reason ?? null, shared: shared ?? false, dryRun: dry_run ?? false }
}

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
