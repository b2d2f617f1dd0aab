import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../cli.js'

/**
 * A proxy between a browser and a service, so that a test can interrupt the network: open connections break, and new ones fail until the
 * proxy is mended at the same address. Or it hangs: connections stay open and new ones are accepted, and nothing passes, until it goes on.
 *
 * @example const line = await startProxy(url); await line.cut(); await line.mend(); line.hang(); line.goOn(); await line.stop()
 */
export const startProxy = async (url: string) => {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    // It is closed then, and so is the other side.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  let isHanging = false
  const server: Server = createServer((near) => {
    keep(near)
    if (isHanging) return
    const far = connect(Number(port), hostname)
    keep(far)
    near.pipe(far).pipe(near)
    // A pipe passes only an orderly end, and not the close of a service that was killed, or of a client that went away.
    near.on('close', () => isHanging || far.destroySoon())
    far.on('close', () => isHanging || near.destroySoon())
  })
  const listen = async (on: number): Promise<number> => {
    server.listen(on, hostname)
    await once(server, 'listening')
    return (server.address() as { port: number }).port
  }
  const own = await listen(await freePort())
  const cut = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const hang = (): void => {
    isHanging = true
    for (const socket of sockets) {
      socket.unpipe()
      socket.pause()
    }
  }
  /** What hung breaks: nothing of it reaches the service any more. */
  const goOn = (): void => {
    isHanging = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    ...{ hang, goOn },
    url: `http://${hostname}:${own}`,
    cut,
    mend: () => listen(own),
    stop: async () => (server.listening ? cut() : undefined),
  }
}
