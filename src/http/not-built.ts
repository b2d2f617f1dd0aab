import type { RequestHandler } from 'express'
import { Problem } from '../errors.js'

/** Paths of the public service that this one does not have, and what to use instead. `listed` is how README names them. */
export const notBuilt: readonly { path: RegExp; method?: string; listed: readonly string[]; what: string; instead: string }[] = [
  {
    path: /^\/projects\/[^/]+\/models\/[^/]+\/?$/,
    method: 'PUT',
    listed: ['`PUT /api/projects/<project>/models/<model>`'],
    what: 'editing of a trained model',
    instead: 'RETRAIN project.model USING … over POST /api/sql/query makes a new version.',
  },
  {
    path: /^\/projects\/[^/]+\/knowledge_bases(\/|$)/,
    listed: ['knowledge bases'],
    what: 'knowledge bases',
    instead: 'Upload the documents as a file and query it: PUT /api/files/<name>.',
  },
  {
    path: /^\/projects\/[^/]+\/triggers(\/|$)/,
    listed: ['triggers'],
    what: 'triggers',
    instead: 'Follow the log: mindledger log --follow.',
  },
  {
    path: /^\/projects\/[^/]+\/agents\/[^/]+\/completions(\/|$)/,
    listed: ['agent completions'],
    what: 'agent completions',
    instead: 'Ask the language model directly; the agent record has its prompt_template and skills.',
  },
  {
    path: /^\/databases\/[^/]+\/tables(\/|$)/,
    listed: ['`/api/databases/<db>/tables`'],
    what: 'tables of a connection',
    instead: 'SHOW TABLES FROM <database> over POST /api/sql/query.',
  },
  {
    path: /^\/databases\/status(\/|$)/,
    listed: ['`/api/databases/status`'],
    what: 'connection tests',
    instead: 'Connections are kept as they are given.',
  },
  {
    path: /^\/tree(\/|$)/,
    listed: ['`/api/tree`'],
    what: 'the tree',
    instead: 'SHOW FULL TABLES FROM <project> over POST /api/sql/query.',
  },
  {
    path: /^\/config(\/|$)/,
    listed: ['`/api/config`'],
    what: 'configuration over REST',
    instead: 'Settings are environment variables; see docs/operate.md.',
  },
  { path: /^\/handlers(\/|$)/, listed: ['`/api/handlers`'], what: 'handlers', instead: 'Engines are part of this service.' },
  {
    path: /^\/sql\/(list_databases|query\/utils|charter)(\/|$)/,
    listed: ['`/api/sql/list_databases`', '`/api/sql/query/utils/…`', '`/api/sql/charter`'],
    what: 'this SQL helper',
    instead: 'SHOW DATABASES and SHOW TABLES over POST /api/sql/query.',
  },
  {
    path: /^\/webhooks(\/|$)/,
    listed: ['webhooks'],
    what: 'webhooks of chatbots',
    instead: 'Chatbots are records here; the process that talks reads them over REST.',
  },
  {
    path: /^\/(tabs|integrations|auth)(\/|$)/,
    listed: ['`/api/tabs`', '`/api/integrations`', '`/api/auth`'],
    what: 'paths of the graphical interface',
    instead: 'See GET /api/openapi.json for what there is.',
  },
  { path: /^\/util\/ping_native(\/|$)/, listed: ['`/api/util/ping_native`'], what: 'ping_native', instead: 'GET /api/util/ping.' },
]

export const refuseNotBuilt: RequestHandler = (req, _res, next) => {
  const known = notBuilt.find(({ path, method = req.method }) => method === req.method && path.test(req.path))
  if (known) throw new Problem('not_built', 'Not available', `this service does not have ${known.what}`, { hint: known.instead })
  next()
}
