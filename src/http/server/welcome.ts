import type { Call } from '../protocol/call.js'
import { json, type Reply } from '../protocol/reply.js'
import type { ServiceInfo } from '../routes/status.js'
import { consolePage } from './console.js'

const addresses = ['/api/projects', '/api/sql/query', '/api/files', '/api/databases', '/api/events', '/api/status', '/api/openapi.json']
const tables = [
  'information_schema.tables',
  'information_schema.columns',
  'information_schema.models',
  'agents',
  'skills',
  'log.events',
  'log.predictions',
]

const curls = (base: string) => [
  `curl ${base}/api/projects`,
  `curl -X POST ${base}/api/sql/query -H 'Content-Type: application/json' -d '{"query": "SHOW TABLES FROM log"}'`,
  `curl -X PUT ${base}/api/files/rentals -F file=@rentals.csv`,
]

/** Introduces the service: the console for browsers, JSON for other clients. */
export const welcome = async ({ version, defaultProject }: ServiceInfo, call: Call): Promise<Reply> => {
  const page = call.accepts(['json', 'html']) === 'html' ? await consolePage(call) : undefined
  if (page) return page
  const host = call.header('host') ?? ''
  const base = `http://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`
  const about = { name: 'Mindledger', version, default_project: defaultProject, addresses, tables, try: curls(base) }
  return json(about, { headers: { Vary: 'Accept, Accept-Encoding' } })
}
