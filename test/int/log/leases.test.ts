import { expect, test } from '@jest/globals'
import { undoAll } from '../../../src/basics/undo.js'
import { limits } from '../../../src/basics/limits.js'
import { SingletonTask, type OnTried } from '../../../src/log/tasks/singleton-task.js'
import { leasesWhile, soleLeases, type Lease, type Leases } from '../../../src/log/contract/leases.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import type { SharedLeases } from '../../../src/log/shared/leases.js'
import { Vault } from '../../../src/vault/vault.js'
import { logServer } from '../../support/log/each-log.js'
import { temporaryDirectory, testKey } from '../../support/log/log.js'
import { newest, openLeases, rowsIn, runOut, runSql } from '../../support/log/nodes.js'
import { until, whenReached } from '../../support/until.js'

const { server } = logServer()

type Holder = { leases: SharedLeases; node: string; pass: (ms: number) => void; refuse: () => void; fail: (fails: boolean) => void }

type Times = { leaseMs: number; renewIntervalMs: number; marginMs: number }

/** Runs a test over holders of leases at one PostgreSQL, each with a clock that can be moved on. */
const withHolders = async (count: number, run: (holders: Holder[], url: string) => Promise<void>, times?: Times): Promise<void> => {
  const url = await server().newUrl()
  const { path, remove } = temporaryDirectory()
  const undo: (() => unknown)[] = [remove]
  try {
    const log = await whenReached(() => SharedLog.open({ url, file: `${path}/log.sqlite`, vault: new Vault(testKey) }))
    undo.push(() => log.close())
    const holders = Array.from({ length: count }, () => {
      let passed = 0
      let mayWrite = true
      let fails = false
      const { leases, node, close } = openLeases(url, () => newest(log), {
        ...{ elapsed: () => performance.now() + passed, mayWrite: () => mayWrite, canWrite: () => !fails },
        ...(times && { times }),
      })
      undo.push(close)
      return {
        ...{ leases, node },
        pass: (ms: number) => void (passed += ms),
        refuse: () => void (mayWrite = false),
        fail: (now: boolean) => void (fails = now),
      }
    })
    await run(holders, url)
  } finally {
    await undoAll(undo)
  }
}

const taken = async (leases: Leases, name: string): Promise<Lease> => {
  const lease = await leases.take(name)
  if (!lease) throw new Error(`${name} was not granted`)
  return lease
}

test('one node at most has a lease, and one work of it; given back it goes to whoever asks next, with a higher number', () =>
  withHolders(2, async ([a, b]) => {
    const first = await taken(a!.leases, 'x')
    expect(first.isHeld).toBe(true)
    expect(await b!.leases.take('x')).toBeUndefined()
    expect(await a!.leases.take('x')).toBeUndefined()
    await taken(b!.leases, 'y')
    await first.release()
    const next = await taken(b!.leases, 'x')
    expect(next.epoch).toBeGreaterThan(first.epoch)
    expect(next.losses).toBe(0)
    // A second time it gives nothing back that is not its own.
    await first.release()
    expect(await a!.leases.take('x')).toBeUndefined()
  }))

test('many who ask at once: one of them gets it', () =>
  withHolders(4, async (holders) => {
    for (let i = 0; i < 20; i++) {
      const granted = await Promise.all(holders.map(({ leases }) => leases.take(`x${i}`)))
      expect(granted.filter((lease) => lease !== undefined)).toHaveLength(1)
    }
  }))

test('one that ran out is taken over, and its holder is told; it keeps it until it has ended its work', () =>
  withHolders(2, async ([a, b], url) => {
    const lost = await taken(a!.leases, 'x')
    await runOut(url, 'x', b!.node)
    const over = await taken(b!.leases, 'x')
    await until(() => lost.lost.aborted)
    expect([lost.isHeld, over.isHeld]).toEqual([false, true])
    await over.release()
    expect(await a!.leases.take('x')).toBeUndefined()
    await lost.release()
    await taken(a!.leases, 'x')
  }))

test('one whose number PostgreSQL gave to another node again, after a failover, is lost, and is not given back for that node', () =>
  withHolders(2, async ([a, b], url) => {
    const lost = await taken(a!.leases, 'x')
    await runSql(url, `UPDATE mindledger.leases SET node = '${b!.node}' WHERE name = 'x'`)
    await until(() => lost.lost.aborted)
    await lost.release()
    expect(await rowsIn(url, 'SELECT node FROM mindledger.leases')).toEqual([{ node: b!.node }])
  }))

