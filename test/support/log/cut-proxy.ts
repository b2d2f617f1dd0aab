import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** The fate of the next bytes in one direction: they pass, or they are lost with their connection. */
type Loses = 'nothing' | 'answers' | 'requests'

/** A proxy to a server on this machine, which can lose bytes, or keep them waiting. */
export type CutProxy = {
  port: number
  /** Ends the connection without an answer when a text passes to the server. `loses` says whether the text or the answer is lost. */
  cutAt: (text: string, loses: Loses) => Promise<void>
  /** Keeps a connection waiting when a text is on its way to the server. The function that it gives lets the text pass. */
  holdAt: (text: string) => Promise<() => void>
  stop: () => Promise<void>
}

/** Starts a proxy before a port. */
export const startCutProxy = async (port: number): Promise<CutProxy> => {
  let armed: { text: string; loses: Loses; cut: () => void } | undefined
  let holding: { text: string; held: (pass: () => void) => void } | undefined
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    let isSilent = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    const end = (cut: () => void) => {
      client.destroy()
      cut()
    }
    client.on('data', (data) => {
      if (holding && data.includes(holding.text)) {
        client.pause()
        holding.held(() => {
          upstream.write(data)
          client.resume()
        })
        holding = undefined
        return
      }
      const found = armed && data.includes(armed.text) ? armed : undefined
      if (!found) return void upstream.write(data)
      armed = undefined
      isSilent = true
      if (found.loses === 'requests') {
        upstream.destroy()
        end(found.cut)
        return
      }
      // When the server answers, it has done the work; the client does not receive the answer.
      upstream.once('data', () => end(found.cut))
      upstream.write(data)
    })
    upstream.on('data', (data) => isSilent || client.write(data))
    client.on('close', () => isSilent || upstream.end())
    upstream.on('close', () => client.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cutAt: (text, loses) => new Promise((resolve) => (armed = { text, loses, cut: resolve })),
    holdAt: (text) => new Promise((resolve) => (holding = { text, held: resolve })),
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
