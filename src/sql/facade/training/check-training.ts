/**
 * Room: the queries of trainings, and their check before the request. It imports only events, basics, catalogue, log/contract, commands,
 * sql/contract and models.
 */

import type { JsonObject } from '../../../../events/common.js'
import type { FileContent } from '../../../../events/file.js'
import type { Model, ModelVersion } from '../../../../events/model.js'
import { hasFailed, isFinetuned, type ModelCommand } from '../../../commands/model.js'
import { isProblem, type ProblemCode } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { Log } from '../../../log/contract/log.js'
import { withoutIds } from '../../../log/contract/lookups.js'
import { databaseOf } from '../../../commands/rules/data-source.js'
import { optionsOf } from '../../../catalogue/engine-options.js'
import { checkNamedColumns } from '../../../models/data/columns.js'
import { wasImported } from '../../../catalogue/onnx-import.js'
import type { SelectService } from '../../contract/select.js'
import { allRows } from '../../contract/answer.js'

/** The task of a version: its target and its query. */
type TrainingSpec = { query: string; database: string; target: string; using: JsonObject }

/** The version that gives a new version its target and options, and the version that gives it its query. */
const before = (model: Model, command: ModelCommand): { base: ModelVersion | undefined; whole: ModelVersion | undefined } => {
  const { versions, active } = model
  const wanted = command.type === 'FinetuneModel' ? (command.data.version ?? active) : versions.at(-1)?.version
  const base = versions.find(({ version }) => version === wanted)
  return { base, whole: versions.findLast((version) => !isFinetuned(version)) }
}

/** The task in a command; undefined if the command refuses, does nothing, or imports a file. */
const learningOf = async (command: ModelCommand, log: Parts['log']): Promise<TrainingSpec | undefined> => {
  const resources = withoutIds(log.resources)
  const { type, data } = command
  if (type !== 'CreateModel' && type !== 'RetrainModel' && type !== 'FinetuneModel') return undefined
  const project = await resources.one('project', data.project)
  const model = project && (await resources.one('model', data.model, project))
  if (!project) return undefined
  if (type === 'CreateModel') return model && !data.orReplace && !hasFailed(model.state) ? undefined : data.request
  if (!model) return undefined
  const { base, whole } = before(model.state, command)
  if (type === 'FinetuneModel' && (base?.status !== 'complete' || (base.result && wasImported(base.result)))) return undefined
  const said: Partial<TrainingSpec & Pick<ModelVersion, 'engine'>> = data.request
  // Another engine may not take the earlier options over, so the training itself checks them.
  const options = said.engine === undefined || said.engine === base?.engine ? base && optionsOf(base.using) : {}
  const { query = whole?.query, target = base?.target, using = options } = said
  if (!whole || query === undefined || target === undefined || using === undefined) return undefined
  return { query, target, using, database: said.database ?? (await databaseOf(log, whole, project)) }
}

/**
 * Refusals that do not concern the query, because SQL could not check it in time. The training reads the query later and reports its
 * errors.
 */
const undecided: ReadonlySet<ProblemCode> = new Set(['busy', 'analytics_unavailable', 'query_limit', 'internal'])

type Columns = FileContent['columns']
type Parts = { log: Pick<Log, 'head' | 'readStream' | 'resources'>; sqlProcess: SelectService; defaultProject: string }

const columnsOf = async ({ query, database }: TrainingSpec, user: string, { log, sqlProcess, defaultProject }: Parts): Promise<Columns> => {
  const { position: upTo } = await log.head()
  const asked = {
    sql: query,
    db: database,
    isNative: true,
    defaultProject,
    upTo,
    user,
    purpose: 'training',
    wanted: { kind: 'columns' },
  } as const
  const { rows } = await sqlProcess.query(asked, { signal: AbortSignal.timeout(limits.trainingCheckTimeoutMs) })
  return (await allRows(rows)).map(([name, type]) => ({ name: String(name), type: String(type) }))
}

/** The same columns; undefined when SQL is down or takes too long. */
const columnsInTime = async (learning: TrainingSpec, user: string, parts: Parts): Promise<Columns | undefined> => {
  try {
    return await columnsOf(learning, user, parts)
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError'
    if (isLate || (isProblem(error) && undecided.has(error.code))) return undefined
    throw error
  }
}

/**
 * Refuses a training whose query cannot be bound at present, or whose target or options name a column that the query does not give. `given`
 * are the columns of rows that come with the request. Nothing is run. If SQL does not answer, the training continues without this check:
 * the events do not depend on it.
 *
 * @throws Problem of the query, or with the nearest column
 */
export const checkTraining = async (command: ModelCommand, user: string, parts: Parts, given?: Columns): Promise<void> => {
  const learning = await learningOf(command, parts.log)
  if (!learning || learning.query === '') return
  const columns = given ?? (await columnsInTime(learning, user, parts))
  if (columns) checkNamedColumns(columns, learning.target, learning.using)
}
