import * as z from 'zod'
import { isInProject, pluralOf } from '../../../../events/catalogue/catalogue.js'
import { instant } from '../../../../events/stored/envelope.js'
import type { Ledger } from '../../../commands/ledger.js'
import type { RollbackKind } from '../../../commands/deciders.js'
import { rollbackKinds, rollbackTypeOf } from '../../../commands/rollback.js'
import { databaseOf } from '../../../commands/rules/data-source.js'
import { Problem } from '../../../basics/errors.js'
import type { BlobStore } from '../../../files/blob-store.js'
import type { Log, Resource } from '../../../log/contract/log.js'
import { object } from '../../protocol/body-schema.js'
import type { Call } from '../../protocol/call.js'
import { carriedOut, carryOut } from '../../protocol/carry-out.js'
import type { Parameters } from '../../protocol/parameters.js'
import { json } from '../../protocol/reply.js'
import { recordTime, type Records } from '../../reads/records.js'
import { commandHeaders, route, segmentOf, type Route, type Segments } from '../../protocol/route.js'
import { resultOf } from '../../../log/read/by-name.js'
import type { CheckView } from './views.js'

const body = object(
  z.object({ version: z.int().positive().describe('A version of the resource that it was at before, as its ETag told it') }),
  'body',
)

type Services = { ledger: Ledger; log: Log; records: Records; blobs: Pick<BlobStore, 'has'>; checkView: CheckView }

type RecordOf<K extends RollbackKind> = (found: Resource<K>, records: Records) => object | Promise<object>

/** The record in the answer to a rollback: the same as for other changes of its kind. */
const recordsOf: { [K in RollbackKind]: RecordOf<K> } = {
  skill: (found, records) => records.skill(found),
  agent: (found, records) => records.agent(found),
  chatbot: (found, records) => records.chatbot(found),
  view: (found, records) => records.view(found),
  database: (found, records) => records.database(found),
  file: ({ state, created_at }) => ({ ...state, created_at: recordTime(created_at) }),
  job: (found, records) => records.job(found),
  knowledge_base: (found, records) => records.knowledgeBase(found),
}

const recordOf = async <K extends RollbackKind>(kind: K, found: Resource<K>, records: Records): Promise<object> =>
  recordsOf[kind](found, records)

const contentErased = (name: string, version: number): Problem =>
  new Problem('not_found', 'Content erased', `the rows that file ${name} had at version ${version} are no longer kept`, {
    hint: 'Upload them again, or choose another version.',
  })

/**
 * Every resource can be rolled back to the state of an earlier version. This makes a new version, so no history is lost. Views and file
 * contents are checked before the command, as for other writes.
 */
export const rollbackRoutes = ({ ledger, log, records, blobs, checkView }: Services): Route[] => {
  const earlierState = async <K extends RollbackKind>(found: Resource<K> | undefined, version: number) =>
    found && (await log.earlier(found, version))?.state

  const checkBefore = async (kind: RollbackKind, segments: Segments, version: number, call: Call): Promise<void> => {
    if (kind === 'view') {
      const project = await log.resources.one('project', segmentOf(segments, 'project'))
      const found = project && (await log.resources.one('view', segmentOf(segments, 'view'), project))
      const then = await earlierState(found, version)
      if (project && found && then) await checkView(then.query, await databaseOf(log, then, project), call.origin(), found.stream)
    }
    if (kind === 'file') {
      const then = await earlierState(await log.resources.one('file', segmentOf(segments, 'file')), version)
      if (then && !(await blobs.has(then.content))) throw contentErased(segmentOf(segments, 'file'), version)
    }
  }

  const rollBack = (kind: RollbackKind): Route =>
    route<string, Parameters, { version: number }>({
      method: 'post',
      path: `${isInProject(kind) ? '/projects/:project' : ''}/${pluralOf(kind)}/:${kind}/rollback`,
      summary: `Take a ${kind} back to what it was at an earlier version, as a new version`,
      commandHeaders,
      body,
      answers: { 200: z.looseObject({}) },
      async handle({ segments, body: { version }, call }) {
        const { project } = segments
        const now = instant(log.now())
        const data = { ...(project !== undefined && { project }), name: segmentOf(segments, kind), version, now }
        const repeated = await carriedOut(ledger, call)
        // An erasure after the check may have removed the content that the file would get.
        const origin = kind === 'file' ? await ledger.guarded(call.origin()) : call.origin()
        if (!repeated) await checkBefore(kind, segments, version, call)
        const { resource } = repeated ?? (await carryOut(ledger, { type: rollbackTypeOf(kind), data }, call, origin))
        return json(await recordOf(kind, resultOf(kind, resource), records))
      },
    })

  return [
    ...rollbackKinds.map(rollBack),
    route({
      method: 'post',
      path: '/projects/:project/models/:model/rollback',
      summary: 'Activate an earlier version of a model',
      commandHeaders,
      body,
      answers: { 200: z.looseObject({}) },
      async handle({ segments, body: { version }, call }) {
        const outcome = await carryOut(ledger, { type: 'ActivateModelVersion', data: { ...segments, version } }, call)
        const model = resultOf('model', outcome.resource)
        const active = model.state.versions.find((one) => one.version === model.state.active)
        if (!active) throw new TypeError('the command activated no version')
        return json(await records.model(model, active))
      },
    }),
  ]
}
