import { DuckDBInstance } from '@duckdb/node-api'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'

// The minimum that answers SQL from another process: an HTTP server that passes the body on to a Unix socket; behind it a DuckDB connection
// is opened, runs the statement, and is closed. No checks, no rewriting, no transaction, no deadline.
const file = process.env['DATA_DIR'] ?? '.'
const socketPath = join(file, 'relay.sock')

const textOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of incoming) text += String(chunk)
  return text
}

const runQueries = async (): Promise<void> => {
  const instance = await DuckDBInstance.create(join(file, 'bare.duckdb'), { threads: '2' })
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const { query, context } = JSON.parse(await textOf(req)) as { query: string; context: object }
    const connection = await instance.connect()
    const result = await connection.run(query)
    const rows = await result.getRowsJson()
    const column_types = result.columnTypes().map(String)
    res.end(JSON.stringify({ type: 'table', column_names: result.columnNames(), column_types, data: rows, context }))
    connection.closeSync()
  }
  const server = createServer((req, res) => void answer(req, res)).listen(socketPath, () => process.send?.('ready'))
  server.keepAliveTimeout = 0
  process.once('disconnect', () => server.close())
}

const passOn = async (): Promise<void> => {
  const child = fork(process.argv[1] ?? '', ['child'])
  await once(child, 'message')
  const agent = new Agent({ keepAlive: true })
  const server = createServer((req, res) => {
    if (req.url === '/ready') {
      res.end()
      return
    }
    const onward = request({ socketPath, agent, path: '/', method: 'POST' }, (answer) => {
      res.setHeader('content-type', 'application/json')
      answer.pipe(res)
    })
    req.pipe(onward)
  })
  server.listen(Number(process.env['PORT']), '127.0.0.1')
}

await (process.argv[2] === 'child' ? runQueries() : passOn())
