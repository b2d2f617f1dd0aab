import { expect } from '@jest/globals'
import { send, type SqlReply } from './service.js'

/**
 * A statement and what it answers: `ok`, the columns of a table with commas between them and perhaps its rows, or what the text of
 * the error says.
 */
export type Case = [statement: string, answer: string | RegExp, rows?: unknown[][]]

type Sent = { db?: string; params?: unknown }

/** Sends a statement as clients do. */
export const ask = async (url: string, query: string, { db = 'mindsdb', params }: Sent = {}): Promise<SqlReply> =>
  (await send(url, 'POST', '/api/sql/query', { query, context: { db }, ...(params !== undefined && { params }) })).body as SqlReply

/** Holds a statement's whole answer against what is written. */
export const expectAnswer = async (url: string, [statement, answer, rows]: Case, sent: Sent = {}): Promise<void> => {
  const { type, column_names, data, error_message } = await ask(url, statement, sent)
  if (answer instanceof RegExp) {
    expect({ type, error_message }).toEqual({ type: 'error', error_message: expect.stringMatching(answer) })
    return
  }
  const columns = answer === 'ok' ? undefined : answer.split(', ')
  expect({ type, column_names, error_message }).toEqual({ type: columns ? 'table' : 'ok', column_names: columns, error_message: undefined })
  if (rows) expect(data).toEqual(rows)
}
