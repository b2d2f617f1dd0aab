import express from 'express'
import { once } from 'node:events'
import { Agent, request } from 'node:http'

// The minimum that streams an answer of a language model: a route that forwards the question and pipes the answer back. No prompt, no
// schema, no tools, no record.
const model = new URL(process.env['MODEL'] ?? '')
const agent = new Agent({ keepAlive: true })
const app = express().disable('etag').disable('x-powered-by')
app.use(express.json())
app.get('/ready', (_, res) => void res.end())
app.post('/completions/stream', (req, res) => {
  const { messages } = req.body as { messages: object[] }
  const onward = request(model, { agent, method: 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
    res.setHeader('content-type', 'text/event-stream')
    answer.pipe(res)
  })
  onward.on('error', () => res.destroy())
  res.on('close', () => onward.destroy())
  onward.end(JSON.stringify({ model: 'scripted', stream: true, messages }))
})
const server = app.listen(Number(process.env['PORT']), '127.0.0.1')
await once(server, 'listening')
