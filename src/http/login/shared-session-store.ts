import { errorText } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { SharedLogSession } from '../../log/shared/postgres/shared-log-session.js'
import { StoreAwayError, type SessionStore } from './sessions.js'

type Options = {
  way: { session: () => Promise<SharedLogSession> }
  /** Whether an error says that PostgreSQL cannot be reached. */
  isAway: (error: unknown) => boolean
  proofOf: SessionStore['proofOf']
}

/** All logins last as long, so those that end first are the oldest. */
const add = `
  WITH old AS (
    DELETE FROM mindledger.logins
    WHERE until < now() OR login IN (SELECT login FROM mindledger.logins ORDER BY until DESC, login OFFSET $4)
  )
  INSERT INTO mindledger.logins (login, actor, until) VALUES ($1, $2, now() + $3 * interval '1 millisecond')`

/**
 * The sessions of all nodes, in PostgreSQL. It stores only hashes of tokens.
 *
 * @example await store.add(loginOf(token), 'me', 60_000); await store.actorOf(loginOf(token)) // 'me'
 */
export class SharedSessionStore implements SessionStore {
  constructor(private readonly options: Options) {}

  proofOf(beginning: Buffer): Buffer {
    return this.options.proofOf(beginning)
  }

  async add(login: string, actor: string, maxAgeMs: number): Promise<void> {
    await this.#asked((session) => session.query(add, [login, actor, maxAgeMs, limits.sessionsMax - 1]))
  }

  async actorOf(login: string): Promise<string | undefined> {
    const select = 'SELECT actor FROM mindledger.logins WHERE login = $1 AND until > now()'
    const { rows } = await this.#asked((session) => session.query<{ actor: string }>(select, [login], 'login'))
    return rows[0]?.actor
  }

  async remove(login: string): Promise<void> {
    await this.#asked((session) => session.query('DELETE FROM mindledger.logins WHERE login = $1', [login]))
  }

  async #asked<T>(ask: (session: SharedLogSession) => Promise<T>): Promise<T> {
    const { way, isAway } = this.options
    try {
      return await ask(await way.session())
    } catch (error) {
      throw isAway(error) ? new StoreAwayError(errorText(error), { cause: error }) : error
    }
  }
}
