import { closeSync, openSync, readSync } from 'node:fs'
import { createServer } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Delay } from './delay.js'

/**
 * Loaded into a server before anything else (`node --import`). It answers each connection to the socket in DELAY_SOCKET, as JSON, with the
 * longest time that the event loop was blocked since the previous connection. A timer checks the clock every few milliseconds; the time
 * between two checks is one stretch in which no other request was answered.
 */
const path = process.env['DELAY_SOCKET']
// Processes that the server starts have event loops of their own.
delete process.env['DELAY_SOCKET']
const intervalMs = 5

/** How long this thread ran, in milliseconds, by the kernel's account. */
const ranSoFar = (account: number | undefined): number => {
  if (account === undefined) return performance.now()
  const bytes = Buffer.alloc(128)
  return Number(bytes.toString('latin1', 0, readSync(account, bytes, 0, bytes.length, 0)).split(' ')[0]) / 1e6
}

/** Only Linux has it; elsewhere the clock is used instead. */
const openAccount = (): number | undefined => {
  try {
    return openSync('/proc/self/schedstat', 'r')
  } catch {
    return undefined
  }
}

if (path !== undefined) {
  const account = openAccount()
  const look = () => ({ at: performance.now(), ran: ranSoFar(account) })
  const none = (): Delay => ({ ranMs: 0, wallMs: 0, busyMs: 0 })
  let last = look()
  let busySince = last.ran
  let most = none()
  const timer = setInterval(() => {
    const now = look()
    most = {
      ranMs: Math.max(most.ranMs, now.ran - last.ran),
      wallMs: Math.max(most.wallMs, now.at - last.at - intervalMs),
      busyMs: now.ran - busySince,
    }
    last = now
  }, intervalMs)
  const server = createServer((client) => {
    client.on('error', () => undefined)
    client.end(JSON.stringify(most))
    most = none()
    busySince = last.ran
  })
  server.listen(path)
  server.unref()
  timer.unref()
  process.once('exit', () => {
    if (account !== undefined) closeSync(account)
  })
}
