import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mindledger } from '../../support/cli.js'

test('a dry run of erase tells of kept answers, though nothing else would go', async () => {
  const nothing = { subject: 'r-1', positions: [], payloads: 0, rows: 0, blobs: [], already_erased: 0, shared_with: [], also_in: [] }
  const server = createServer(({ url }, response) => {
    const told = url === '/api/health' ? { service: 'mindledger', instance: 'one' } : { ...nothing, kept_answers: true }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ended = await mindledger(['erase', 'request', 'r-1', '--dry-run', '--url', url])
  server.close()
  expect(ended).toMatchObject({ code: 0, out: 'r-1: the answers that were kept for repeated requests would be erased\n' })
})
