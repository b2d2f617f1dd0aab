import { catalogue, isInProject, kinds, type Kind } from '../../../events/catalogue/catalogue.js'
import { streamId, type StreamId } from '../../../events/common.js'
import { secretsOf } from '../../../events/secrets.js'
import { wrong } from '../../basics/errors.js'
import { LongWork } from '../../basics/long-work.js'
import { haveSecrets, type FormerHolder } from '../../commands/records/log.js'
import type { Log } from '../../log/contract/log.js'
import { isKind } from '../../log/contract/lookups.js'
import { everyResource } from '../../log/read/every-resource.js'
import { exactly } from '../../log/read/stream-of.js'
import { emptyPlan, type Plan, type PlannedPayload } from './plan.js'
import { eventsWith, streamEvents } from '../../log/read/slices.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'payloadState' | 'resources'>

/** Plans to erase secrets, each with the resources that must not have it again. */
const takeSecrets = async (log: ReadableLog, secrets: Iterable<[string, readonly FormerHolder[]]>, plan: Plan): Promise<void> => {
  const work = new LongWork()
  for (const [hash, formerHolders] of secrets) {
    const state = await log.payloadState(hash)
    if (state?.isErased === false) plan.payloads.push({ hash, standsIn: hash, stays: null, rows: 0, bytes: state.bytes, formerHolders })
    else plan.already++
    await work.pause()
  }
}

/** An erased resource: its stream, and how the event calls it: `shop.broker`. */
type ErasedResource = { stream: StreamId; path: string }

/** The resource that an erasure is about: an existing one by name or stream, a deleted one by id or stream. */
export const erasedResource = async (log: ReadableLog, kind: Kind, ref: string, project: string | undefined): Promise<ErasedResource> => {
  if (!isInProject(kind)) {
    const { stream, name } = await exactly(log, kind, ref)
    return { stream, path: name }
  }
  if (project === undefined) throw wrong(`the project of the ${kind} must be given, too`)
  const within = await exactly(log, 'project', project)
  const { stream, name } = await exactly(log, kind, ref, within.stream)
  return { stream, path: `${within.name}.${name}` }
}

/** Every secret that the stream of a resource ever referred to. */
export const planSecrets = async (log: ReadableLog, kind: Kind, name: string, project: string | undefined): Promise<Plan> => {
  const { stream, path } = await erasedResource(log, kind, name, project)
  const plan = emptyPlan('secrets', `${kind} ${path}`)
  const events = await streamEvents(log, stream)
  const hashes = events.flatMap(({ data }) => secretsOf(data))
  await takeSecrets(log, new Map(hashes.map((hash) => [hash, []])), plan)
  return plan
}

/** The secrets of existing resources. */
const secretsInUse = async ({ resources }: ReadableLog): Promise<Set<string>> => {
  const inUse = new Set<string>()
  for (const kind of kinds)
    for await (const { state } of everyResource(resources, kind)) for (const hash of secretsOf(state)) inUse.add(hash)
  return inUse
}

/** Adds the secrets that were recorded before a time and that no resource has now. */
export const addOldSecrets = async (log: ReadableLog, time: string, plan: Plan): Promise<void> => {
  const old = new Map<string, Map<string, FormerHolder>>()
  for await (const { recorded_at, type, stream, data } of eventsWith(log, 0, (text) => text.includes('"$secret"'))) {
    if (recorded_at >= time) break
    const kind = catalogue.get(type)?.kind
    for (const hash of secretsOf(data)) {
      const holders = old.get(hash) ?? new Map<string, FormerHolder>()
      old.set(hash, holders)
      if (isKind(kind)) holders.set(stream, { kind, stream: streamId.parse(stream) })
    }
  }
  const inUse = await secretsInUse(log)
  const unused = [...old].filter(([hash]) => !inUse.has(hash))
  await takeSecrets(
    log,
    unused.map(([hash, holders]) => [hash, [...holders.values()]]),
    plan,
  )
}

/** The resources that had these secrets, each once. */
export const formerHoldersOf = (payloads: readonly PlannedPayload[]): FormerHolder[] => {
  const holders = payloads.flatMap(({ formerHolders = [] }) => formerHolders)
  return [...new Map(holders.map((holder) => [holder.stream, holder])).values()]
}

/** Whether a resource has one of these secrets again since the plan. */
export const areUsedAgain = async ({ resources }: Pick<Log, 'resources'>, payloads: readonly PlannedPayload[]): Promise<boolean> => {
  for (const { kind, stream } of formerHoldersOf(payloads)) if (haveSecrets([await resources.byStream(kind, stream)], payloads)) return true
  return false
}
