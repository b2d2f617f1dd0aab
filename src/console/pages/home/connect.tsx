import { useSignal } from '@preact/signals'
import { json } from '../../api/request.js'
import { useDraft } from '../../basics/drafts.js'
import { useIsShown, useSending } from '../../basics/loading.js'
import { goToMade, hrefOf } from '../../basics/place.js'
import { pathOfResource } from '../../basics/kinds.js'
import { Refusal } from '../../components/notice.js'
import { Restored } from '../../components/restored.js'

const engines = [
  ['postgres', 'PostgreSQL', 5432],
  ['mysql', 'MySQL', 3306],
  ['mariadb', 'MariaDB', 3306],
] as const

/** The service's answer to a tested connection: it was stored, or the reason why not. */
type ConnectionCheck = { status?: string; detail?: string }

/**
 * The texts of the fields, without the password: a browser must not keep it. The kind and its port alone are no texts, and a kind that was
 * just chosen does not have its port yet.
 */
const textsIn = (form: HTMLFormElement, isKindNew: boolean): Record<string, string> => {
  const isText = (entry: [string, unknown]): entry is [string, string] =>
    entry[1] !== '' && entry[0] !== 'password' && !(isKindNew && entry[0] === 'port')
  const texts = [...new FormData(form)].filter(isText)
  return texts.every(([name]) => name === 'engine' || name === 'port') ? {} : Object.fromEntries(texts)
}

/** A form that connects a database, whose data stays there. The connection is tested before it is stored. */
export default () => {
  const { send, isSending, error } = useSending()
  const refused = useSignal<string | undefined>(undefined)
  const isShown = useIsShown()
  const { found, type, drop } = useDraft('connect')
  const typed = (name: string): string | undefined => found?.texts[name]
  const engine = useSignal(typed('engine') ?? 'postgres')
  const port = engines.find(([name]) => name === engine.value)?.[2] ?? 5432
  const connect = (event: SubmitEvent) => {
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
    void send(async () => {
      refused.value = undefined
      const body = { database: { name: text('name'), engine: engine.value, parameters }, check_connection: true }
      const tried = await json<ConnectionCheck>('databases', { method: 'POST', body })
      if (tried.status === 'connection_error') refused.value = tried.detail ?? 'The database cannot be reached'
      if (refused.value !== undefined) return
      drop()
      if (isShown()) goToMade(pathOfResource('database', null, text('name')), { tab: 'tables' })
    })
  }
  return (
    <>
      <h1>Connect a database</h1>
      <p>Its rows stay where they are: queries, models and agents read them there. The password is encrypted before it is kept.</p>
      <p>
        <a href={hrefOf('/new/database')}>Other kinds of databases, TLS, and all parameters</a>
      </p>
      {found && (
        <Restored
          draft={found}
          missing="The password is not kept in the browser: type it again."
          discard={() => {
            drop()
            engine.value = 'postgres'
          }}
        />
      )}
      <form
        key={found ? 'restored' : 'new'}
        class="connect"
        onSubmit={connect}
        onInput={({ currentTarget, target }) => type(textsIn(currentTarget, target instanceof HTMLSelectElement))}
      >
        <label>
          Name
          <input
            name="name"
            defaultValue={typed('name') ?? ''}
            required
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            title="Letters, digits and _, beginning with a letter"
            placeholder="shop"
          />
        </label>
        <label>
          Kind
          <select name="engine" value={engine.value} onChange={({ currentTarget }) => (engine.value = currentTarget.value)}>
            {engines.map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          Host
          <input name="host" defaultValue={typed('host') ?? ''} required placeholder="db.example" autocomplete="off" />
        </label>
        <label>
          Port
          <input
            name="port"
            type="number"
            min={1}
            max={65535}
            required
            key={port}
            defaultValue={(engine.value === typed('engine') && typed('port')) || String(port)}
          />
        </label>
        <label>
          Database
          <input name="database" defaultValue={typed('database') ?? ''} required autocomplete="off" />
        </label>
        <label>
          User
          <input name="user" defaultValue={typed('user') ?? ''} required autocomplete="off" />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="new-password" />
        </label>
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? 'Trying…' : 'Try it, and keep it'}
        </button>
      </form>
      {error && <Refusal error={error} />}
      {refused.value !== undefined && (
        <div class="notice bad" role="alert">
          <p>{refused.value}</p>
          <p class="quiet">Nothing was kept.</p>
        </div>
      )}
    </>
  )
}
