import * as z from 'zod'
import { diskKinds, type DiskKind, type DiskUse } from '../../observe/disk-use.js'
import type { Metrics } from '../../observe/metrics.js'
import type { Readiness } from '../../observe/readiness.js'
import { oneOf } from '../protocol/parameters.js'
import { json, text } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'
import { sharedStates } from '../../log/contract/log.js'
import { tablesStates } from '../../sql/relations/projections.js'

type Services = {
  version: string
  instance: string
  readiness: () => Promise<Readiness>
  metrics: Pick<Metrics, 'text' | 'contentType'>
  disk: () => Promise<DiskUse>
}

const part = z.object({ ready: z.boolean(), reason: z.string().optional() })
const readinessSchema = z.object({
  rest: part,
  sql: part.extend({ state: z.enum(tablesStates), position: z.int(), lag: z.int(), other_rows: z.int() }),
  reads: part.describe('of resources and the log over REST: on a node that shares its log, READS=local does not need PostgreSQL for them'),
  log: z.object({
    ...{ position: z.int().nullable(), writable: z.boolean(), reason: z.string().optional() },
    shared: z
      .object({ state: z.enum(sharedStates), lag: z.object({ batches: z.int(), events: z.int() }) })
      .optional()
      .describe('with LOG_URL: how the node stands to PostgreSQL, and how much it heard of that it does not have yet'),
  }),
  warnings: z.array(z.string()).optional().describe('problems that stop no requests, but that an operator should know'),
})
const parts = ['rest', 'sql', 'reads'] as const
const healthSchema = z.object({ status: z.literal('ok'), service: z.literal('mindledger'), version: z.string(), instance: z.string() })
const storageSchema = z.object({
  bytes: z.object(Object.fromEntries(Object.keys(diskKinds).map((kind) => [kind, z.int()])) as Record<DiskKind, z.ZodInt>),
  total: z.int(),
  free: z.int(),
})

const isReady = (found: Readiness, wanted: (typeof parts)[number] | undefined): boolean =>
  wanted === undefined ? found.rest.ready && found.sql.ready : found[wanted].ready

/** The routes for operators and monitoring: health, readiness, metrics and disk use. */
export const observeRoutes = ({ version, instance, readiness, metrics, disk }: Services): Route[] => [
  route({
    method: 'get',
    path: '/health',
    summary: 'Whether the process answers: the status is 200 as long as it does',
    ofNode: true,
    answers: { 200: healthSchema },
    async handle() {
      return json({ status: 'ok', service: 'mindledger', version, instance })
    },
  }),
  route({
    method: 'get',
    path: '/ready',
    summary: 'Readiness: 200 if the service, or the requested part, is ready; otherwise 503',
    ofNode: true,
    query: { for: oneOf(parts, `for is ${parts.join(' or ')}`, z.enum(parts).optional().describe('only this part decides the status')) },
    answers: { 200: readinessSchema, 503: readinessSchema },
    async handle({ query }) {
      const found = await readiness()
      return json(found, { status: isReady(found, query.for) ? 200 : 503 })
    },
  }),
  route({
    method: 'get',
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    ofNode: true,
    gives: ['text/plain'],
    answers: { 200: null },
    async handle() {
      return text(metrics.contentType, await metrics.text())
    },
  }),
  route({
    method: 'get',
    path: '/log/storage',
    summary: 'Bytes in the data directory by kind, and free bytes on its disk',
    ofNode: true,
    answers: { 200: storageSchema },
    async handle() {
      const { bytes, free } = await disk()
      return json({ bytes, total: Object.values(bytes).reduce((sum, one) => sum + one, 0), free })
    },
  }),
]
