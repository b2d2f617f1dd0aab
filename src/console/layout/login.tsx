import { useSignal } from '@preact/signals'
import { json, loginNeeded, type ApiError } from '../api/request.js'
import { Refusal } from '../components/notice.js'
import { asApiError } from '../basics/loading.js'

/** Asks for name and password. The session is in a cookie, which scripts cannot read. */
export const Login = () => {
  const error = useSignal<ApiError | undefined>(undefined)
  const isSending = useSignal(false)
  const send = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    isSending.value = true
    try {
      await json('login', { method: 'POST', body: { username: form.get('username'), password: form.get('password') } })
      loginNeeded.value = false
    } catch (refused) {
      error.value = asApiError(refused)
    } finally {
      isSending.value = false
    }
  }
  return (
    <main class="login">
      <form class="card" onSubmit={(event) => void send(event)}>
        <h1>Mindledger</h1>
        <label>
          User name
          <input name="username" autocomplete="username" required autofocus />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        {error.value && <Refusal error={error.value} />}
        <button type="submit" class="primary" disabled={isSending.value}>
          Log in
        </button>
      </form>
    </main>
  )
}
