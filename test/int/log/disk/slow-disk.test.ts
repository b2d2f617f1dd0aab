import { describe, expect, test } from '@jest/globals'
import { stat } from 'node:fs/promises'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { wrong } from '../../../../src/basics/errors.js'
import type { Outcome } from '../../../../src/log/contract/log.js'
import { SqliteLog } from '../../../../src/log/sqlite/sqlite-log.js'
import { WalFile } from '../../../../src/log/storage/wal-file.js'
import { projectCreated, refusal, withLogOf, writes, type OpenLog } from '../../../support/log/log.js'

/** A disk that confirms what was written only when the test says so. The bytes go to the real one. */
class SlowDisk {
  isSlow = false
  #confirm: ((fault?: Error) => void)[] = []

  open = (file: string) => {
    const wal = new WalFile(file)
    return {
      close: () => wal.close(),
      sync: async () => {
        await wal.sync()
        if (this.isSlow) await new Promise<void>((resolve, reject) => this.#confirm.push((fault) => (fault ? reject(fault) : resolve())))
      },
    }
  }

  /** The number of transactions that wait for the disk. */
  get waiting(): number {
    return this.#confirm.length
  }

  /** Resolves when a transaction waits for the disk. */
  async reached(): Promise<void> {
    while (this.waiting === 0) await sleep(1)
  }

  confirm(fault?: Error): void {
    for (const one of this.#confirm.splice(0)) one(fault)
  }
}

const disk = new SlowDisk()
const withLog = withLogOf(async (file, vault) => {
  disk.isSlow = false
  const log = new SqliteLog({ file, vault, openWal: disk.open })
  disk.isSlow = true
  return log
})
/** Runs a test over a log whose first transaction waits for the disk: `written` is its answer. */
const withSlowDisk = (run: (open: OpenLog & { written: Promise<Outcome> }) => Promise<void>) =>
  withLog(async (open) => {
    const written = open.log.submit(writes(projectCreated(1)))
    await disk.reached()
    await run({ ...open, written }).finally(() => {
      disk.isSlow = false
      disk.confirm()
    })
  })

/** The turns of the event loop, each with a visit to the file system, after which all has happened that can happen without the disk. */
const turns = 50

/** Whether a promise has settled by then. */
const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false
  const settle = (): boolean => (isSettled = true)
  promise.then(settle, settle)
  for (let turn = 0; turn < turns; turn++) {
    await stat('.')
    await setImmediate()
  }
  return isSettled
}

describe('a disk that takes its time', () => {
  test('nothing reads, announces or answers what the disk has not confirmed, and nothing else waits', () =>
    withSlowDisk(async ({ log, written }) => {
      const announced: number[] = []
      log.onCommitted((position) => announced.push(position))
      const reads = [written, log.head(), log.readAll(0, 10), log.resources.list('project')]
      // The event loop is free meanwhile: this turn comes.
      for (const read of reads) expect(await settled(read)).toBe(false)
      expect(announced).toEqual([])
      // The readiness check must not hang on a disk that hangs.
      expect((await log.health()).unwritable).toBeUndefined()
      disk.confirm()
      expect((await written).positions).toEqual([1])
      expect((await log.head()).position).toBe(1)
      expect(announced).toEqual([1])
      for (const read of [log.head(), log.readAll(0, 10), log.resources.list('project')]) expect(await settled(read)).toBe(true)
    }))

  test('what comes meanwhile shares the next transaction', () =>
    withSlowDisk(async ({ log, written }) => {
      const commits: number[] = []
      log.onCommitted((position) => commits.push(position))
      const others = [2, 3, 4].map((n) => log.submit(writes(projectCreated(n))))
      expect(await settled(Promise.all(others))).toBe(false)
      expect(disk.waiting).toBe(1)
      disk.confirm()
      await written
      await disk.reached()
      disk.confirm()
      await Promise.all(others)
      expect(commits).toEqual([1, 4])
    }))

  test('a refusal waits for the disk only behind what was written', () =>
    withSlowDisk(async ({ log, written }) => {
      const refused = () =>
        refusal(
          log.submit({
            ...writes(),
            decide: () => {
              throw wrong('no')
            },
          }),
        )
      const behind = refused()
      expect(await settled(behind)).toBe(false)
      disk.confirm()
      await written
      expect([await behind, await refused()]).toEqual(['wrong_arguments', 'wrong_arguments'])
      expect(disk.waiting).toBe(0)
    }))

  test('closing waits for the disk', () =>
    withSlowDisk(async ({ log, written, reopen }) => {
      const closed = log.close()
      expect(await settled(closed)).toBe(false)
      disk.confirm()
      await Promise.all([written, closed])
      const again = await reopen()
      expect((await again.head()).position).toBe(1)
      disk.isSlow = false
      await again.close()
    }))

  test('a disk that fails to confirm ends all writes and reads: whether the last one is recorded is not known', () =>
    withSlowDisk(async ({ log, written, reopen }) => {
      const next = log.submit(writes(projectCreated(2)))
      const read = log.head()
      disk.confirm(new Error('EIO: i/o error, fdatasync'))
      for (const one of [written, next, read, log.submit(writes(projectCreated(3))), log.readAll(0, 10), log.wipe()])
        expect(await refusal(one)).toBe('outcome_unknown')
      const unwritable = 'the disk did not confirm what was written last (EIO: i/o error, fdatasync)'
      expect(await log.health()).toMatchObject({ position: null, unwritable })
      await log.close()
      // The next start continues with what the file has, which is all of it or nothing.
      const again = await reopen()
      expect((await again.head()).position).toBe(1)
      disk.isSlow = false
      await again.submit(writes(projectCreated(2)))
      await again.close()
    }))
})
