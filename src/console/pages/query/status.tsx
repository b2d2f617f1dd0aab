import { bytesText, countText, msText } from '../../components/value.js'
import { answerMaxBytes } from './answer/rows.js'
import type { Outcome } from './statement-run.js'

const rowsText = (count: number): string => `${countText(count)} ${count === 1 ? 'row' : 'rows'}`

/** The progress of a statement, or its result. `isArranging` while its rows are sorted and filtered. */
export const Status = ({ outcome, isArranging }: { outcome: Outcome; isArranging: boolean }) => {
  if (outcome.type === 'running')
    return <p role="status">{outcome.isWaiting === true ? 'Waiting for the service; it is asked again by itself…' : 'Running…'}</p>
  if (outcome.type === 'cancelled')
    return <p role="status">{outcome.mayBeDone ? 'The page waits no longer.' : 'Cancelled before the first row.'}</p>
  if (outcome.type === 'ok')
    return (
      <p role="status">
        Done{outcome.affected === null ? '' : `: ${countText(outcome.affected)} rows`}, in {msText(outcome.ms)}.
      </p>
    )
  if (outcome.type !== 'table') return null
  const { store, isWhole, isCut, isDryRun, firstMs, ms, error } = outcome
  if (isDryRun)
    return (
      <p role="status">
        Nothing was written. {store.total === 1 ? 'This event' : `These ${countText(store.total)} events`} would be recorded.
      </p>
    )
  const left = store.length === store.total ? '' : `${countText(store.length)} of `
  // While rows come, screen readers would say every number of them.
  return (
    <p role="status" aria-busy={!isWhole}>
      {left}
      {rowsText(store.total)}
      {isWhole ? '' : ' so far'} · first after {msText(firstMs)}
      {isWhole ? `, all after ${msText(ms)}` : ''}
      {error
        ? ' · cut off'
        : isCut && store.isFull
          ? ` · cut off at ${bytesText(answerMaxBytes)}: select less, or download it`
          : isCut
            ? ' · cancelled'
            : ''}
      {isArranging ? ' · sorting and filtering…' : ''}
    </p>
  )
}

/** Why a statement has no answer, or only its first rows, and what the user can do. */
export const NoAnswer = ({ outcome }: { outcome: Outcome }) => {
  if (outcome.type !== 'error' && outcome.type !== 'table') return null
  const { error } = outcome
  if (!error) return null
  return (
    <div class="notice bad" role="alert">
      {outcome.type === 'table' && <p>The answer was cut off after {rowsText(outcome.store.total)}, which are below. There may be more.</p>}
      <pre tabIndex={0} role="region" aria-label="The error">
        {error.message}
      </pre>
      {outcome.type === 'table' ? (
        <p class="quiet">Run it again for the whole answer, or select less with WHERE or LIMIT.</p>
      ) : (
        error.hint !== undefined && <p class="quiet">{error.hint}</p>
      )}
    </div>
  )
}
