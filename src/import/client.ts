import * as z from 'zod'
import { errorCode } from '../basics/errors.js'
import type { Transport } from '../basics/fetch-from.js'
import { limits } from '../basics/limits.js'

/** The failure of one request. The message is one clause and does not name the request. */
export class ServiceError extends Error {}

/** An answer that exceeds the limit of its size or its time. */
export class AnswerLimitError extends ServiceError {}

/** A command that the service understood but refused. Perhaps another command must come first. */
export class RefusedCommandError extends ServiceError {}

/** The rows of an SQL answer, with the text from which they were parsed: its numbers are exact. */
export type Table = { columns: string[]; rows: unknown[][]; text: string }

type Answer = { status: number; text: string }

const problem = z.looseObject({ title: z.string().optional(), detail: z.string(), hint: z.string().nullish() })
const sqlAnswer = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('table'), column_names: z.array(z.string()), data: z.array(z.array(z.unknown())) }),
  z.looseObject({ type: z.literal('ok') }),
  z.looseObject({ type: z.literal('error'), error_message: z.string() }),
])

const shownChars = 500

/** A message of the other service in one line, cut to a maximum length. */
const cut = (said: string): string => {
  const text = said.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return text.length > shownChars ? `${text.slice(0, shownChars).toWellFormed()}…` : text
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('its answer is not JSON')
  }
}

/** The text of a refusal. */
const refusalOf = ({ status, text }: Answer): string => {
  const said = /^\s*\{/.test(text) ? problem.safeParse(parsed(text)).data : undefined
  return said ? cut([said.detail, said.hint ?? ''].join(' ').trim()) : `it answers with status ${status}`
}

const failureOf = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error
  const name: unknown = typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined
  if (name === 'TimeoutError') return new AnswerLimitError('its answer takes too long')
  const cause: unknown = error instanceof Error ? error.cause : undefined
  const code = errorCode(cause)
  return new ServiceError(`it does not answer${code === '' ? '' : ` (${code})`}`)
}

/** The body of an answer. @throws AnswerLimitError */
export const readText = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const body: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > limits.importAnswerMaxBytes)
      throw new AnswerLimitError(`its answer is larger than ${limits.importAnswerMaxBytes} bytes (importAnswerMaxBytes)`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** A client for one of the two services of an import. Answers are limited in size and time; every failure is a `ServiceError`. */
export class Client {
  constructor(
    readonly address: string,
    private readonly transport: Transport,
    private readonly timeoutMs: number = limits.importAnswerTimeoutMs,
  ) {}

  async #ask(path: string, init: RequestInit): Promise<Answer> {
    try {
      const response = await this.transport(path, { ...init, redirect: 'manual', signal: AbortSignal.timeout(this.timeoutMs) })
      return { status: response.status, text: await readText(response) }
    } catch (error) {
      throw failureOf(error)
    }
  }

  /**
   * Reads the JSON at a path; undefined if the service does not have this path.
   *
   * @example await client.read('/api/projects/')
   * @throws ServiceError
   */
  async read(path: string): Promise<unknown> {
    const answer = await this.#ask(path, {})
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new ServiceError(refusalOf(answer))
    return parsed(answer.text)
  }

  /**
   * Sends a command and returns the JSON of its answer.
   *
   * @example await client.write('/api/projects', { method: 'POST', body: '{"project": {"name": "shop"}}' })
   * @throws RefusedCommandError, or ServiceError without an answer
   */
  async write(path: string, init: RequestInit): Promise<unknown> {
    const answer = await this.#ask(path, init)
    if (answer.status < 200 || answer.status > 299) throw new RefusedCommandError(refusalOf(answer))
    return parsed(answer.text)
  }

  /**
   * Runs a statement. A statement without rows returns a table without columns.
   *
   * @example (await client.query('SHOW ML_ENGINES')).columns // ['NAME', 'HANDLER', 'CONNECTION_DATA']
   * @throws RefusedCommandError with the error of the statement, or ServiceError without an answer
   */
  async query(statement: string, headers: Record<string, string> = {}): Promise<Table> {
    const body = JSON.stringify({ query: statement })
    const answer = await this.#ask('/api/sql/query', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
    if (answer.status !== 200) throw new RefusedCommandError(refusalOf(answer))
    const said = sqlAnswer.safeParse(parsed(answer.text)).data
    if (!said) throw new ServiceError('its answer is not an answer to SQL')
    if (said.type === 'error') throw new RefusedCommandError(cut(said.error_message))
    return said.type === 'ok' ? { columns: [], rows: [], text: '' } : { columns: said.column_names, rows: said.data, text: answer.text }
  }
}
