import { select, streamOf } from '../../api/sql.js'
import { rowsOfQuery } from './asked-in-sql.js'
import { loadModel, type ModelName, type ModelRecord, type Report } from './reports.js'

/** The rows of a training: its query as it stands after FROM, and the moment at which it is read. */
export type TrainingRows = {
  rows: string
  /** The position of the log at which the training read; undefined for the rows of now. */
  at: string | undefined
  /** The connected databases that gave rows. They have no past, so their rows are those of now. */
  connections: readonly string[]
}

const factsOf = (data: Report['data'], name: string): string[] => data.flatMap(({ fact, value }) => (fact === name ? [value] : []))

type Names = { project: string; name: string }

/** The names of a model at a position: its project may have another name by now. @throws ApiError */
const namesAt = async (of: ModelName, position: string, at: string | undefined, signal: AbortSignal): Promise<ModelName> => {
  const [found] = await select<Names>({
    query: `SELECT project, name FROM log.resources AT (VERSION => ${Number(position)}) WHERE stream = ${streamOf('model')}`,
    params: { project: of.project, name: of.model },
    ...{ at, signal },
  })
  return found ? { project: found.project, model: found.name } : of
}

/**
 * The rows that a version learned from: a file, a view or a table has its content of then, under the names of then.
 *
 * @param data the facts of the version's report
 * @returns undefined for a model without a training query
 * @throws ApiError
 */
export const loadTrainingRows = async (
  of: ModelName,
  record: ModelRecord,
  data: Report['data'],
  at: string | undefined,
  signal: AbortSignal,
): Promise<TrainingRows | undefined> => {
  const rows = rowsOfQuery(record)
  if (rows === undefined) return undefined
  const connections = factsOf(data, 'connection')
  const [position] = factsOf(data, 'read_at')
  if (connections.length > 0 || position === undefined) return { rows, at: undefined, connections }
  const then = await loadModel(await namesAt(of, position, at, signal), record.version, position, signal)
  return { rows: rowsOfQuery(then) ?? rows, at: position, connections }
}

/** Says that rows are not those of the training, if a connected database gave them. */
export const RowsOfNow = ({ training }: { training: TrainingRows | undefined }) =>
  training === undefined || training.connections.length === 0 ? null : (
    <p class="quiet">
      The rows of the training are read as they are now, because {training.connections.join(', ')}{' '}
      {training.connections.length === 1 ? 'is a connected database and has' : 'are connected databases and have'} no past.
    </p>
  )
