import { expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Aside } from '../../../src/analytics/aside.js'
import { Problem } from '../../../src/basics/errors.js'
import type { AnalyticsStatus } from '../../../src/analytics/supervisor.js'
import { childrenRunning } from '../../support/processes.js'

const gone = new Problem('analytics_unavailable', 'SQL is not available', 'The process that answers SQL has ended.')
const stopped = { state: 'stopped', position: 0, rebuilds: { count: 0, last: null } } as unknown as AnalyticsStatus
const request = { sql: 'SELECT state FROM log.projections', db: 'mindsdb', defaultProject: 'mindsdb', upTo: 0 }
const directories = () => readdirSync(tmpdir()).filter((name) => name.startsWith('mindledger-aside-'))

test('a request that is under way when the service stops starts no process any more', async () => {
  const before = directories()
  const aside = new Aside({ query: () => Promise.reject(gone), status: () => stopped })
  await aside.stop()
  await expect(aside.query(request, {})).rejects.toBe(gone)
  expect(childrenRunning(process.pid, 'aside-process')).toEqual([])
  expect(directories()).toEqual(before)
})
