import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A call that the chat service has received. */
export type Called = { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown>; raw: string }
/** The answer of the chat service: a status, headers and a body; with `cut` it closes the connection instead. */
export type Said = { status?: number; headers?: Record<string, string>; body?: unknown; cut?: boolean; afterMs?: number }

/**
 * The HTTP API of a chat service: Slack, Telegram, or a custom address. It answers with success, unless a test queues another answer.
 * `slowMs` is the duration of each answer.
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
  // It would close an idle connection over which a call may just be on its way, and nobody would know whether that arrived.
  server.keepAliveTimeout = 0
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
