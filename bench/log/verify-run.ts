import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyLog } from '../../src/log/verify/verify.js'
import { bareVerify } from '../bare/verify.js'

// One run in a process of its own, which prints how long it took.
const [side, directory = ''] = process.argv.slice(2)
const began = performance.now()
const ours = async () => {
  const masterKey = Buffer.from(readFileSync(join(directory, 'vault.key'), 'utf8'), 'hex')
  const { ok, head } = await verifyLog({ logFile: join(directory, 'log.sqlite'), masterKeys: [masterKey] })
  if (!ok) throw new Error('the log does not hold')
  return { events: head.position, root: head.root.toString('base64') }
}
const done = side === 'ours' ? await ours() : bareVerify(directory)
const seconds = (performance.now() - began) / 1000
console.log(JSON.stringify({ ...done, seconds, peakMb: process.resourceUsage().maxRSS / 1024 }))
