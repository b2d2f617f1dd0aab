import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { streamId } from '../../events/common.js'
import type { NewEvent } from '../../src/log/contract/log.js'
import { SqliteLog } from '../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../src/vault/vault.js'
import { makeDirectory } from '../harness/processes.js'

export const origin = { actor: 'bench', source: 'system', request: 'bench', correlation: null, causation: null } as const
const perCommand = 1_000

/** Makes a data directory with a log of these events. */
const makeLogOf = async (batches: Iterable<NewEvent[]>): Promise<string> => {
  const directory = makeDirectory('log')
  const key = randomBytes(32)
  writeFileSync(join(directory, 'FORMAT'), '1\n')
  writeFileSync(join(directory, 'vault.key'), key.toString('hex'))
  const log = new SqliteLog({ file: join(directory, 'log.sqlite'), vault: new Vault(key), pragmas: ['synchronous = OFF'] })
  for (const batch of batches) await log.submit({ origin, lookups: {}, payloads: [], decide: () => batch })
  await log.close()
  return directory
}

const params = { database: 'example_db', tables: ['orders', 'items'], description: 'sales' }

/** Batches of `events` created skills. */
export function* createdSkills(events: number): Generator<NewEvent[]> {
  const project = streamId.parse(uuidv7())
  for (let done = 0; done < events; done += perCommand)
    yield Array.from({ length: perCommand }, (_, i) => ({
      stream: uuidv7(),
      event: { type: 'SkillCreated', data: { project, name: `skill_${done + i}`, type: 'sql', params } },
    }))
}

/** Makes a data directory with a log of `events` created skills. */
export const makeLog = (events: number): Promise<string> => makeLogOf(createdSkills(events))

/** Makes a data directory with a log of skills in the project mindsdb, each changed until it has `states` states. */
export const makeHistory = (skills: number, states: number): Promise<string> => {
  const project = streamId.parse(uuidv7())
  const streams = Array.from({ length: skills }, () => uuidv7())
  const eventOf = (n: number, state: number): NewEvent['event'] =>
    state === 0
      ? { type: 'SkillCreated', data: { project, name: `skill_${n}`, type: `type_${n % 5}`, params } }
      : { type: 'SkillUpdated', data: { type: `type_${(n + state) % 5}`, params: { ...params, state } } }
  return makeLogOf(
    (function* () {
      yield [{ stream: project, event: { type: 'ProjectCreated', data: { name: 'mindsdb' } } }]
      for (let state = 0; state < states; state++)
        for (let done = 0; done < skills; done += perCommand)
          yield streams.slice(done, done + perCommand).map((stream, i) => ({ stream, event: eventOf(done + i, state) }))
    })(),
  )
}
