import * as z from 'zod'
import type { Erasures } from '../../erasure/erasures.js'
import { erasureBody, erasureRequest } from '../../erasure/plan/subject-plan.js'
import { object } from '../protocol/body-schema.js'
import { dryRunApplied } from '../protocol/request-headers.js'
import { json } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'

const answer = z
  .object({
    what: z.string(),
    subject: z.string(),
    dry_run: z.boolean(),
    positions: z.array(z.int()).describe('Positions of the events that record the erasure; empty if everything had been erased before'),
    payloads: z.int(),
    rows: z.int(),
    blobs: z.array(z.string()),
    kept_answers: z.boolean().describe('Whether answers that were kept for repeated requests may show rows of it, and go'),
    already_erased: z.int(),
    shared_with: z.array(z.string()).describe('Other resources with the same bytes'),
    also_in: z.array(z.string()).describe('Separate copies of the same data, which stay'),
  })
  .meta({ id: 'Erasure' })

/** The route that erases data from the log, or shows the plan of an erasure. */
export const erasureRoutes = (erasures: Erasures): Route[] => [
  route({
    method: 'post',
    path: '/log/erasures',
    summary: 'Erase rows of predictions, secrets, a file or a training matrix; answers when no file of a running node has a byte of it',
    commandHeaders: ['Idempotency-Key', 'Prefer'],
    body: object(erasureBody, 'erasure'),
    answers: { 200: answer },
    async handle({ body, call }) {
      const request = erasureRequest(body)
      const dryRun = request.dryRun || call.isDryRun
      const erased = await erasures.erase({ ...request, dryRun }, call.origin())
      call.positions = erased.positions
      return json(erased, { headers: dryRun ? dryRunApplied : {} })
    },
  }),
]
