import type { Command } from '@event-driven-io/emmett'
import { queriesStream, type DatabaseQueried } from '../../../events/records/queries.js'
import type { Decisions } from '../rules/decider.js'

export type QueriesCommand = Command<'RecordQuery', DatabaseQueried>

/** Decides the records of connected databases. Their streams are separate from the connections' and have no state. */
export const queriesDecisions: Decisions<QueriesCommand, object> = {
  commands: { RecordQuery: 'record' },
  secrets: [],
  reads: () => ({}),
  decide: ({ data }) => [{ stream: queriesStream(data.connection), event: { type: 'DatabaseQueried', data } }],
}
