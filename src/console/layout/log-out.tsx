import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { json, loginNeeded } from '../api/request.js'
import { useLoaded, useSending } from '../basics/loading.js'
import { keep } from '../basics/kept.js'
import { Icon } from '../components/icon.js'
import { Refusal } from '../components/notice.js'

type Status = { auth: { confirmed: boolean; http_auth_enabled: boolean } }

const readStatus = (signal?: AbortSignal): Promise<Status> => json<Status>('status', { signal })

/** Tells the other windows of this browser, because they share the session. */
const loggedOut = 'logged-out'

/** Whether a session was there, and nobody ended it. A page then stays behind the login. */
export const isInSession = signal(false)

/** Shows the login. Leaving the document also clears its memory. */
const leave = (): void => {
  isInSession.value = false
  loginNeeded.value = true
  location.reload()
}

/** Shows the login if the session ended without a request of this page: in another window, or before the browser went back to this page. */
const useEnd = (): void => {
  // What another window says before the next frame counts, too.
  useLayoutEffect(() => {
    const onKept = ({ key }: StorageEvent) => key === loggedOut && leave()
    const onBack = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return
      readStatus().then(
        ({ auth }) => !auth.confirmed && leave(),
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

/** Ends the session, if the service has a login. No loaded data stays in the page. */
export const LogOut = () => {
  const { loaded } = useLoaded(readStatus, [])
  const { send, error } = useSending()
  useEnd()
  const auth = loaded.value.value?.auth
  // With the next frame it would be too late: the session may end before, and the page would be lost behind the login.
  useLayoutEffect(() => {
    if (auth?.confirmed === true) isInSession.value = true
    // A page may need nothing that the service keeps from others.
    else if (auth?.http_auth_enabled === true) loginNeeded.value = true
  }, [auth])
  if (auth?.http_auth_enabled !== true) return null
  const end = () =>
    send(async () => {
      await json('logout', { method: 'POST' })
      keep(loggedOut, String(Date.now()))
      // The address may contain a statement.
      history.replaceState(null, '', '#/')
      leave()
    })
  return (
    <>
      <button type="button" class="plain log-out" onClick={() => void end()} title="Log out">
        <Icon name="leave" />
        <span>Log out</span>
      </button>
      {error && (
        <div class="popover">
          <Refusal error={error} again={() => void end()} />
        </div>
      )}
    </>
  )
}
