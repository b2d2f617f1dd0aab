import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { sqlProcessLimits } from '../../../src/sql-process/contract/options.js'
import { Supervisor } from '../../../src/sql-process/supervisor.js'
import { temporaryDirectory } from '../../support/log/log.js'
import { SqliteLog } from '../../support/log/sqlite-log.js'
import { childrenRunning, signalTo } from '../../support/processes.js'
import { rawProcess } from '../../support/sql-process/bench.js'

test('a restart that waits starts no process beside the one that a replacement starts', async () => {
  const { path, remove } = temporaryDirectory()
  const log = new SqliteLog(path)
  const limits = { ...sqlProcessLimits, startWaitMs: 20 * 60_000, silentMaxPings: 600 }
  const supervisor = new Supervisor({ dataDirectory: path, entry: rawProcess }, limits, () => false)
  try {
    await supervisor.start()
    // After the second end without a query, the restart waits.
    for (let ends = 1; ends <= 2; ends++) {
      const child = await supervisor.readyChild()
      signalTo(child.pid, 'SIGKILL')
      await child.exited
    }
    await supervisor.replace(() => sleep(1_000))
    await supervisor.readyChild()
    expect(childrenRunning(process.pid, 'raw-process.js')).toEqual([supervisor.child?.pid])
  } finally {
    await supervisor.stop()
    log.close()
    remove()
  }
})
