import { useEffect, useRef } from 'preact/hooks'
import { json } from '../../api/request.js'
import { useLoaded, useRepeated, useSending } from '../../basics/loading.js'
import { Refusal } from '../../components/notice.js'
import { figure } from '../../components/value.js'
import { isUnderWay, loadVersions, type ModelName, type ListedVersion } from './reports.js'

const lookEveryMs = 700

/** The state of a phase when the page first saw it. */
type PhaseStart = { phase: string | null; at: number; done: number }

/** The remaining seconds of a phase at the observed speed; undefined until there is one. */
const secondsLeft = ({ at, done }: PhaseStart, now: { at: number; done: number; total: number }): number | undefined => {
  const pace = (now.done - done) / (now.at - at)
  return pace > 0 && Number.isFinite(pace) ? (now.total - now.done) / pace / 1_000 : undefined
}

/** The duration of the last completed training. */
const lastTook = (versions: readonly ListedVersion[]): string => {
  const last = versions.find(({ seconds }) => seconds !== null)
  return last ? ` Version ${last.version} took ${figure(last.seconds)} s in all.` : ''
}

type Props = {
  of: ModelName
  version: number
  /** Gets whether the training failed. One that was cancelled here did not. */
  ended: (hasFailed: boolean) => void
}

/** The progress of a training, and the remaining time. It is updated until the training ends. */
export const Progress = ({ of, version, ended }: Props) => {
  const isCancelled = useRef(false)
  const { send, isSending, error } = useSending()
  const begun = useRef<PhaseStart | undefined>(undefined)
  const { loaded, reload } = useLoaded((signal) => loadVersions(of, undefined, signal), [of.project, of.model])
  useRepeated(loaded, reload, lookEveryMs)
  const versions = loaded.value.value ?? []
  const job = versions.find((one) => one.version === version)
  const hasEnded = job !== undefined && !isUnderWay(job.status)
  useEffect(() => {
    if (hasEnded) ended(job.status === 'error' && !isCancelled.current)
  }, [hasEnded])
  const cancel = () =>
    send(async () => {
      // The end may be seen before the answer comes.
      isCancelled.current = true
      const path = `projects/${encodeURIComponent(of.project)}/models/${encodeURIComponent(of.model)}/cancel`
      await json(path, { method: 'POST', body: {} }).catch((refused: unknown) => {
        isCancelled.current = false
        throw refused
      })
    })
  const [done, total] = [Number(job?.done ?? NaN), Number(job?.total ?? NaN)]
  const isMeasured = total > 0 && done >= 0
  const now = { at: performance.now(), done, total }
  if (isMeasured && job && begun.current?.phase !== job.current_phase) begun.current = { phase: job.current_phase, ...now }
  const left = isMeasured && begun.current ? secondsLeft(begun.current, now) : undefined
  return (
    <section class="notice" aria-label="Training">
      <p role="status">
        Version {version} is {job?.status ?? 'training'}
        {job?.current_phase === null || job === undefined ? '' : `: ${job.current_phase}`}
      </p>
      <div class="row">
        <progress aria-label="Progress of this phase" {...(isMeasured && { value: done, max: total })} />
        {isMeasured && (
          <span>
            {figure(done)} of {figure(total)}
          </span>
        )}
        <button type="button" disabled={isSending} onClick={() => void cancel()}>
          Cancel the training
        </button>
      </div>
      <p class="quiet">
        {left === undefined
          ? 'How long this phase takes is not known yet.'
          : `About ${Math.max(1, Math.round(left))} s are left of this phase.`}
        {lastTook(versions)}
      </p>
      {error && <Refusal error={error} />}
    </section>
  )
}
