import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A call that the chat service received. */
export type Called = { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown>; raw: string }
/** What it answers: a status, headers and a body; `cut` breaks the connection off instead. */
export type Said = { status?: number; headers?: Record<string, string>; body?: unknown; cut?: boolean; afterMs?: number }

/**
 * The API of a chat service over HTTP: Slack's, Telegram's, or an address of one's own. It answers that all is well, unless a test queues
 * something else. `slowMs` says how long each answer takes.
 */
export const startChatService = async (slowMs: () => number = () => 0) => {
  const calls: Called[] = []
  const queued: Said[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const raw = Buffer.concat(pieces).toString()
      calls.push({ path: request.url ?? '', headers: request.headers, raw, body: JSON.parse(raw) as Record<string, unknown> })
      const { status = 200, headers = {}, body = { ok: true }, cut = false, afterMs = slowMs() } = queued.shift() ?? {}
      void sleep(afterMs).then(() => {
        if (cut) request.socket.destroy()
        else response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { url, calls, next: (said: Said) => void queued.push(said), stop }
}

export type ChatService = Awaited<ReturnType<typeof startChatService>>
