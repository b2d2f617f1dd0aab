import { expect, test } from '@jest/globals'
import { join } from 'node:path'
import { Erasures } from '../../../../src/erasure/erasures.js'
import { Blobs } from '../../../../src/files/blobs.js'
import { SharedLogSession } from '../../../../src/log/shared/postgres/shared-log-session.js'
import { logServer } from '../../../support/log/each-log.js'
import { origin, patiently } from '../../../support/log/log.js'
import { expectSame, newest, withNodesOf, type Node } from '../../../support/log/nodes.js'
import { until, whenReached } from '../../../support/until.js'

const { server } = logServer()
const ofNodes = `FROM pg_stat_activity WHERE application_name = 'mindledger'`

/** The outcome of a request, which is sent again while its node could not hear from PostgreSQL in time, as on a busy machine. */
const outcomeOf = async (ask: () => Promise<unknown>): Promise<string> => {
  for (;;) {
    const outcome = await ask().then(
      () => 'recorded',
      (error: unknown) => (error as { code: string }).code,
    )
    if (outcome !== 'behind') return outcome
  }
}

const setServer = async (setting: string): Promise<void> => {
  await server().postgres.run(`ALTER SYSTEM ${setting}`)
  await server().postgres.run('SELECT pg_reload_conf()')
}

/** While it runs, PostgreSQL waits for a standby that is absent, and each wait is cancelled, so that the commit stands without it. */
const withoutStandby = async (nodes: readonly Node[], run: () => Promise<void>): Promise<void> => {
  await setServer(`SET synchronous_standby_names = 'absent'`)
  let isOver = false
  const cancelling = until(async () => {
    await server().postgres.run(`SELECT pg_cancel_backend(pid) ${ofNodes} AND wait_event = 'SyncRep'`)
    return isOver
  })
  try {
    // Each session takes a moment to know the setting: the one that writes, and the one that says whether there is a standby.
    for (const [i, { ledger, log }] of nodes.entries()) {
      const keyOf = (n: number) => ({ idempotency: { key: `p${i}_${n}`, request: 'r' } })
      let n = 1
      while ((await outcomeOf(() => ledger.execute(project(`p${i}_${n}`), origin, keyOf(n)))) !== 'outcome_unknown') n++
      const keyed = ledger.keyed(origin, keyOf(n))
      await until(async () => (await outcomeOf(() => newest(log).then(() => log.repeated(keyed)))) === 'outcome_unknown')
    }
    await run()
  } finally {
    isOver = true
    await cancelling
    await setServer('RESET synchronous_standby_names')
  }
}

const project = (name: string) => ({ type: 'CreateProject' as const, data: { project: name, unlessExists: true } })
const idempotency = { key: 'k', request: 'r' }
const reply = { status: 200, type: null, etag: null, body: 'made' }

test('a request that is sent again is acknowledged by no node before the standby has its first record', () =>
  withNodesOf(server(), 2, async (nodes) => {
    const keyed = nodes[0]!.ledger.keyed(origin, { idempotency })
    const send = ({ ledger }: Node) => ledger.execute(project('shop'), origin, { idempotency })
    const ways: ((node: Node) => Promise<unknown>)[] = [
      send,
      ({ log }) => log.repeated(keyed),
      ({ log }) => log.keepReply(keyed, reply, 0),
      ({ log }) => log.replyTo(keyed),
    ]
    await withoutStandby(nodes, async () => {
      expect(await outcomeOf(() => send(nodes[0]!))).toBe('outcome_unknown')
      // The batch stands, and both nodes follow it.
      await Promise.all(nodes.map(({ log }) => newest(log)))
      for (const way of ways) for (const node of nodes) expect(await outcomeOf(() => way(node))).toBe('outcome_unknown')
      expect(await nodes[0]!.log.replyTo(nodes[0]!.ledger.keyed(origin, { idempotency: { key: 'other', request: 'r' } }))).toBeUndefined()
    })
    for (const node of nodes) {
      await until(async () => (await outcomeOf(() => send(node))) === 'recorded')
      expect(await patiently(() => send(node))).toMatchObject({ repeated: true })
      expect(await patiently(() => node.log.replyTo(keyed))).toEqual(reply)
    }
    await expectSame(nodes)
  }))

test('a command that finds its work done is acknowledged by no node before the standby has that work', () =>
  withNodesOf(server(), 2, async (nodes) => {
    const skill = { type: 'CreateSkill' as const, data: { project: 'shop', skill: 's', type: 'sql', params: { password: 'a secret' } } }
    await nodes[0]!.ledger.execute(project('shop'), origin)
    await nodes[0]!.ledger.execute(skill, origin)
    await Promise.all(nodes.map(({ log }) => newest(log)))
    const erasures = nodes.map(({ ledger, log, directory }) => {
      const wipes = { wiped: async () => undefined, everywhere: async () => undefined }
      return new Erasures({ ledger, log, blobs: new Blobs(join(directory, 'blobs')), wipes, purge: async () => undefined })
    })
    const subject = { what: 'secrets' as const, of: { kind: 'skill' as const, name: 's', project: 'shop' } }
    const create = (n: number) => outcomeOf(() => nodes[n]!.ledger.execute(project('done'), origin))
    const erase = (n: number) => outcomeOf(() => erasures[n]!.erase({ subject, reason: null, shared: false, dryRun: false }, origin))
    await withoutStandby(nodes, async () => {
      for (const send of [create, erase]) {
        expect(await send(0)).toBe('outcome_unknown')
        // The batch stands, and both nodes follow it.
        await Promise.all(nodes.map(({ log }) => newest(log)))
        for (const n of nodes.keys()) expect(await send(n)).toBe('outcome_unknown')
      }
      expect(await nodes[0]!.ledger.execute(project('done'), origin, { dryRun: true })).toMatchObject({ planned: [] })
    })
    for (const send of [create, erase]) for (const n of nodes.keys()) await until(async () => (await send(n)) === 'recorded')
    await expectSame(nodes)
  }))

test.each(['off', 'local'])('a session whose server says synchronous_commit = %s waits for disk and standby', async (said) => {
  await setServer(`SET synchronous_commit = '${said}'`)
  try {
    const url = await server().newUrl()
    const settingIn = async () => {
      const session = await whenReached(() => SharedLogSession.open(url))
      const { rows } = await session.query<{ reset_val: string; setting: string }>(
        `SELECT reset_val, setting FROM pg_settings WHERE name = 'synchronous_commit'`,
      )
      await session.close()
      return rows[0]
    }
    await until(async () => (await settingIn())?.reset_val === said)
    expect((await settingIn())?.setting).toBe('on')
  } finally {
    await setServer('RESET synchronous_commit')
  }
})
