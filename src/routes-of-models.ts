import type { Intake } from './files/intake.js'
import type { Route } from './http/protocol/route.js'
import type { ReadRouteFactory } from './http/reads/read-routes.js'
import type { Records } from './http/reads/records.js'
import { outcomeRoutes } from './http/routes/outcomes.js'
import { predictRoutes } from './http/routes/predict.js'
import { modelRoutes } from './http/routes/resources/models.js'
import { trainingRoutes } from './http/routes/resources/trainings.js'
import { OutcomeReporter } from './models/serving/report-outcomes.js'
import type { Parts } from './route-parts.js'

type Shared = { reading: ReadRouteFactory; records: Records; intake: Intake }

/** The routes for models, their trainings and predictions, and the outcomes of predictions. */
export const routesOfModels = (parts: Parts, { reading, records, intake }: Shared): Route[] => {
  const { ledger, log, blobs } = parts.storage
  const { store, predicting } = parts.models
  const { sql, dataChecks: checks } = parts.sql
  const reporter = new OutcomeReporter({
    ...{ ledger, log, store, beside: parts.housekeeping.erasures.beside },
    readRows: (...asked) => sql.reader.rowsNow(...asked),
  })
  return [
    ...modelRoutes({ ledger, log, records, sql, reading, intake, blobs }),
    ...trainingRoutes({ ledger, log, records, checks }),
    ...outcomeRoutes(ledger, log, reporter),
    ...predictRoutes(ledger, predicting),
  ]
}
