import { join } from 'node:path'
import type { SqlProcess } from './sql-process/sql-process.js'
import { opened } from './basics/undo.js'
import { DataChecks } from './models/training/data-checks.js'
import type { Metrics } from './observe/metrics.js'
import { observedSql } from './observe/observed.js'
import type { KnowledgeParts } from './open-knowledge.js'
import type { Models } from './open-models.js'
import type { Storage } from './open-storage.js'
import type { Config } from './setup/config.js'
import type { EvaluateAgent } from './sql/facade/statement-answers.js'
import type { AskQuestions } from './sql/facade/answer-select.js'
import { SqlEngine } from './sql/facade/execute.js'
import { TableWriter } from './sql/facade/table-writer.js'

/** The SQL engine, and the checks that repeat the queries of trainings. */
export type Sql = Awaited<ReturnType<typeof openSql>>

type Options = {
  config: Config
  version: string
  metrics: Metrics
  storage: Storage
  sqlProcess: SqlProcess
  models: Models
  knowledge: KnowledgeParts
  askQuestions: AskQuestions
  evaluateAgent: EvaluateAgent
}

/** Opens the SQL engine over the log, the tables and the models, and the checks of training queries. */
export const openSql = ({ config, version, metrics, storage, sqlProcess, models, knowledge, askQuestions, evaluateAgent }: Options) =>
  opened((undo) => {
    const { ledger, log, blobs, paths } = storage
    const { trainings, recorder, trainer, select } = models
    const sql = new SqlEngine({
      ...{ ledger, log, trainings, recorder, version, askQuestions, evaluateAgent, knowledge: knowledge.knowledge },
      sqlProcess: observedSql(sqlProcess, metrics),
      tables: new TableWriter({ ledger, log, blobs, directory: paths.tables }),
      defaultProject: config.defaultProject,
    })
    const dataChecks = new DataChecks({
      ...{ log, blobs, trainer, select },
      temporary: join(paths.temporary, 'checks'),
      resourcesAt: (position) => sql.reader.resourcesAt(position),
    })
    undo(() => dataChecks.stop())
    return { sql, dataChecks }
  })
