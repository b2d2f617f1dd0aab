import { createInterface } from 'node:readline'
import { isProblem } from '../../src/basics/errors.js'
import { Ledger } from '../../src/commands/ledger.js'
import { SharedLog } from '../../src/log/shared/shared-log.js'
import { Vault } from '../../src/vault/vault.js'
import { origin, testKey } from '../support/log/log.js'
import { whenReached } from '../support/until.js'

/**
 * A node of a shared log. It gets lines `<key> <skill> <n>`, creates the skill or changes its number, and says `<key> <position>`, or
 * `<key> <code of the refusal>`. `head` asks for its head when it has everything. A third argument says how many milliseconds its writes
 * wait for PostgreSQL.
 */
const [url = '', file = '', patienceMs] = process.argv.slice(2)
const vault = new Vault(testKey)
const patience = patienceMs !== undefined && { writePatienceMs: Number(patienceMs) }
const log = await whenReached(() => SharedLog.open({ url, file, vault, ...patience }))
const ledger = new Ledger(log, vault)
await ledger.execute({ type: 'CreateProject', data: { project: 'shop', unlessExists: true } }, origin)

const say = (line: string) => process.stdout.write(`${line}\n`)

const carryOut = async (key: string, skill: string, n: number): Promise<string> => {
  const params = { n, api_key: `key ${skill} ${n}` }
  const data = { project: 'shop', skill, params }
  const execution = { idempotency: { key, request: `${skill} ${n}` } }
  const command = n === 0 ? { type: 'CreateSkill' as const, data: { ...data, type: 'sql' } } : { type: 'UpdateSkill' as const, data }
  const { positions } = await ledger.execute(command, origin, execution)
  return String(positions[0])
}

const newest = async (): Promise<string> => {
  await log.newest()
  const { position, chain } = await log.head()
  return `${position} ${chain} ${(await log.rootAt(position)).toString('hex')}`
}

const answer = async (line: string): Promise<void> => {
  const [key = '', skill = '', n = ''] = line.split(' ')
  try {
    say(`${key} ${key === 'head' ? await newest() : await carryOut(key, skill, Number(n))}`)
  } catch (error) {
    if (!isProblem(error)) throw error
    say(`${key} ${error.code}`)
  }
}

createInterface({ input: process.stdin }).on('line', (line) => void answer(line))
say('ready')
