import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * Stands between a browser and a service, so that a test can cut the line: what is open is broken off, and nobody can connect until it
 * is mended, at the same address.
 *
 * @example const line = await startProxy(url); await line.cut(); await line.mend(); await line.stop()
 */
export const startProxy = async (url: string) => {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    // One side ends with the other; why is told by neither.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const server: Server = createServer((near) => {
    const far = connect(Number(port), hostname)
    keep(near)
    keep(far)
    near.pipe(far).pipe(near)
  })
  const listen = async (on: number): Promise<number> => {
    server.listen(on, hostname)
    await once(server, 'listening')
    return (server.address() as { port: number }).port
  }
  const own = await listen(0)
  const cut = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url: `http://${hostname}:${own}`,
    cut,
    mend: () => listen(own),
    stop: async () => (server.listening ? cut() : undefined),
  }
}
