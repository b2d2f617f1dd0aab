import { expect, test } from '@jest/globals'
import { originOf } from '../../../src/audit/tlog-checkpoint.js'
import { Heads } from '../../../src/audit/heads.js'
import { noteSigner } from '../../../src/audit/note-key.js'
import { exportSource } from '../../../src/http/routes/export.js'
import { exportLines, projectCalled } from '../../../src/log/feed/export.js'
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

test('an export that finds nothing to write in a long log holds nobody up for longer than a slice takes', () =>
  withLog(async ({ log }) => {
    const size = 2_000
    for (let from = 0; from < size; from += 500)
      await log.submit(writes(...Array.from({ length: 500 }, (_, i) => projectCreated(from + i))))
    const source = exportSource(log, new Heads(log, noteSigner(originOf(log.id), Buffer.alloc(32, 7))), new LoopTurns())
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
