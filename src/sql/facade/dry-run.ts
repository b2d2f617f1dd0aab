import { parseEnvelope } from '../../../events/stored/envelope.js'
import { Problem } from '../../basics/errors.js'
import { maskSecrets } from '../../vault/secrets.js'
import { tableOf, type SqlAnswer, type SqlContext } from '../contract/answer.js'
import type { RunningStatement } from '../contract/request.js'

/** @throws Problem where a dry run is asked for, which the statement does not have */
export const refuseDryRun = ({ execution }: RunningStatement): void => {
  if (execution?.dryRun)
    throw new Problem('refused_statement', 'No dry run', 'a dry run is for statements that write a resource, such as CREATE AGENT', {
      hint: 'Leave out Prefer: dry-run, or "dry_run" in "context"; EXPLAIN tells how a query is answered.',
    })
}

/** The events that a statement would record, a row for each; secrets show as ******. */
export const plannedAnswer = (planned: readonly string[], context: SqlContext): SqlAnswer => {
  const rows = planned
    .map(parseEnvelope)
    .map(({ type, stream, version, data }) => [type, stream, version, JSON.stringify(maskSecrets(data))])
  return tableOf(['type', 'stream', 'version', 'data'], rows, context)
}
