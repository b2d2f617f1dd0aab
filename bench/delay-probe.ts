import { createServer } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Loaded into a server before anything else (`node --import`): whoever connects to the socket that DELAY_SOCKET names is told how
 * many milliseconds the event loop was held up at most since the last one asked.
 */
const path = process.env['DELAY_SOCKET']
// What the server starts has loops of its own.
delete process.env['DELAY_SOCKET']
const resolution = 5

if (path !== undefined) {
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  const server = createServer((client) => {
    client.on('error', () => undefined)
    client.end(String(Math.max(0, delay.max / 1e6 - resolution)))
    delay.reset()
  })
  server.listen(path)
  server.unref()
}
