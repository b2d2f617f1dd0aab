import { useSignal } from '@preact/signals'
import { json, type ApiError } from '../../api/request.js'
import { asApiError, useIsShown } from '../../basics/loading.js'
import { go } from '../../basics/place.js'
import { pathOfResource } from '../../basics/kinds.js'
import { Refusal } from '../../components/notice.js'

const engines = [
  ['postgres', 'PostgreSQL', 5432],
  ['mysql', 'MySQL', 3306],
  ['mariadb', 'MariaDB', 3306],
] as const

/** The service's answer to a tested connection: it was stored, or the reason why not. */
type ConnectionCheck = { status?: string; detail?: string }

/** A form that connects a database, whose data stays there. The connection is tested before it is stored. */
export default () => {
  const error = useSignal<ApiError | undefined>(undefined)
  const refused = useSignal<string | undefined>(undefined)
  const isSending = useSignal(false)
  const isShown = useIsShown()
  const engine = useSignal<string>('postgres')
  const port = engines.find(([name]) => name === engine.value)?.[2] ?? 5432
  const send = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const written = (name: string): string => {
      const value = form.get(name)
      return typeof value === 'string' ? value : ''
    }
    const text = (name: string): string => written(name).trim()
    const parameters = {
      host: text('host'),
      port: Number(text('port')),
      user: text('user'),
      password: written('password'),
      database: text('database'),
    }
    isSending.value = true
    error.value = undefined
    refused.value = undefined
    try {
      const body = { database: { name: text('name'), engine: engine.value, parameters }, check_connection: true }
      const tried = await json<ConnectionCheck>('databases', { method: 'POST', body })
      if (tried.status === 'connection_error') refused.value = tried.detail ?? 'The database cannot be reached'
      if (refused.value === undefined && isShown()) go(pathOfResource('database', null, text('name')))
    } catch (failed) {
      error.value = asApiError(failed)
    } finally {
      isSending.value = false
    }
  }
  return (
    <>
      <h1>Connect a database</h1>
      <p>Its rows stay where they are: queries, models and agents read them there. The password is encrypted before it is kept.</p>
      <form class="connect" onSubmit={(event) => void send(event)}>
        <label>
          Name
          <input
            name="name"
            required
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            title="Letters, digits and _, beginning with a letter"
            placeholder="shop"
          />
        </label>
        <label>
          Kind
          <select value={engine.value} onChange={({ currentTarget }) => (engine.value = currentTarget.value)}>
            {engines.map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          Host
          <input name="host" required placeholder="db.example" autocomplete="off" />
        </label>
        <label>
          Port
          <input name="port" type="number" min={1} max={65535} required key={port} defaultValue={String(port)} />
        </label>
        <label>
          Database
          <input name="database" required autocomplete="off" />
        </label>
        <label>
          User
          <input name="user" required autocomplete="off" />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="new-password" />
        </label>
        <button type="submit" class="primary" disabled={isSending.value}>
          {isSending.value ? 'Trying…' : 'Try it, and keep it'}
        </button>
      </form>
      {error.value && <Refusal error={error.value} />}
      {refused.value !== undefined && (
        <div class="notice bad" role="alert">
          <p>{refused.value}</p>
          <p class="quiet">Nothing was kept.</p>
        </div>
      )}
    </>
  )
}
