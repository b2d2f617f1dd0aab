import { createInterface } from 'node:readline'
import { openStore } from '../support/files/shared-stores.js'
import type { S3Address } from '../../src/files/shared/s3-address.js'

/**
 * The store of blobs of a node. It gets lines `put <file>` and `hold <hash>`, and says the hash, and by how many bytes the most memory
 * that the process ever had grew meanwhile.
 */
const [url = '', directory = '', bucket = ''] = process.argv.slice(2)
const given = bucket === '' ? undefined : (JSON.parse(bucket) as Omit<S3Address, 'endpoint'> & { endpoint: string })
const { blobs } = await openStore(url, directory, given && { ...given, endpoint: new URL(given.endpoint) })
const mostBytes = () => process.resourceUsage().maxRSS * 1024

createInterface({ input: process.stdin }).on('line', (line) => {
  const [what, which = ''] = line.split(' ')
  const before = mostBytes()
  const done = what === 'put' ? blobs.put(which) : blobs.hold(which).then(() => which)
  void done.then((sha) => process.stdout.write(`${sha} ${mostBytes() - before}\n`))
})
process.stdout.write('ready\n')
