import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

// Loaded into the measured server: writes the 99th percentile of its event loop's delay (ms) since the last reset to a file. The processes
// that it starts load this too, and do nothing with it.
const file = process.env['LOOP_DELAY_FILE']
if (file !== undefined && isMainThread && process.argv[1]?.endsWith('bin/mindledger.js') === true) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('SIGUSR2', () => delay.reset())
  const write = () => {
    writeFileSync(`${file}.new`, String(delay.percentile(99) / 1e6))
    renameSync(`${file}.new`, file)
  }
  setInterval(write, 200).unref()
}
