import { Problem } from '../../basics/errors.js'
import type { Call } from '../protocol/call.js'

/** Paths of MindsDB that this service lacks, and what to use instead. `listed` has their names in the README. */
export const notBuilt: readonly { path: RegExp; listed: readonly string[]; what: string; instead: string }[] = [
  {
    path: /^\/projects\/[^/]+\/triggers(\/|$)/,
    listed: ['triggers'],
    what: 'triggers',
    instead: 'Follow the log: mindledger log --follow.',
  },
  {
    path: /^\/config\/\w+/,
    listed: ['`/api/config/integrations`'],
    what: 'this part of the configuration',
    instead: 'GET /api/databases lists the connections.',
  },
  {
    path: /^\/handlers\/byom(\/|$)/,
    listed: ['`/api/handlers/byom`'],
    what: 'engines of uploaded code',
    instead: 'CREATE MODEL trains with the engines that SHOW ML_ENGINES lists.',
  },
  {
    path: /^\/handlers\/[^/]+\/(icon|readme)(\/|$)/,
    listed: ['`/api/handlers/<handler>/icon`', '`/api/handlers/<handler>/readme`'],
    what: 'icons and pages of handlers',
    instead: 'GET /api/handlers/<handler> has its title and description.',
  },
  {
    path: /^\/sql\/(query\/copy|charter)(\/|$)/,
    listed: ['`/api/sql/query/copy`', '`/api/sql/charter`'],
    what: 'this SQL helper',
    instead: 'POST /api/sql/query.',
  },
  {
    path: /^\/sql\/query\/utils\/parametrize_constants(\/|$)/,
    listed: ['`/api/sql/query/utils/parametrize_constants`'],
    what: 'a path that puts parameters in the place of constants',
    instead: 'Write :name in the statement, and send the values as "params" beside it to POST /api/sql/query.',
  },
  {
    path: /^\/(tabs|integrations|auth)(\/|$)/,
    listed: ['`/api/tabs`', '`/api/integrations`', '`/api/auth`'],
    what: 'paths of the graphical interface',
    instead: 'See GET /api/openapi.json for what there is.',
  },
]

/** Paths whose clients read only server-sent events. */
const streams = /\/completions\/stream\/?$/i

/** Whether a refusal is read as server-sent events, whatever its status. */
export const readsEvents = (call: Call): boolean =>
  call.method === 'POST' && streams.test(call.path) && call.accepts(['text/event-stream']) !== false

/** Refuses a path in `notBuilt`. @throws Problem that names what to use instead */
export const refuseNotBuilt = ({ path }: Call): void => {
  const known = notBuilt.find((one) => one.path.test(path))
  if (!known) return
  throw new Problem('not_built', 'Not available', `this service does not have ${known.what}`, { hint: known.instead })
}
