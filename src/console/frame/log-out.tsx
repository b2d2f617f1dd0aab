import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { json, loginNeeded, type ApiError } from '../api/request.js'
import { asApiError, useLoaded } from '../basics/loading.js'
import { Icon } from '../parts/icon.js'
import { Refusal } from '../parts/notice.js'

type Status = { auth: { confirmed: boolean; http_auth_enabled: boolean } }

const readStatus = (signal?: AbortSignal): Promise<Status> => json<Status>('status', { signal })

/** Tells the other windows of this browser: the session is theirs, too. */
const loggedOut = 'logged-out'

/** Asks for the login where the session ended while nothing was asked for: in another window, or before the browser went back to here. */
const useEnd = (): void => {
  useEffect(() => {
    const onKept = ({ key }: StorageEvent) => key === loggedOut && (loginNeeded.value = true)
    const onBack = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return
      readStatus().then(
        ({ auth }) => (loginNeeded.value = !auth.confirmed),
        () => undefined,
      )
    }
    addEventListener('storage', onKept)
    addEventListener('pageshow', onBack)
    return () => {
      removeEventListener('storage', onKept)
      removeEventListener('pageshow', onBack)
    }
  }, [])
}

/** Ends the session, where the service has a login. Nothing that was read stays in the page. */
export const LogOut = () => {
  const { loaded } = useLoaded(readStatus, [])
  const error = useSignal<ApiError | undefined>(undefined)
  useEnd()
  if (loaded.value.value?.auth.http_auth_enabled !== true) return null
  const end = async () => {
    try {
      await json('logout', { method: 'POST' })
      localStorage.setItem(loggedOut, String(Date.now()))
      loginNeeded.value = true
      // An address may say a statement; what is in memory goes with the document.
      history.replaceState(null, '', '#/')
      location.reload()
    } catch (refused) {
      error.value = asApiError(refused)
    }
  }
  return (
    <>
      <button type="button" class="plain log-out" onClick={() => void end()} title="Log out">
        <Icon name="leave" />
        <span>Log out</span>
      </button>
      {error.value && (
        <div class="popover">
          <Refusal error={error.value} again={() => void end()} />
        </div>
      )}
    </>
  )
}
