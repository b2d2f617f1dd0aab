import { json, loginNeeded } from '../api/request.js'
import { Refusal } from '../components/notice.js'
import { useSending } from '../basics/loading.js'

/** Asks for name and password. The session is in a cookie, which scripts cannot read. */
export const Login = () => {
  const { send, isSending, error } = useSending()
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
        <label>
          User name
          <input name="username" autocomplete="username" required autofocus />
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
