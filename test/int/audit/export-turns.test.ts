import { expect, jest, test } from '@jest/globals'
import pino from 'pino'
import { originOf } from '../../../src/audit/tlog-checkpoint.js'
import { Heads } from '../../../src/audit/heads.js'
import { noteSigner } from '../../../src/audit/note-key.js'
import { Downloads } from '../../../src/http/reads/event-answers.js'
import { exportRoutes, exportSource } from '../../../src/http/routes/export.js'
import { createApp, type AppOptions } from '../../../src/http/server/app.js'
import { createHttpServer, listen, stopListening } from '../../../src/http/server/server.js'
import { exportLines, projectCalled } from '../../../src/log/feed/export.js'
import type { Log } from '../../../src/log/contract/log.js'
import { limits } from '../../../src/basics/limits.js'
import { LoopTurns } from '../../../src/basics/long-work.js'
import { projectCreated, stream, withLog, writes } from '../../support/log/log.js'

/** Counts how often others got their turn while something was done. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}

const headsOf = (log: Log): Heads => new Heads(log, noteSigner(originOf(log.id), Buffer.alloc(32, 7)))

test('an export that finds nothing to write in a long log holds nobody up for longer than a slice takes', () =>
  withLog(async ({ log }) => {
    const size = 2_000
    for (let from = 0; from < size; from += 500)
      await log.submit(writes(...Array.from({ length: 500 }, (_, i) => projectCreated(from + i))))
    const source = exportSource(log, headsOf(log), new LoopTurns())
    const slices = size / limits.eventSliceMaxEvents
    expect(await turnsDuring(() => projectCalled(source.read, 'nobody', size))).toBeGreaterThanOrEqual(slices / 2)
    const project = { stream: stream(0), name: 'project 0' }
    let text = ''
    const exported = async () => {
      for await (const lines of exportLines(source, { size, project })) text += lines
    }
    expect(await turnsDuring(exported)).toBeGreaterThanOrEqual(slices / 2)
    expect(text.split('\n')).toHaveLength(5)
  }))

test('an export takes a place of the downloads, and is refused where there is none', () =>
  withLog(async ({ log }) => {
    await log.submit(writes(projectCreated(0)))
    const lowered = jest.replaceProperty(limits, 'eventDownloadsMax', 1 as never)
    const downloads = new Downloads()
    const routes = exportRoutes(log, headsOf(log), new LoopTurns(), downloads).map((route) => ({ ...route, ofNode: true }))
    const logger = pino({ level: 'silent' })
    const options = { routes, hosts: { guarded: false, own: '127.0.0.1', allowed: [] }, sessions: undefined, logger }
    const server = createHttpServer(createApp({ ...options, about: {}, ledger: {} } as unknown as AppOptions))
    const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, logger)
    const statusOf = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/log/export`)
      await answer.text()
      return answer.status
    }
    const other = downloads.of({ client: 'another' }, exportLines(exportSource(log, headsOf(log), new LoopTurns()), { size: 1 }))
    try {
      await other.next()
      expect(await statusOf()).toBe(503)
      await other.return(undefined)
      expect([await statusOf(), await statusOf()]).toEqual([200, 200])
    } finally {
      await stopListening(server)
      lowered.restore()
    }
  }))
