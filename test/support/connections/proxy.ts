import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A server on a port that the system chooses. */
export type Listening = { port: number; open: () => number; stop: () => Promise<void> }

/** A server whose behaviour for each connection a test chooses. */
export const listen = async (welcome: (socket: Socket) => void): Promise<Listening> => {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    welcome(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The fault of a proxy in the bytes from the database, after a number of bytes. */
export type Fault = { afterBytes: number; then: 'cut' | 'swallow' | 'garbage' }

/**
 * Forwards connections to a port, which may change, and disturbs the bytes that come back. Connections count from 1. `passed` counts the
 * bytes that have come back over all connections.
 */
export const proxyTo = async (
  port: number | (() => number),
  fault: (connection: number) => Fault | undefined,
): Promise<Listening & { passed: () => number }> => {
  let [connections, all] = [0, 0]
  const listening = await listen((socket) => {
    const number = ++connections
    const upstream = connect(typeof port === 'number' ? port : port(), '127.0.0.1')
    let passed = 0
    socket.pipe(upstream)
    upstream.on('error', () => socket.destroy())
    // The client's remaining bytes must be read, or the proxy would not notice that the client closed the connection.
    upstream.on('close', () => socket.destroySoon())
    socket.on('close', () => upstream.destroy())
    upstream.on('data', (chunk) => {
      const bad = fault(number)
      passed += chunk.length
      all += chunk.length
      if (!bad || passed <= bad.afterBytes) {
        if (!socket.write(chunk)) {
          upstream.pause()
          socket.once('drain', () => upstream.resume())
        }
      } else if (bad.then === 'cut') socket.destroy()
      else if (bad.then === 'garbage') socket.write(Buffer.alloc(chunk.length, 0x99))
    })
  })
  return { ...listening, passed: () => all }
}
