import { useLayoutEffect, useRef } from 'preact/hooks'
import { json, loginNeeded } from '../api/request.js'
import { Refusal } from '../components/notice.js'
import { focusedElement } from '../basics/focus.js'
import { useSending } from '../basics/loading.js'
import { noteShown } from './heading.js'

/** Asks for name and password. The session is in a cookie, which scripts cannot read. `isAgain` if a session ended, and a page waits. */
export const Login = ({ isAgain = false }: { isAgain?: boolean }) => {
  const { send, isSending, error } = useSending()
  const user = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    const before = focusedElement()
    noteShown()
    user.current?.focus()
    // The page that waits is shown again only after this form is gone.
    return () => queueMicrotask(() => before?.focus())
  }, [])
  const logIn = (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    void send(async () => {
      await json('login', { method: 'POST', body: { username: form.get('username'), password: form.get('password') } })
      loginNeeded.value = false
    })
  }
  return (
    <main class="login">
      <form class="card" onSubmit={logIn}>
        <h1>Mindledger</h1>
        {isAgain && <p id="session-ended">Your session ended. Log in again: the page and what you typed are still there.</p>}
        <label>
          User name
          <input ref={user} name="username" autocomplete="username" required aria-describedby={isAgain ? 'session-ended' : undefined} />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        {error && <Refusal error={error} />}
        <button type="submit" class="primary" disabled={isSending}>
          Log in
        </button>
      </form>
    </main>
  )
}
