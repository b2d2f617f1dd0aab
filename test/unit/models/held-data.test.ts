import { expect, test } from '@jest/globals'
import type { DataErased } from '../../../events/records/log.js'
import type { ErasableReads } from '../../../src/sql/contract/answer.js'
import { HeldData } from '../../../src/models/training/held-data.js'
import { origin, withLog } from '../../support/log/log.js'

const [base, content, other] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string]

/** Whether an erasure takes data from work that read these rows and the file of a blob. */
const isTaken = async (erased: Partial<DataErased>, erasable?: ErasableReads): Promise<boolean> => {
  let isErased = false
  await withLog(async ({ log, ledger }) => {
    const held = await HeldData.since(log)
    await held.notingFiles(async (sha) => sha)(base)
    const select = held.noting(async () => ({ columns: [], chunks: (async function* () {})(), ...(erasable && { erasable }) }))
    if (erasable) await select({ sql: 'SELECT 1', db: 'files', upTo: 1 }, new AbortController().signal)
    const data: DataErased = { what: 'file', subject: 'x', reason: null, payloads: [], blobs: [], ...erased }
    await ledger.execute({ type: 'EraseData', data }, origin)
    isErased = await held.isErased()
    expect(await (await HeldData.since(log)).isErased()).toBe(false)
  })
  return isErased
}

test('an erasure takes data from work that read it: contents, files of blobs, and records of the log', async () => {
  const rows = { contents: [content], records: false }
  expect(await isTaken({ blobs: [content] }, rows)).toBe(true)
  expect(await isTaken({ what: 'matrix', blobs: [base] }, rows)).toBe(true)
  expect(await isTaken({ blobs: [other] }, rows)).toBe(false)
  const payloads = [{ hash: other, replacement: null }]
  expect(await isTaken({ what: 'before', payloads }, rows)).toBe(false)
  expect(await isTaken({ what: 'before', payloads }, { ...rows, records: true })).toBe(true)
})

test('until its query is known, work may have read anything except secrets and kept answers', async () => {
  expect(await isTaken({ blobs: [other] })).toBe(true)
  expect(await isTaken({ what: 'secrets', payloads: [{ hash: other, replacement: null }] })).toBe(false)
  // Of kept answers alone.
  expect(await isTaken({ what: 'request' })).toBe(false)
})
