import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { streamId } from '../events/common.js'
import { SqliteLog } from '../src/log/sqlite/sqlite-log.js'
import { Vault } from '../src/vault/vault.js'

const origin = { actor: 'bench', source: 'system', request: 'bench', correlation: null, causation: null } as const
const perCommand = 1_000

/** A data directory with a log of `events` created skills. */
export const makeLog = async (events: number): Promise<string> => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-log-'))
  const key = randomBytes(32)
  writeFileSync(join(directory, 'FORMAT'), '1\n')
  writeFileSync(join(directory, 'vault.key'), key.toString('hex'))
  const log = new SqliteLog({ file: join(directory, 'log.sqlite'), vault: new Vault(key), pragmas: ['synchronous = OFF'] })
  const project = streamId.parse(uuidv7())
  const params = { database: 'example_db', tables: ['orders', 'items'], description: 'sales' }
  for (let done = 0; done < events; done += perCommand)
    await log.submit({
      origin,
      lookups: {},
      payloads: [],
      decide: () =>
        Array.from({ length: perCommand }, (_, i) => ({
          stream: uuidv7(),
          event: { type: 'SkillCreated', data: { project, name: `skill_${done + i}`, type: 'sql', params } },
        })),
    })
  await log.close()
  return directory
}
