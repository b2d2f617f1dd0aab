import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { setAway, untilReachable } from '../api/away.js'
import { keep, readKept } from '../basics/kept.js'
import { asApiError, reopen } from '../basics/loading.js'
import { Busy, Refusal } from '../components/notice.js'

const reopened = 'opened-again'
/** Without a limit, code that does not exist would be requested again and again. */
const reopenEveryMs = 30_000

/**
 * Shown instead of a page whose code could not be loaded, because the service is unreachable or another release has other files. The page
 * opens by itself when the service answers; its state is in the address.
 */
export const Unloaded = ({ error }: { error: unknown }) => {
  const isGivenUp = useSignal(false)
  useEffect(() => {
    const aborting = new AbortController()
    const reopenOnce = async () => {
      setAway()
      await untilReachable(aborting.signal)
      if (aborting.signal.aborted) return
      const isTooSoon = Date.now() - Number(readKept(reopened, 'session') ?? '0') < reopenEveryMs
      if (!isTooSoon && keep(reopened, String(Date.now()), 'session')) location.reload()
      else isGivenUp.value = true
    }
    void reopenOnce()
    return () => aborting.abort()
  }, [])
  if (isGivenUp.value) return <Refusal error={asApiError(error)} again={() => void reopen()} />
  return <Busy what="Waiting for the service; this page opens when it answers" />
}
