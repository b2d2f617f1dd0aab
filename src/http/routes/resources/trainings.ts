import * as z from 'zod'
import type { Ledger } from '../../../commands/ledger.js'
import type { Log } from '../../../log/contract/log.js'
import type { DataChecks } from '../../../models/training/data-checks.js'
import { carryOut } from '../../protocol/carry-out.js'
import { modelRecord } from './models.js'
import { resultOf } from '../../../log/read/by-name.js'
import { modelInPath, modelNamed } from '../../../models/serving/model-by-name.js'
import type { Records } from '../../reads/records.js'
import { json } from '../../protocol/reply.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'

const checked = z
  .object({
    data: z.enum(['same', 'changed', 'unavailable']),
    detail: z.string(),
    read_at: z.int().describe('the position of the log at which the query read, then and now'),
    rows: z.int().nullable().describe('how many rows it gives now'),
    matrix: z.string().nullable().describe('SHA-256 of the matrix of the rows that it gives now'),
  })
  .meta({ id: 'DataCheck' })

const path = '/projects/:project/models/:model'

type Services = { ledger: Ledger; log: Log; records: Records; checks: DataChecks }

/** The routes for the trainings of a model, whether waiting, running or ended. */
export const trainingRoutes = ({ ledger, log, records, checks }: Services): Route[] => [
  route({
    method: 'post',
    path: `${path}/cancel`,
    summary: 'Cancel the training of a model, or of one version of it (name.2), that waits or runs',
    commandHeaders,
    answers: { 200: modelRecord },
    async handle({ segments, call }) {
      const { project, model, version = null } = await modelInPath(log, segments.project, segments.model)
      const command = { type: 'CancelTraining' as const, data: { project: project.state.name, model, version } }
      const { resource } = await carryOut(ledger, command, call)
      const found = resultOf('model', resource)
      // Only the last version of a model waits or runs.
      const cancelled = found.state.versions.find((each) => each.version === version) ?? found.state.versions.at(-1)
      if (!cancelled) throw new TypeError('the command cancelled no version')
      return json(await records.model(found, cancelled, project))
    },
  }),
  route({
    method: 'get',
    path: `${path}/data_check`,
    summary: 'Run the query of a training again, as the log was when it read: whether it gives the rows that were learned from',
    answers: { 200: checked },
    async handle({ segments, call: { gone } }) {
      const { model, version } = await modelNamed(log, segments.project, segments.model)
      const found = await checks.check(model, version, gone).catch((error: unknown) => {
        // If the client has disconnected, nobody needs the error.
        throw gone.aborted ? gone.reason : error
      })
      return json(found)
    },
  }),
]
