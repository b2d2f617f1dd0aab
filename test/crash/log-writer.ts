import { Ledger } from '../../src/commands/ledger.js'
import { isProblem } from '../../src/basics/errors.js'
import { SqliteLog } from '../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../src/vault/vault.js'
import { origin, testKey } from '../support/log/log.js'

/**
 * Writes commands with sixteen loops until it is killed, and says on its output, a line each, what was acknowledged:
 * `<skill> <version of its params> <position>`. Every name has the round in it, so that no two processes share one.
 */
const [file = '', round = '', loops = '16'] = process.argv.slice(2)
const vault = new Vault(testKey)
const ledger = new Ledger(new SqliteLog({ file, vault }), vault)
await ledger.execute({ type: 'CreateProject', data: { project: 'shop', unlessExists: true } }, origin)

const loop = async (name: string): Promise<void> => {
  const skill = `${round}-${name}`
  const params = (n: number) => ({ n, api_key: `key ${skill} ${n}` })
  const say = (n: number, position: number | undefined) => process.stdout.write(`${skill} ${n} ${position ?? 0}\n`)
  const created = await ledger.execute({ type: 'CreateSkill', data: { project: 'shop', skill, type: 'sql', params: params(0) } }, origin)
  say(0, created.positions[0])
  for (let n = 1; ; n++) {
    const updated = await ledger.execute({ type: 'UpdateSkill', data: { project: 'shop', skill, params: params(n) } }, origin)
    say(n, updated.positions[0])
    // Refusals between the rest: what they wrote before must never show.
    if (n % 7 === 0)
      await ledger
        .execute({ type: 'CreateSkill', data: { project: 'shop', skill, type: 'sql', params: {} } }, origin)
        .catch((error: unknown) => {
          if (!isProblem(error) || error.code !== 'already_exists') throw error
        })
  }
}

await Promise.all(Array.from({ length: Number(loops) }, (_, i) => loop(`loop${i}`)))
