import { join } from 'node:path'
import type { SqlProcess } from './sql-process/sql-process.js'
import { opened } from './basics/undo.js'
import { leasesWhile } from './log/contract/leases.js'
import type { ErasureGuard } from './log/contract/log.js'
import { ModelStore } from './models/serving/model-store.js'
import { PredictionRecorder } from './models/serving/prediction-recorder.js'
import { PredictionService } from './models/serving/prediction-service.js'
import { HeardProgress } from './models/training/progress.js'
import { Trainer } from './models/training/trainer.js'
import { TrainingService } from './models/training/training-service.js'
import type { Metrics } from './observe/metrics.js'
import type { ConnectedParts } from './open-connections.js'
import type { Storage } from './open-storage.js'
import type { Logger } from './basics/logger.js'
import type { Config } from './setup/config.js'
import { askRows } from './sql/facade/training/training-queries.js'

/** The parts that train models, load them, and make and record their predictions. */
export type Models = Awaited<ReturnType<typeof openModels>>

type Options = {
  config: Config
  logger: Logger
  metrics: Metrics
  storage: Storage
  sqlProcess: SqlProcess
  connected: ConnectedParts
  /** Runs work during which this node erases nothing. */
  beside: ErasureGuard
}

/** Opens the trainings, the store of trained versions, and their predictions. */
export const openModels = ({ config, logger, metrics, storage, sqlProcess, connected, beside }: Options) =>
  opened((undo) => {
    const { ledger, log, leases, peers, blobs, paths } = storage
    const trainer = new Trainer()
    const heard = peers && new HeardProgress(peers.talk)
    undo(() => heard?.stop())
    const select = askRows(sqlProcess, config.defaultProject, (request) => connected.databases.readFor(request))
    const trainings = new TrainingService({
      ...{ ledger, log, leases: leasesWhile(leases, () => sqlProcess.isReady), heard, beside, blobs, trainer, logger, select },
      temporary: join(paths.temporary, 'trainings'),
    })
    undo(() => trainings.stop())
    const recorder = new PredictionRecorder(ledger, log)
    const store = new ModelStore(blobs)
    const predicting = new PredictionService({
      ...{ log, store, recorder, progressOf: trainings.progressOf },
      onPredicted: (seconds) => metrics.predicted(seconds),
    })
    return { trainer, trainings, select, recorder, store, predicting }
  })
