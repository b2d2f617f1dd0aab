import type { Socket } from 'node:net'

/** A login takes a few kilobytes. */
const loginMaxBytes = 4 * 1024 * 1024
const lookEveryMs = 20

/** Closes a socket whose other end sends more bytes than a login takes. Returns a function that ends the watch. */
export const boundLogin = (socket: Socket): (() => void) => {
  const look = setInterval(() => {
    if (socket.bytesRead > loginMaxBytes) socket.destroy()
  }, lookEveryMs)
  const end = () => clearInterval(look)
  socket.once('close', end)
  return end
}
