import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Connection } from '../contract/requests.js'
import type { DatabaseSession, Surroundings } from '../engines/contract/engine.js'
import { engineOf } from '../engines/engines.js'
import { Pool } from './pool.js'

const openSession = async (connection: Connection, around: Surroundings): Promise<DatabaseSession> =>
  engineOf(connection.engine).connect(connection, around)

/** The sessions of a connection for its statements, and one more for questions about its tables while statements use all of them. */
type Sessions = { version: number; statements: Pool; questions: Pool }

/** The pools of all connections. A connection whose parameters have changed gets new pools; the old ones end with their last statement. */
export class Pools {
  readonly #pools = new Map<string, Sessions>()

  constructor(
    private readonly around: Surroundings,
    private readonly connect: typeof openSession = openSession,
  ) {}

  /** The pool for a statement. @throws Problem busy when too many connections are in use */
  forStatement(connection: Connection): Pool {
    return this.#of(connection).statements
  }

  /**
   * The pool for a question about tables: long statements do not keep it waiting.
   * @throws Problem busy when too many connections are in use
   */
  forQuestion(connection: Connection): Pool {
    const { statements, questions } = this.#of(connection)
    return statements.isFull ? questions : statements
  }

  forget(id: string): void {
    const known = this.#pools.get(id)
    known?.statements.close()
    known?.questions.close()
    this.#pools.delete(id)
  }

  #of(connection: Connection): Sessions {
    const { id, version } = connection
    const known = this.#pools.get(id)
    if (known?.version === version) return known
    this.forget(id)
    if (this.#pools.size >= limits.connectionPoolsMax) this.#dropOne()
    const open = () => this.connect(connection, this.around)
    const sessions = { version, statements: new Pool(open), questions: new Pool(open, 1) }
    this.#pools.set(id, sessions)
    return sessions
  }

  #dropOne(): void {
    const idle = [...this.#pools].filter(([, { statements, questions }]) => statements.isIdle && questions.isIdle)
    const [oldest] = idle.sort(([, one], [, other]) => one.statements.usedAt - other.statements.usedAt)
    if (!oldest) throw new Problem('busy', 'Too many connections', `${this.#pools.size} connections are in use`, { retryAfterSeconds: 1 })
    this.forget(oldest[0])
  }
}
