import type { Call } from '../protocol/call.js'
import { json, text, type Reply } from '../protocol/reply.js'
import type { About } from '../routes/status.js'

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

const escape = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
const list = (items: readonly string[]) => `<ul>${items.map((item) => `<li><code>${escape(item)}</code></li>`).join('')}</ul>`

const page = (version: string, base: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mindledger</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:3rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}pre{background:#8882;padding:1em;overflow:auto}:root{color-scheme:light dark}</style>
<h1>Mindledger ${escape(version)}</h1>
<p>Projects of skills, agents, chatbots and models, kept as a hash-chained event log; SQL and predictions over them.</p>
<h2>Addresses</h2>${list(addresses)}
<h2>Tables to query</h2>${list(tables)}
<h2>First steps</h2><pre>${escape(curls(base).join('\n'))}</pre>
</html>`

/** Introduces the service: a page for browsers, JSON for other clients. */
export const welcome = ({ version, defaultProject }: About, call: Call): Reply => {
  const host = call.header('host') ?? ''
  const base = `http://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`
  const headers = { Vary: 'Accept' }
  if (call.accepts(['json', 'html']) === 'html') return text('text/html', page(version, base), { headers })
  const about = { name: 'Mindledger', version, default_project: defaultProject, addresses, tables, try: curls(base) }
  return json(about, { headers })
}
