import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { apiUrl } from '../api/request.js'
import { asApiError } from '../basics/loading.js'
import { Busy, Refusal } from '../components/notice.js'

const pollMs = 1_000
const reopened = 'opened-again'
/** Without a limit, code that does not exist would be requested again and again. */
const reopenEveryMs = 30_000

/** Resolves when the service answers. @throws the reason of the signal */
const untilItAnswers = async (signal: AbortSignal): Promise<void> => {
  for (;;) {
    const isThere = await fetch(apiUrl('health'), { cache: 'no-store', signal }).then(
      ({ ok }) => ok,
      () => false,
    )
    signal.throwIfAborted()
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

/**
 * Shown instead of a page whose code could not be loaded, because the service is unreachable or another release has other files. The page
 * opens by itself when the service answers; the address keeps its state.
 * opens by itself when the service answers; its state is in the address.
 */
export const Unloaded = ({ error }: { error: unknown }) => {
  const isGivenUp = useSignal(false)
  useEffect(() => {
    const aborting = new AbortController()
    const reopen = async () => {
      await untilItAnswers(aborting.signal)
      if (Date.now() - Number(sessionStorage.getItem(reopened) ?? '0') < reopenEveryMs) {
        isGivenUp.value = true
        return
      }
      sessionStorage.setItem(reopened, String(Date.now()))
      location.reload()
    }
    reopen().catch(() => undefined)
    return () => aborting.abort()
  }, [])
  if (isGivenUp.value) return <Refusal error={asApiError(error)} again={() => location.reload()} />
  return <Busy what="Waiting for the service; this page opens when it answers" />
}