test('one whose number PostgreSQL gave to the same node again, for another name, is lost', () =>
  withHolders(1, async ([a], url) => {
    const lost = await taken(a!.leases, 'x')
    await runSql(url, `UPDATE mindledger.leases SET name = 'y' WHERE name = 'x'`)
    await until(() => lost.lost.aborted)
  }))

test('the number of holders that lost it is kept until one gives it back', () =>
  withHolders(1, async ([a], url) => {
    await runSql(
      url,
      `INSERT INTO mindledger.leases VALUES ('x', 'gone', nextval('mindledger.lease_epochs'), 1, clock_timestamp() - interval '1 s')`,
    )
    const over = await taken(a!.leases, 'x')
    expect(over.losses).toBe(2)
    await over.release()
    expect((await taken(a!.leases, 'x')).losses).toBe(0)
  }))

test('a holder that was heard of since its lease ran out was cut off, and counts as no loss', () =>
  withHolders(1, async ([a], url) => {
    const ranOut = (name: string, holder: string) =>
      runSql(
        url,
        `INSERT INTO mindledger.nodes (id, run, version, started_at, seen_at, stopped, seq, position)
           VALUES ('${name}', '${holder}', '1', now(), clock_timestamp() - interval '20 s', false, 0, 0);
         INSERT INTO mindledger.leases
           VALUES ('${name}', '${holder}', nextval('mindledger.lease_epochs'), 1, clock_timestamp() - interval '10 s')`,
      )
    await ranOut('x', 'silent')
    await ranOut('y', 'back')
    await runSql(url, `UPDATE mindledger.nodes SET seen_at = clock_timestamp() WHERE run = 'back'`)
    expect((await taken(a!.leases, 'x')).losses).toBe(2)
    expect((await taken(a!.leases, 'y')).losses).toBe(1)
  }))

test('one that is refused writes nothing: its row is not even locked', () =>
  withHolders(1, async ([a], url) => {
    await runSql(url, `INSERT INTO mindledger.leases VALUES ('x', 'other', nextval('mindledger.lease_epochs'), 0, 'infinity')`)
    const row = () => rowsIn(url, `SELECT xmin::text, xmax::text, epoch FROM mindledger.leases WHERE name = 'x'`)
    const before = await row()
    expect(before).toHaveLength(1)
    expect(await a!.leases.take('x')).toBeUndefined()
    expect(await row()).toEqual(before)
  }))

test('a holder that could not renew it counts it as lost before another can have it', () =>
  withHolders(2, async ([a, b]) => {
    const lease = await taken(a!.leases, 'x')
    a!.pass(30_000)
    expect(lease.isHeld).toBe(false)
    expect(lease.lost.aborted).toBe(true)
    expect(await b!.leases.take('x')).toBeUndefined()
  }))

test('while PostgreSQL is away nothing is granted; what is held goes on if it comes back in time', () =>
  withHolders(1, async ([a]) => {
    const lease = await taken(a!.leases, 'x')
    await server().postgres.kill()
    expect(await a!.leases.take('y')).toBeUndefined()
    await server().postgres.revive()
    await until(async () => (await a!.leases.take('y')) !== undefined)
    expect(lease.epoch).toBeGreaterThan(0)
  }))

test('one whose answer was lost is granted to the same node again, not to another', () =>
  withHolders(2, async ([a, b], url) => {
    await runSql(url, `INSERT INTO mindledger.leases VALUES ('x', '${a!.node}', nextval('mindledger.lease_epochs'), 0, 'infinity')`)
    expect(await b!.leases.take('x')).toBeUndefined()
    expect((await taken(a!.leases, 'x')).losses).toBe(0)
  }))

test('a node that stops leaves its leases to the others at once', () =>
  withHolders(2, async ([a, b]) => {
    await taken(a!.leases, 'x')
    await a!.leases.close()
    await taken(b!.leases, 'x')
    expect(await a!.leases.take('y')).toBeUndefined()
  }))

test('a node that may not write any more loses what it holds, and takes nothing: another node has its task', () =>
  withHolders(2, async ([a, b]) => {
    const task = new SingletonTask({ leases: a!.leases, name: 'x', lookMs: 20, begin: () => () => undefined, onFailed: () => undefined })
    await task.start()
    const held = await taken(a!.leases, 'y')
    expect(task.isOurs).toBe(true)
    a!.refuse()
    await until(() => held.lost.aborted)
    await until(async () => (await b!.leases.take('x')) !== undefined)
    expect(await a!.leases.take('z')).toBeUndefined()
    await task.stop()
  }))

