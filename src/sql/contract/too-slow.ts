import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { SelectRequest } from './select.js'

type Timed = Pick<SelectRequest, 'purpose' | 'timeoutMs'>

const limitOf = ({ purpose = 'query', timeoutMs }: Timed): keyof typeof limits => {
  if (purpose === 'training') return 'trainingReadTimeoutMs'
  if (purpose === 'skill') return timeoutMs === limits.agentSampleTimeoutMs ? 'agentSampleTimeoutMs' : 'agentQueryTimeoutMs'
  return 'sqlTimeoutMs'
}

/**
 * The problem of a query whose time is over. The process that runs it and the one that waits for it may both notice that first, so both
 * say the same.
 *
 * @example queryTooSlow({}, 60_000).detail // 'The query took longer than 60000 ms (sqlTimeoutMs)'
 */
export const queryTooSlow = (request: Timed, timeoutMs: number): Problem => {
  const limit = limitOf(request)
  return new Problem('query_limit', 'The query took too long', `The query took longer than ${timeoutMs} ms (${limit})`, {
    limit,
    hint: 'Narrow it with WHERE or LIMIT. If a connected database is slow, let it do more of the work in its own SQL: SELECT * FROM db (SELECT …).',
  })
}
