import { once } from 'node:events'
import { connect } from 'node:net'

/** How long the event loop of a server was blocked at most since the previous call, in milliseconds. */
export type Delay = {
  /** The longest time that the thread ran in one stretch. Other load on this machine does not change it. */
  ranMs: number
  /** The longest stretch by the clock, including waits for the disk and for the processor. */
  wallMs: number
  /** The total time that the thread ran. */
  busyMs: number
}

/** Asks the probe in a server (`delay-probe.ts`) over its socket. */
export const delayOf = async (socket: string): Promise<Delay> => {
  const client = connect(socket)
  let said = ''
  client.setEncoding('utf8').on('data', (text: string) => (said += text))
  await once(client, 'end')
  return JSON.parse(said) as Delay
}
