import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../setup/config.js'
import { openLogReader } from '../../log/sqlite/log-reader.js'
import { limits } from '../../basics/limits.js'

const pollMs = 100

/** `mindledger log [--from n] [--follow]`: the stored text of each event, one per line. */
export const printLog = async (config: Config, { from, follow }: { from: number; follow: boolean }): Promise<number> => {
  const reader = openLogReader(config.dataDirectory, config.masterKeys)
  const stopped = new AbortController()
  process.once('SIGINT', () => stopped.abort())
  try {
    let position = from - 1
    while (!stopped.signal.aborted) {
      const events = reader.read(position, limits.eventSliceMaxEvents, limits.eventSliceMaxChars)
      if (events.length > 0) await reader.confirm()
      for (const { text } of events) if (!process.stdout.write(`${text}\n`)) await once(process.stdout, 'drain')
      position = events.at(-1)?.position ?? position
      if (events.length > 0) continue
      if (!follow) break
      await sleep(pollMs)
    }
    return 0
  } finally {
    reader.close()
  }
}