test('a node whose file cannot be written takes nothing, and what it holds goes to another one, until it can', () =>
  withHolders(
    2,
    async ([a, b]) => {
      const held = await taken(a!.leases, 'x')
      a!.fail(true)
      expect(await a!.leases.take('y')).toBeUndefined()
      await until(() => held.lost.aborted, 60_000)
      await until(async () => (await b!.leases.take('x')) !== undefined)
      expect(await a!.leases.take('y')).toBeUndefined()
      a!.fail(false)
      await taken(a!.leases, 'y')
    },
    { leaseMs: 600, renewIntervalMs: 20, marginMs: 100 },
  ))

test('a task is done by one node; another takes it over when it is lost or left, and never both at once', () =>
  withHolders(2, async ([a, b]) => {
    let most = 0
    const doing = new Set<string>()
    const begun: string[] = []
    const taskOf = ({ leases }: Holder, name: string) =>
      new SingletonTask({
        ...{ leases, name: 'x', lookMs: 20, onFailed: (error) => doing.add(String(error)) },
        begin: () => {
          doing.add(name)
          begun.push(name)
          most = Math.max(most, doing.size)
          return () => doing.delete(name)
        },
      })
    const [first, second] = [taskOf(a!, 'a'), taskOf(b!, 'b')]
    await first.start()
    await second.start()
    expect([...doing]).toEqual(['a'])
    expect([first.isOurs, second.isOurs]).toEqual([true, false])
    await first.stop()
    await until(() => doing.has('b'))
    const third = taskOf(a!, 'c')
    await third.start()
    // The node is silent for longer than the lease lasts. It leaves the task when it notices, and whoever looks next has it.
    b!.pass(60_000)
    await until(() => begun.length === 3)
    expect(begun.slice(0, 2)).toEqual(['a', 'b'])
    expect(most).toBe(1)
    await Promise.all([second.stop(), third.stop()])
    expect(doing.size).toBe(0)
  }))

test('a task whose beginning fails is tried again, and its lease is free meanwhile', async () => {
  const failures: unknown[] = []
  let begun = 0
  const task = new SingletonTask({
    ...{ leases: soleLeases, name: 'x', lookMs: 1, onFailed: (error) => failures.push(error) },
    begin: () => {
      if (begun++ === 0) throw new Error('not yet')
      return () => undefined
    },
  })
  await task.start()
  expect(task.isOurs).toBe(false)
  await until(() => task.isOurs)
  expect(failures).toEqual([new Error('not yet')])
  await task.stop()
})

/** A task that does nothing; the test says how its tries end. */
const triedTask = (leases: Leases, restMs: number) => {
  let begun = 0
  let onTried: OnTried = () => undefined
  const task = new SingletonTask({
    ...{ leases, name: 'x', lookMs: 20, restMs, onFailed: () => undefined },
    begin: (_, tried) => {
      begun += 1
      onTried = tried
      return () => undefined
    },
  })
  const fail = (times: number) => {
    for (let n = 0; n < times; n++) onTried(false)
  }
  return { task, begun: () => begun, fail, succeed: () => onTried(true) }
}

test('a task that fails several times in a row goes to another node; a success in between keeps it', () =>
  withHolders(2, async ([a, b]) => {
    const [first, second] = [triedTask(a!.leases, 3_600_000), triedTask(b!.leases, 3_600_000)]
    await first.task.start()
    await second.task.start()
    first.fail(limits.taskFailuresMax - 1)
    first.succeed()
    first.fail(limits.taskFailuresMax - 1)
    expect([first.task.isOurs, second.task.isOurs]).toEqual([true, false])
    first.fail(2)
    await until(() => second.task.isOurs, 60_000)
    expect([first.task.isOurs, first.begun(), second.begun()]).toEqual([false, 1, 1])
    await Promise.all([first.task.stop(), second.task.stop()])
  }))

test('a task that no other node took is begun again where it failed; a single process never leaves it', async () => {
  await withHolders(1, async ([a]) => {
    const { task, begun, fail } = triedTask(a!.leases, 20)
    await task.start()
    fail(limits.taskFailuresMax)
    await until(() => begun() === 2 && task.isOurs, 60_000)
    await task.stop()
  })
  const alone = triedTask(soleLeases, 20)
  await alone.task.start()
  alone.fail(limits.taskFailuresMax)
  expect(alone.task.isOurs).toBe(true)
  await alone.task.stop()
})

test('work that needs what a node lacks is left to the others; a single process keeps its work', () =>
  withHolders(1, async ([a]) => {
    let can = false
    const leases = leasesWhile(a!.leases, () => can)
    expect(leases.areShared).toBe(true)
    expect(await leases.take('x')).toBeUndefined()
    can = true
    await taken(leases, 'x')
    expect(await leasesWhile(soleLeases, () => false).take('x')).toMatchObject({ name: 'x', isHeld: true })
  }))
