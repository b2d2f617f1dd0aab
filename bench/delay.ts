import { once } from 'node:events'
import { connect } from 'node:net'

/** How long the event loop of a server was held up at most since this was asked before, in milliseconds. */
export type Delay = {
  /** How long the thread ran in one stretch: others wait as long on a quiet machine, whatever else runs on this one. */
  ranMs: number
  /** The longest stretch by the clock, with waits for the disk and for a processor that other programs had. */
  wallMs: number
  /** How long the thread ran in all. */
  busyMs: number
}

/** Asks the probe that was loaded into a server (`delay-probe.ts`) by its socket. */
export const delayOf = async (socket: string): Promise<Delay> => {
  const client = connect(socket)
  let said = ''
  client.setEncoding('utf8').on('data', (text: string) => (said += text))
  await once(client, 'end')
  return JSON.parse(said) as Delay
}
