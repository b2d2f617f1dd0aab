import { afterAll, beforeAll, expect } from '@jest/globals'
import { until } from './until.js'
import { send, startSqlService, type SqlReply } from './service.js'

/** A statement and its answer: `ok`; or the columns of a table separated by commas, with optional rows; or a part of the error message. */
export type Case = [statement: string, answer: string | RegExp, rows?: unknown[][]]

type Sent = { db?: string; params?: unknown }

/** Sends a statement as clients do. */
export const ask = async (url: string, query: string, { db = 'mindsdb', params }: Sent = {}): Promise<SqlReply> =>
  (await send(url, 'POST', '/api/sql/query', { query, context: { db }, ...(params !== undefined && { params }) })).body as SqlReply

/** Compares a statement's whole answer with the expected one. */
export const expectAnswer = async (url: string, [statement, answer, rows]: Case, sent: Sent = {}): Promise<void> => {
  const { type, column_names, data, error_message } = await ask(url, statement, sent)
  if (answer instanceof RegExp) {
    expect({ type, error_message }).toEqual({ type: 'error', error_message: expect.stringMatching(answer) })
    return
  }
  const isTable = answer !== 'ok'
  const columns = isTable ? answer.split(', ') : []
  expect({ type, column_names, error_message }).toEqual({ type: isTable ? 'table' : 'ok', column_names: columns, error_message: undefined })
  if (rows) expect(data).toEqual(rows)
}

/** Waits until no query is left: a query with an unread answer would keep its place until the answer expires. */
const expectNoQueries = async (url: string): Promise<void> => {
  await until(async () => /^mindledger_sql_running_queries 0$/m.test(String((await send(url, 'GET', '/metrics')).body)))
}

/** A service for the tests of the calling file: its `url` is set before the first test, after `prepare` has filled it. */
export const dialectService = (prepare: (url: string) => Promise<void> = async () => undefined): { readonly url: string } => {
  let at: Awaited<ReturnType<typeof startSqlService>>
  beforeAll(async () => {
    at = await startSqlService()
    await prepare(at.url)
  })
  afterAll(async () => {
    try {
      await expectNoQueries(at.url)
    } finally {
      await at.stop()
    }
  })
  return {
    get url() {
      return at.url
    },
  }
}
