import { z } from 'zod'
import type { Erasures } from '../../erasure/erasures.js'
import { erasureBody, erasureRequest } from '../../erasure/request.js'
import { originOf } from '../protocol/origin.js'
import { dryRunApplied, isDryRun } from '../protocol/prefer.js'
import { jsonBody, parse, type Route } from '../protocol/route.js'

const answer = z
  .object({
    what: z.string(),
    subject: z.string(),
    dry_run: z.boolean(),
    positions: z.array(z.int()).describe('Of the events that say so; empty when all of it had been erased before'),
    payloads: z.int(),
    rows: z.int(),
    blobs: z.array(z.string()),
    already_erased: z.int(),
    shared_with: z.array(z.string()).describe('What else names the same bytes'),
    also_in: z.array(z.string()).describe('What holds the same data in bytes of its own, and stays'),
  })
  .meta({ id: 'Erasure' })

export const erasureRoutes = (erasures: Erasures): Route[] => [
  {
    method: 'post',
    path: '/log/erasures',
    summary: 'Erase rows of predictions, secrets, a file or a training matrix; answers when no byte is left',
    commandHeaders: ['Idempotency-Key', 'Prefer'],
    body: erasureBody,
    answers: { 200: answer },
    async handle(req, res) {
      const request = erasureRequest(parse(erasureBody, jsonBody(req), 'erasure'))
      const dryRun = request.dryRun || isDryRun(req)
      const erased = await erasures.erase({ ...request, dryRun }, originOf(req, res))
      res.locals['positions'] = erased.positions
      if (dryRun) dryRunApplied(res)
      res.json(erased)
    },
  },
]
