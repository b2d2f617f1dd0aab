import { catalogue } from '../../../events/catalogue/catalogue.js'
import { isObject, type Json } from '../../../events/common.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import { blobsOf, mayNameBlobs } from '../../../events/catalogue/references.js'
import { notFound, Problem } from '../../basics/errors.js'
import type { BlobStore } from '../../files/blob-store.js'
import type { Log } from '../../log/contract/log.js'
import { isKind } from '../../log/contract/lookups.js'
import { baseVersionKey } from '../../catalogue/engine-options.js'
import { emptyPlan, type Plan } from './plan.js'
import { erasedResource } from './secrets.js'
import { eventsWith, streamEvents } from '../../log/read/slices.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'payloadState' | 'resources'>

/** The label of an event that names a blob: `files.homes (position 12)`. */
const nameOf = async (log: ReadableLog, { type, stream, position }: Envelope): Promise<string> => {
  const kind = catalogue.get(type)?.kind
  if (!isKind(kind)) throw new TypeError(`${type} names no blobs`)
  const found = await log.resources.byStream(kind, stream as never)
  const name = found?.state.name ?? `a ${kind} that was deleted`
  return `${kind} ${name} (position ${position})`
}

/** Plans to erase these blobs, which events refer to, and lists everything else that refers to them. */
const planBlobs = async (
  log: ReadableLog,
  blobs: BlobStore,
  chosen: readonly { event: Envelope; hash: string }[],
  plan: Plan,
): Promise<Plan> => {
  for (const hash of new Set(chosen.map((one) => one.hash)))
    if (await blobs.has(hash)) plan.blobs.push(hash)
    else plan.erasedBlobs.push(hash)
  plan.already += plan.erasedBlobs.length
  if (plan.blobs.length === 0) return plan
  const own = new Set(chosen.map(({ event }) => event.position))
  const names = (text: string) => mayNameBlobs(text) && plan.blobs.some((hash) => text.includes(hash))
  for await (const event of eventsWith(log, 0, names))
    if (!own.has(event.position) && blobsOf(event.type, event.data).some((hash) => plan.blobs.includes(hash)))
      plan.sharedWith.push(await nameOf(log, event))
  return plan
}

type FileSubject = { name: string; version?: number; content?: string }

/** Plans to erase all past and current contents of a file, or one of them. */
export const planFile = async (log: ReadableLog, blobs: BlobStore, { name, version, content }: FileSubject): Promise<Plan> => {
  const { stream, path } = await erasedResource(log, 'file', name, undefined)
  const events = await streamEvents(log, stream)
  const contents = events
    .flatMap((event) => blobsOf(event.type, event.data).map((hash) => ({ event, hash })))
    .map((one, i) => ({ ...one, number: i + 1 }))
  const chosen = contents.filter(
    ({ number, hash }) => (version === undefined || number === version) && (content === undefined || hash === content),
  )
  const which = version === undefined ? (content === undefined ? '' : ` ${content}`) : ` version ${version}`
  if (chosen.length === 0)
    throw new Problem('not_found', 'Content not found', `files.${path} never had the content${which}`, {
      hint: `It has versions ${contents.map(({ number }) => number).join(', ')}.`,
    })
  const plan = await planBlobs(log, blobs, chosen, emptyPlan('file', `files.${path}${which}`))
  const others: number[] = []
  for (const { hash, number } of contents) if (!chosen.some((one) => one.hash === hash) && (await blobs.has(hash))) others.push(number)
  if (others.length > 0) plan.alsoIn.push(`files.${path} has other contents, which may hold the same rows: versions ${others.join(', ')}`)
  return plan
}

type MatrixSubject = { project: string; model: string; version: number }

const trainingOf = (events: readonly Envelope[], version: number): Envelope | undefined =>
  events.find(({ type, data }) => type === 'ModelTrained' && data['version'] === version)

/** The versions that learned from the rows of a version, directly or through versions in between. */
const fineTunedFrom = (events: readonly Envelope[], version: number): number[] => {
  const rowsIn = new Set<Json | undefined>([version])
  const found: number[] = []
  // A base is complete before another version is requested from it.
  for (const { type, data } of events) {
    const { using, version: requested } = data
    if (type !== 'ModelTrainingRequested' || typeof requested !== 'number') continue
    if (!isObject(using) || !rowsIn.has(using[baseVersionKey])) continue
    rowsIn.add(requested)
    found.push(requested)
  }
  return found
}

/** The events that end a training or its result. */
const endings: ReadonlySet<string> = new Set(['ModelTrainingFailed', 'ModelVersionDeleted', 'ModelDeleted'])

/** What a version keeps, or may keep, of the rows that it was fine-tuned from; undefined when it has no copy other than `erased`. */
const copyIn = async (blobs: BlobStore, events: readonly Envelope[], version: number, erased: string): Promise<string | undefined> => {
  const trained = trainingOf(events, version)
  const [, matrix] = trained ? blobsOf(trained.type, trained.data) : []
  if (matrix !== undefined && matrix !== erased && (await blobs.has(matrix)))
    return 'was fine-tuned from it, and keeps its rows in a matrix of its own'
  const isOver = events.some(({ type, data }) => endings.has(type) && (data['version'] ?? version) === version)
  return trained || isOver ? undefined : 'is being fine-tuned from it, and may keep its rows in a matrix of its own'
}

/** Plans to erase the kept rows of a training. */
export const planMatrix = async (log: ReadableLog, blobs: BlobStore, { project, model, version }: MatrixSubject): Promise<Plan> => {
  const { stream, path } = await erasedResource(log, 'model', model, project)
  const events = await streamEvents(log, stream)
  const trained = trainingOf(events, version)
  if (!trained) throw notFound('training', `${path}.${version}`)
  const [, hash] = blobsOf(trained.type, trained.data)
  if (hash === undefined)
    throw new Problem('not_found', 'Rows not kept', `The rows that ${path}.${version} learned from were never kept`, {
      hint: 'There is nothing to erase: it was trained with keep_training_data = false.',
    })
  const plan = await planBlobs(log, blobs, [{ event: trained, hash }], emptyPlan('matrix', `${path}.${version}`))
  for (const tuned of fineTunedFrom(events, version)) {
    const copy = await copyIn(blobs, events, tuned, hash)
    if (copy !== undefined) plan.alsoIn.push(`${path}.${tuned} ${copy}`)
  }
  return plan
}
