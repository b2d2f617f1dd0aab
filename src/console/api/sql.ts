import { ApiError, request, silentError } from './request.js'
import { linesOf } from './lines.js'
import { ofQuery, ofWriting, SilenceTimer, type Patience } from './silence-timer.js'

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value }
export type Row = Value[]

/** Whether a value is an object, and no list. */
export const isObject = (value: Value | undefined): value is { [key: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A member of an object; undefined for what every object inherits, such as `constructor`. */
export const memberOf = (of: { [key: string]: Value }, name: string): Value | undefined => (Object.hasOwn(of, name) ? of[name] : undefined)

export type Column = { name: string; type: string }

/** A statement and its context. */
export type Statement = {
  query: string
  db?: string | undefined
  at?: string | undefined
  params?: Record<string, Value> | undefined
  dryRun?: boolean
  /** Whether the service refuses the statement if it writes. A dry run never writes. */
  readsOnly?: boolean
  signal?: AbortSignal | undefined
}

/** The answer of a statement: a table whose rows arrive as pieces of JSON, or the number of changed rows. */
export type Answer =
  | { type: 'table'; columns: Column[]; pieces: AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> }
  | { type: 'ok'; affected: number | null; positions: string | null }

type Head =
  | { type: 'table'; column_names: string[]; column_types: string[] }
  | { type: 'ok'; affected_rows: number | null }
  | { type: 'error'; error_message: string }

const decoder = new TextDecoder()

const sqlError = (message: string): ApiError => new ApiError({ status: 200, detail: message })

const isRows = (line: Uint8Array): boolean => line[0] === 91

type Lines = AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>

async function* piecesOf(lines: Lines, silence: SilenceTimer): Lines {
  silence.begin()
  try {
    for await (const line of lines) {
      if (isRows(line)) yield line
      else if (line.length > 0) {
        const said = JSON.parse(decoder.decode(line)) as Head
        if (said.type === 'error') throw sqlError(said.error_message)
      }
    }
  } catch (error) {
    throw silence.isSilent ? silentError(true) : error
  } finally {
    silence.end()
  }
}

/** The request members besides the statement itself. */
export const contextOf = ({ db, at, dryRun = false, readsOnly = false }: Omit<Statement, 'query'>): Record<string, string | true> => ({
  ...(db !== undefined && { db }),
  ...(at !== undefined && { as_of: at }),
  ...(dryRun && { dry_run: true as const }),
  ...(readsOnly && { read_only: true as const }),
})

/**
 * Runs a statement. Rows arrive as the service finds them; to stop them, the caller aborts the signal.
 *
 * @param patience how long a silent service is waited for; by default as for a statement that writes
 * @example const answer = await run({ query: 'SELECT 1', db: 'mindsdb' })
 * @throws ApiError
 */
export const run = async (statement: Statement, patience: Patience = ofWriting): Promise<Answer> => {
  const silence = new SilenceTimer(patience)
  try {
    return await answerOf(statement, silence)
  } catch (error) {
    throw silence.isSilent && statement.signal?.aborted !== true ? silentError(patience !== ofWriting) : error
  } finally {
    // The rows are watched while somebody reads them.
    silence.end()
  }
}

const answerOf = async ({ query, params, signal, ...rest }: Statement, silence: SilenceTimer): Promise<Answer> => {
  const body = { query, context: contextOf(rest), response_format: 'jsonlines', ...(params && { params }) }
  const response = await request('sql/query', { method: 'POST', body, signal, silence })
  if (!response.body) throw new ApiError({ status: 0, detail: 'the answer was empty' })
  const lines = linesOf(response.body, () => silence.heard())
  const first = await lines.next()
  if (first.done) throw new ApiError({ status: 0, detail: 'the answer was cut off', hint: 'Run it again.', isOfNetwork: true })
  const head = JSON.parse(decoder.decode(first.value)) as Head
  if (head.type === 'table')
    return {
      type: 'table',
      columns: head.column_names.map((name, i) => ({ name, type: head.column_types[i] ?? '' })),
      pieces: piecesOf(lines, silence),
    }
  await lines.return()
  if (head.type === 'error') throw sqlError(head.error_message)
  return { type: 'ok', affected: head.affected_rows, positions: response.headers.get('Mindledger-Position') }
}

/** The rows of a piece. */
export const rowsOf = (piece: Uint8Array): Row[] => JSON.parse(decoder.decode(piece)) as Row[]

/**
 * Runs a query with a small answer, and reads all rows as objects.
 *
 * @example const agents = await select<{ name: string }>({ query: 'SELECT name FROM agents' })
 * @throws ApiError
 */
export const select = async <T extends Record<string, Value>>(statement: Statement): Promise<T[]> => {
  const answer = await run(statement, ofQuery)
  if (answer.type === 'ok') return []
  const found: T[] = []
  for await (const piece of answer.pieces)
    for (const row of rowsOf(piece)) found.push(Object.fromEntries(answer.columns.map(({ name }, i) => [name, row[i] ?? null])) as T)
  return found
}

/** Quotes a name for SQL. */
export const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``

/**
 * The full name of a table as a short text, for an address: only a part with a dot is quoted.
 *
 * @example nameText(['shop_db', 'sales', 'a.b']) // 'shop_db.sales.`a.b`'
 */
export const nameText = (parts: readonly string[]): string => parts.map((part) => (/[.`]/.test(part) ? quoted(part) : part)).join('.')

const partsOf = (text: string): string[] => text.match(/`(?:[^`]|``)*`|[^.]+/g) ?? []

/** The parts of such a text, quoted for SQL. @example quotedName('shop_db.homes') // '`shop_db`.`homes`' */
export const quotedName = (text: string): string =>
  partsOf(text)
    .map((part) => (part.startsWith('`') ? part : quoted(part)))
    .join('.')

/** The first of several parts of such a text, as it is; empty if there is only one. @example firstName('`a.b`.homes') // 'a.b' */
export const firstName = (text: string): string => {
  const [first = '', ...others] = partsOf(text)
  if (others.length === 0) return ''
  return first.startsWith('`') ? first.slice(1, -1).replaceAll('``', '`') : first
}

/** Quotes a text for SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/**
 * The stream of an existing resource, as SQL with the parameters `project` and `name`. Records name it so: they keep the names of their
 * time, which may have changed since, or belong to another resource.
 *
 * @example `SELECT * FROM log.job_runs WHERE job_id = ${streamOf('job')}`
 */
export const streamOf = (kind: string): string =>
  `(SELECT stream FROM log.resources WHERE kind = '${kind}' AND project = :project AND name = :name)`
