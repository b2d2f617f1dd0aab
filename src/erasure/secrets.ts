import { isInProject, kinds, type Kind } from '../../events/catalogue.js'
import { secretsOf } from '../../events/secrets.js'
import { wrong } from '../basics/errors.js'
import { LongWork } from '../basics/long-work.js'
import type { Resource, Log } from '../log/contract/log.js'
import { streamOf } from '../log/read/stream-of.js'
import { emptyPlan, type Plan, type PlannedPayload } from './plan.js'
import { eventsWith, streamEvents } from '../log/read/slices.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'payloadState' | 'resources'>

const planned = (hash: string): PlannedPayload => ({ hash, standsIn: hash, stays: null, rows: 0 })

const takeSecrets = async (log: ReadableLog, hashes: Iterable<string>, plan: Plan): Promise<void> => {
  const work = new LongWork()
  for (const hash of new Set(hashes)) {
    if ((await log.payloadState(hash))?.isErased === false) plan.payloads.push(planned(hash))
    else plan.already++
    await work.pause()
  }
}

/** The stream of an existing or deleted resource, found by name, id or stream. */
export const resourceStream = async (log: ReadableLog, kind: Kind, name: string, project: string | undefined) => {
  if (!isInProject(kind)) return streamOf(log, kind, name)
  if (project === undefined) throw wrong(`the project of the ${kind} must be given, too`)
  return streamOf(log, kind, name, await streamOf(log, 'project', project))
}

/** Every secret that the stream of a resource ever referred to. */
export const planSecrets = async (log: ReadableLog, kind: Kind, name: string, project: string | undefined): Promise<Plan> => {
  const stream = await resourceStream(log, kind, name, project)
  const plan = emptyPlan('secrets', `${kind} ${project === undefined ? name : `${project}.${name}`}`)
  const events = await streamEvents(log, stream)
  await takeSecrets(
    log,
    events.flatMap(({ data }) => secretsOf(data)),
    plan,
  )
  return plan
}

const readAtOnce = 100

/** The secrets of existing resources. They are read in batches, because their number is unlimited. */
const secretsInUse = async ({ resources }: ReadableLog): Promise<Set<string>> => {
  const inUse = new Set<string>()
  const work = new LongWork()
  async function* all<K extends Kind>(kind: K, project?: Resource<'project'>): AsyncGenerator<Resource<K>, void, void> {
    for (let after = 0; ;) {
      const page = await resources.page(kind, project, after, readAtOnce)
      yield* page
      const last = page.at(-1)
      if (!last) return
      after = last.id
      await work.pause()
    }
  }
  const add = ({ state }: Resource) => {
    for (const hash of secretsOf(state)) inUse.add(hash)
  }
  for (const kind of kinds) if (!isInProject(kind)) for await (const found of all(kind)) add(found)
  for await (const project of all('project'))
    for (const kind of kinds) if (isInProject(kind)) for await (const found of all(kind, project)) add(found)
  return inUse
}

/** Adds the secrets that were recorded before a time and that no resource has now. */
export const addOldSecrets = async (log: ReadableLog, time: string, plan: Plan): Promise<void> => {
  const old = new Set<string>()
  for await (const { recorded_at, data } of eventsWith(log, 0, (text) => text.includes('"$secret"'))) {
    if (recorded_at >= time) break
    for (const hash of secretsOf(data)) old.add(hash)
  }
  const inUse = await secretsInUse(log)
  await takeSecrets(
    log,
    [...old].filter((hash) => !inUse.has(hash)),
    plan,
  )
}
