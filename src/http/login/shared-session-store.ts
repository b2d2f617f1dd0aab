import type { SharedLogSession } from '../../log/shared/postgres/shared-log-session.js'
import type { SessionStore } from './sessions.js'

type Options = { way: { session: () => Promise<SharedLogSession> } }

const add = `
  WITH old AS (DELETE FROM mindledger.logins WHERE until < now())
  INSERT INTO mindledger.logins (login, actor, until) VALUES ($1, $2, now() + $3 * interval '1 millisecond')`

/**
 * The sessions of all nodes, in PostgreSQL. It stores only hashes of tokens.
 *
 * @example await store.add(loginOf(token), 'me', 60_000); await store.actorOf(loginOf(token)) // 'me'
 */
export class SharedSessionStore implements SessionStore {
  constructor(private readonly options: Options) {}

  async add(login: string, actor: string, maxAgeMs: number): Promise<void> {
    const session = await this.options.way.session()
    await session.query(add, [login, actor, maxAgeMs])
  }

  async actorOf(login: string): Promise<string | undefined> {
    const session = await this.options.way.session()
    const { rows } = await session.query<{ actor: string }>(
      'SELECT actor FROM mindledger.logins WHERE login = $1 AND until > now()',
      [login],
      'login',
    )
    return rows[0]?.actor
  }

  async remove(login: string): Promise<void> {
    const session = await this.options.way.session()
    await session.query('DELETE FROM mindledger.logins WHERE login = $1', [login])
  }
}
