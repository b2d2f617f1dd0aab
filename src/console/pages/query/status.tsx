import { bytesText, countText, msText } from '../../parts/value.js'
import { answerMaxBytes } from './rows.js'
import type { Outcome } from './statement-run.js'

/** How far a statement is, or how it ended. */
export const Status = ({ outcome }: { outcome: Outcome }) => {
  if (outcome.type === 'running') return <p role="status">Running…</p>
  if (outcome.type === 'ok')
    return (
      <p role="status">
        Done{outcome.affected === null ? '' : `: ${countText(outcome.affected)} rows`}, in {msText(outcome.ms)}.
      </p>
    )
  if (outcome.type !== 'table') return null
  const { store, isWhole, isCut, isDryRun, firstMs, ms } = outcome
  if (isDryRun)
    return (
      <p role="status">
        Nothing was written. {store.total === 1 ? 'This event' : `These ${countText(store.total)} events`} would be recorded.
      </p>
    )
  const left = store.length === store.total ? '' : `${countText(store.length)} of `
  return (
    <p role="status">
      {left}
      {countText(store.total)} {store.total === 1 ? 'row' : 'rows'}
      {isWhole ? '' : ' so far'} · first after {msText(firstMs)}
      {isWhole ? `, all after ${msText(ms)}` : ''}
      {isCut && store.isFull ? ` · cut off at ${bytesText(answerMaxBytes)}: select less, or download it` : isCut ? ' · cancelled' : ''}
    </p>
  )
}
