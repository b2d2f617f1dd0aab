import { expect, test } from '@jest/globals'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Call } from '../../../src/http/protocol/call.js'
import { consoleAsset } from '../../../src/http/server/console.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The memory in use, in MB. */
const usedMb = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 1e6
}

test('names that no file has take no memory, however many are asked for', async () => {
  const call = { header: () => 'br, gzip' } as unknown as Call
  const before = usedMb()
  for (let i = 0; i < 4_000; i++) expect(await consoleAsset(call, `${i}${'x'.repeat(15_000)}.js`)).toBeUndefined()
  expect(usedMb() - before).toBeLessThan(20)
})
