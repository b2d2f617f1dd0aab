import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SqliteLog } from '../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../src/vault/vault.js'
import { ask, median, send, serviceOn, whenBuilt } from '../harness/harness.js'
import { makeLog } from './long-log.js'
import { removeDirectory } from '../harness/processes.js'

const events = 1_000_000
const rounds = 41

const anyPosition = () => 1 + Math.floor(Math.random() * events)

type Side = { perRun: number; prove: (position: number) => Promise<unknown>; read: (position: number) => Promise<unknown> }

/** Runs both in turn, each at random positions, and prints the ratio of the medians. */
const compareAt = async (name: string, { perRun, ...sides }: Side): Promise<void> => {
  const took: Record<'prove' | 'read', number[]> = { prove: [], read: [] }
  for (let round = 0; round <= rounds; round++)
    for (const side of round % 2 === 0 ? (['prove', 'read'] as const) : (['read', 'prove'] as const)) {
      const from = performance.now()
      for (let n = 0; n < perRun; n++) await sides[side](anyPosition())
      // The first round warms up.
      if (round > 0) took[side].push(((performance.now() - from) / perRun) * 1_000)
    }
  const [prove, read] = [median(took.prove), median(took.read)]
  console.log(
    `proof, ${name.padEnd(10)}: ${(prove / read).toFixed(2)} times a point read   inclusion proof ${prove.toFixed(1)} µs   event ${read.toFixed(1)} µs   (${events} events)`,
  )
}

const inProcess = async (directory: string): Promise<void> => {
  const key = Buffer.from(readFileSync(join(directory, 'vault.key'), 'utf8').trim(), 'hex')
  const log = new SqliteLog({ file: join(directory, 'log.sqlite'), vault: new Vault(key) })
  try {
    await compareAt('in process', {
      perRun: 2_000,
      prove: (position) => log.inclusionProof(position, events),
      read: (position) => log.readAll(position - 1, 1),
    })
  } finally {
    await log.close()
  }
}

const overHttp = async (directory: string): Promise<void> => {
  const target = await serviceOn(directory)
  try {
    await whenBuilt(target)
    const head = Number((await ask(target, 'SELECT max(position) FROM log.events'))[0]?.[0])
    await compareAt('over HTTP', {
      perRun: 200,
      prove: (position) => send(target, 'GET', `/api/log/proofs/inclusion?position=${position}&size=${head}`),
      read: (position) => send(target, 'GET', `/api/events/${position}`),
    })
  } finally {
    await target.stop()
  }
}

/** An inclusion proof in a long log, compared with reading one event of it. */
export const proof = async (): Promise<void> => {
  const directory = await makeLog(events)
  try {
    await inProcess(directory)
    await overHttp(directory)
  } finally {
    removeDirectory(directory)
  }
}
