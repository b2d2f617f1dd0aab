import * as z from 'zod'
import { isObject, text, unfitJson } from '../../../events/common.js'
import type { Ledger } from '../../commands/ledger.js'
import type { Log } from '../../log/contract/log.js'
import { wrong } from '../../basics/errors.js'
import { refuseTooManyOutcomes, type OutcomeReporter } from '../../models/serving/report-outcomes.js'
import { objectIn, parse, type Body } from '../protocol/body-schema.js'
import { carriedOut } from '../protocol/carry-out.js'
import { json } from '../protocol/reply.js'
import { modelNamed } from '../../models/serving/model-by-name.js'
import { route, type Route } from '../protocol/route.js'

const outcome = z
  .strictObject({
    position: z.int().positive().exactOptional().describe('Position of the prediction in the log: Mindledger-Position of its answer'),
    request: text
      .min(1)
      .exactOptional()
      .describe('Id of the request that was predicted (X-Request-Id); its last predictions when there are several'),
    row: z.int().nonnegative().exactOptional().describe('Place of the row in its request, from 0; may be left out of a request of one row'),
    truth: z
      .union([z.string(), z.number(), z.boolean()], 'must be a number, a text, true or false; leave out unknown values')
      .describe('The true value, in the type of the target'),
  })
  .meta({ id: 'Outcome', anyOf: [{ required: ['position'] }, { required: ['request'] }] })

const outcomes = z.array(outcome).meta({ minItems: 1 })
const wrapped = z.strictObject({ outcomes })

/** The outcomes of a body: a bare array, or an array under `outcomes`. */
const outcomesBody: Body<z.infer<typeof outcomes>> = {
  schema: z.union([outcomes, wrapped]),
  read: (sent) => {
    const { json: body } = sent
    const listed = isObject(body) ? body['outcomes'] : body
    if (Array.isArray(listed)) refuseTooManyOutcomes(listed.length)
    const unfit = unfitJson(body ?? null)
    if (unfit) throw wrong(`body: ${unfit[0]} ${unfit[1]}`)
    return Array.isArray(body) ? parse(outcomes, body, 'outcomes') : parse(wrapped, objectIn(sent), 'body').outcomes
  },
}

const answer = z
  .object({
    position: z.int().nullable().describe('Position of the event that keeps the report; null in a dry run'),
    rows: z.int().describe('How many truths were reported'),
  })
  .meta({ id: 'OutcomeReport' })

/** The route for reports of the true values of predicted rows. */
export const outcomeRoutes = (ledger: Ledger, log: Log, reporter: OutcomeReporter): Route[] => [
  route({
    method: 'post',
    path: '/projects/:project/models/:model/outcomes',
    summary: 'Report the true values of predicted rows; a later report of a row replaces an earlier one',
    commandHeaders: ['Idempotency-Key', 'Prefer'],
    body: outcomesBody,
    bodySize: 'rows',
    answers: { 200: answer },
    async handle({ segments, body: reported, call }) {
      const [origin, execution] = [call.origin(), call.execution()]
      const report = async () => {
        const { model, named } = await modelNamed(log, segments.project, segments.model)
        const { expects: _, ...how } = execution
        return reporter.report({ model, version: named, outcomes: reported, client: call.client, ...how, origin })
      }
      const { positions } = (await carriedOut(ledger, call)) ?? call.note(await report())
      return json({ position: positions[0] ?? null, rows: reported.length })
    },
  }),
]
